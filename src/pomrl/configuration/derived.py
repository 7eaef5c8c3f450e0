"""Quantities that follow from the settings of an experiment, and that people reason with; no key sets them."""

from collections.abc import Sequence
from math import inf
from typing import Any

from pomrl.science.experiment import mixing_rates
from pomrl.science.problem import Method, Problem
from pomrl.science.solvers.finite_horizon import duration
from pomrl.science.tasks.random_chains import Dirichlet

RUNS = range(10)
"""The runs over which a quantity that differs between runs is averaged."""


def derived(problem: Problem, method: Method) -> dict[str, Any]:
    """Return the effective horizon and the work of an experiment, and the concentration of its Dirichlet distribution.

    The concentration is that of run 0; it differs between runs where each of them has its own mean model.
    """
    gamma, H = problem.gamma_eval, problem.horizon
    horizon = duration(gamma, H) if H else 1.0 / (1.0 - gamma) if gamma < 1.0 else inf
    quantities: dict[str, Any] = {
        "effective horizon 1/(1 - gamma_eval)": round(horizon, 6),
        "plans per run": problem.T * problem.trials * method.gamma_schedule.computed().gammas_per_task,
    }
    if isinstance(problem.task_distribution, Dirichlet):
        concentration = problem.task_distribution.concentration(problem.mean(0))
        quantities["concentration of the Dirichlet, run 0"] = round(concentration, 6)
    return quantities


def mean_mixing_rates(problem: Problem, method: Method) -> list[float]:
    """Return the mixing rate alpha in each of the T tasks, averaged over `RUNS`; computed without planning."""
    return mixing_rates(problem, method, RUNS).mean(0).tolist()


def mixing_rates_of_interest(rates: Sequence[float]) -> dict[str, float]:
    """Return the mixing rates in tasks 1, 2 and T, by a name for people, from those in tasks 1, ..., T."""
    T = len(rates)
    return {f"alpha in task {t}": round(rates[t - 1], 6) for t in sorted({1, min(2, T), T})}
