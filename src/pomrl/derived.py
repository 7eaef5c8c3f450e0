"""What follows from the settings of an experiment: quantities that people reason with, and no key sets."""

from collections.abc import Mapping
from typing import Any

from pomrl.experiment import Method, Problem, mixing_rates
from pomrl.task_distributions import Dirichlet

RUNS = range(10)
"""The runs over which a quantity that differs between runs is averaged."""


def derived(problem: Problem, method: Method) -> dict[str, Any]:
    """Horizon and work of an experiment, and the concentration of its Dirichlet on the first mean model."""
    quantities: dict[str, Any] = {
        "effective horizon 1/(1 - gamma_eval)": round(1.0 / (1.0 - problem.gamma_eval), 6),
        "plans per run": problem.T * method.gamma_schedule.computed().gammas_per_task,
    }
    if isinstance(problem.task_distribution, Dirichlet):
        concentration = problem.task_distribution.concentration(problem.mean(0))
        quantities["concentration of the Dirichlet, run 0"] = round(concentration, 6)
    return quantities


def mixing_rates_of_interest(problem: Problem, method: Method) -> Mapping[str, float]:
    """The mixing rate in tasks 1, 2 and T, on average over `RUNS`."""
    mean = mixing_rates(problem, method, RUNS).mean(0)
    tasks = sorted({1, min(2, problem.T), problem.T})
    return {f"alpha in task {t}": round(float(mean[t - 1]), 6) for t in tasks}
