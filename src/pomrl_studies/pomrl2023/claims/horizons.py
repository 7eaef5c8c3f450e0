"""Claims on question 2: does meta-learning enable longer horizons?

All are about ada-POMRL at sigma = 0.01 (Sec. 5.2, Figures 4b and 4c).
"""

from functools import partial

import pandas as pd

from pomrl.study import (
    ROUNDING,
    Part,
    Result,
    SweepResults,
    below_zero,
    best_grows,
    best_is_in,
    claim,
    mean,
    slope,
    smaller_best,
    smooth,
)
from pomrl_studies.pomrl2023.tasks_and_gains import FEWER_VISITS, FIRST_TASK_RUNS
from pomrl_studies.pomrl2023.theory.simulations import LEARNED_MIXING_RATES

figure_4_claim = partial(claim, figures=("planning_omrl",))


def _ada(sweep: SweepResults) -> Result:
    return sweep.at(sigma=0.01, estimator="ada_pomrl")


@figure_4_claim(
    "Q2.1", "first_task", runs=FIRST_TASK_RUNS, notes=FEWER_VISITS, title="the best γ is below 0.5 in the first task"
)
def short_horizon_at_first(sweep: SweepResults) -> list[Part]:
    """gamma* is below 0.5 in the first task.

    Sec. 5.2, Figures 4b, 4c: "when the agent has seen fewer tasks T, an intermediate value of the discount is optimal
    [...] (γ* < 0.5)".
    """
    ada = sweep.at(estimator="ada_pomrl")
    inside = ada.gammas < 0.5 - ROUNDING
    return [best_is_in(ada, ada.curve(1), inside, "task 1: smallest loss below 0.5 less that from 0.5 on")]


@figure_4_claim("Q2.2", "task_similarity", runs=4000, title="the best γ is above 0.7 in the last task")
def long_horizon_at_last(sweep: SweepResults) -> list[Part]:
    """gamma* is above 0.7 in the last task.

    Sec. 5.2, Figures 4b, 4c: "as the agent sees more tasks, the effective planning horizon (γ* > 0.7) shifts to a
    larger value".
    """
    ada = _ada(sweep)
    inside = ada.gammas > 0.7 + ROUNDING
    return [best_is_in(ada, ada.curve(15), inside, "task 15: smallest loss above 0.7 less that up to 0.7")]


@figure_4_claim("Q2.3", "task_similarity", title="the best γ grows with the number of tasks", is_main=True)
def horizon_grows(sweep: SweepResults) -> list[Part]:
    """gamma* grows with the number of tasks.

    Sec. 5.2, Figure 4c: the loss "is minimized for progressively larger values of γ, meaning for longer planning
    horizons".
    """
    ada = _ada(sweep)
    return [best_grows(ada, ada.loss, "rank correlation of γ* with the task, bootstrap over runs")]


@figure_4_claim("Q2.4", "task_similarity", title="the loss at the best γ falls with the number of tasks")
def minimum_falls(sweep: SweepResults) -> list[Part]:
    """the loss at gamma* falls with the number of tasks.

    Sec. 5.2, Figure 4c: "the per-task planning loss decreases as T grows".
    """
    ada = _ada(sweep)
    tasks = ada.loss.shape[1]
    estimate = smooth(lambda means: slope(means.min(-1)), ada.loss)
    level = ada.loss.mean(0).min(-1).mean()
    return [below_zero(f"loss at γ*, slope over tasks times {tasks - 1}", estimate, level)]


@figure_4_claim("Q2.5", title="ada-POMRL puts more and more weight on the prior", simulation=LEARNED_MIXING_RATES)
def weight_of_the_prior_grows(simulated: pd.DataFrame) -> list[Part]:
    """the mixing rate of ada-POMRL grows with the number of tasks, from task 2 on.

    Sec. 5.2: "the adaptive mixing rate α_t puts increasing amounts of weight on the shared task-knowledge". In task 1
    it is 0 by definition (Alg. 2).
    """
    alpha = simulated.pivot(index="run", columns="task", values="alpha").to_numpy()[:, 1:]
    steps = alpha.shape[1] - 1
    return [Part(f"α_t, slope over tasks times {steps}", mean(slope(alpha)), above=0.0)]


@claim(
    "Q2.6",
    "task_similarity",
    runs=4000,
    title="meta-learning makes the best γ larger",
    figures=("planning_omrl", "omrl_baselines"),
)
def longer_horizon_with_meta_learning(sweep: SweepResults) -> list[Part]:
    """gamma* is larger with meta-learning than without.

    Sec. 5.2, Figure 4c: "Optimal γ aka the effective planning horizon is larger with online meta-learning".
    """
    ada, without = _ada(sweep), sweep.at(sigma=0.01, estimator="without_meta")
    return [smaller_best(ada, without.average_curve, ada.average_curve, "γ* without meta-learning less that with")]
