"""Claims on question 1: does meta-learning improve planning at gamma_eval?

All are about sigma = 0.01 (Sec. 5.1, Figures 3 and 4a).
"""

from dataclasses import replace
from functools import partial

import numpy as np

from pomrl.study import (
    PAIRED,
    Part,
    Result,
    Revision,
    SweepResults,
    Verdict,
    claim,
    does_not_improve,
    less,
    on_a_par,
    smooth,
    under,
)
from pomrl_studies.pomrl2023.tasks_and_gains import FIRST_TASKS, LAST_TASKS, MANY_RUNS, ONE_SIDED_REVISION

figures_3_and_4_claim = partial(claim, figures=("planning_omrl", "pomrl_vs_adapomrl"))
figure_3_claim = partial(claim, figures=("pomrl_vs_adapomrl", "planning_omrl"))

SIGMA = 0.01

EVENTUAL_TASKS = range(46, 61)
"""The tasks of "eventually" in Q1.5: 46 to 60."""


def _losses(sweep: SweepResults, estimator: str) -> Result:
    return sweep.at(sigma=SIGMA, estimator=estimator)


@figures_3_and_4_claim(
    "Q1.1", "task_similarity", title="ada-POMRL's loss falls from the first task to the last", is_main=True
)
def loss_falls(sweep: SweepResults) -> list[Part]:
    """ada-POMRL's loss at gamma_eval is lower in task 15 than in task 1.

    Sec. 5.1, Figure 4a: "ada-POMRL (green) results in decreasing per-task planning loss as more tasks are seen".
    """
    ada = _losses(sweep, "ada_pomrl")
    return [less(ada.task(15), ada.task(1), "ada-POMRL, task 15 less task 1")]


@figures_3_and_4_claim("Q1.2", "task_similarity", title="ada-POMRL's loss varies less in the last task", runs=4000)
def spread_shrinks(sweep: SweepResults) -> list[Part]:
    """the spread of ada-POMRL's loss over runs is smaller in task 15 than in task 1.

    Sec. 5.1, Figure 4a: "and decreasing variance as the estimated model gets more stable".
    """
    ada = _losses(sweep, "ada_pomrl")
    pairs = np.stack([ada.task(15), ada.task(1)], axis=1)
    centred = pairs - pairs.mean(0)
    return [Part(f"log ratio of deviations, task 15 to task 1, {PAIRED}", smooth(_log_ratio, centred**2), below=0.0)]


def _log_ratio(variances: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):  # all losses of a task may be equal
        return 0.5 * np.log(variances[..., 0] / variances[..., 1])


@figures_3_and_4_claim(
    "Q1.3",
    "task_similarity",
    runs=MANY_RUNS,
    title="without meta-learning nothing improves",
    revised=replace(ONE_SIDED_REVISION, before=Verdict.HOLDS),
)
def no_improvement_without(sweep: SweepResults) -> list[Part]:
    """without meta-learning the loss does not improve over tasks.

    Sec. 5.1, Figure 4a: "without meta-learning (red), the agent struggles to cope [...], and its performance does not
    improve".
    """
    return [does_not_improve(_losses(sweep, "without_meta").at_eval, "without meta-learning")]


@figures_3_and_4_claim(
    "Q1.4", "task_similarity", runs=4000, title="the oracle is best, then POMRL and ada-POMRL, then no meta-learning"
)
def order_of_methods(sweep: SweepResults) -> list[Part]:
    """in the last tasks the oracle is best, POMRL and ada-POMRL are next, all better than without meta-learning.

    Sec. 5.1, Figure 4a: "without meta-learning (red), the agent struggles"; the oracle "should play the role of an
    'empirical lower bound'".
    """
    oracle, without, pomrl, ada = (
        _losses(sweep, name).tasks(LAST_TASKS) for name in ("oracle", "without_meta", "pomrl", "ada_pomrl")
    )
    return [
        less(oracle, pomrl, "oracle less POMRL, last tasks"),
        less(oracle, ada, "oracle less ada-POMRL, last tasks"),
        less(pomrl, without, "POMRL less without, last tasks"),
        less(ada, without, "ada-POMRL less without, last tasks"),
    ]


@figures_3_and_4_claim(
    "Q1.5",
    "many_tasks",
    runs={"repaired": 4000, "computed": 2000},
    notes={
        "computed": "The main reason is that ada-POMRL's first guess of the variance counts as a task for ever. With "
        "only `estimator.start_weight=0`, the gap in tasks 11 to 15 falls to 9 % [7, 12] (500 runs)."
    },
    title="ada-POMRL catches up with POMRL",
    selected_on=True,
    revised=Revision(
        "2026-11-28",
        "Convergence is judged in tasks 46 to 60, because the text says 'eventually'. The estimate in tasks 11 to 15, "
        "by which it was judged before, is reported. The view was chosen after a look at these numbers",
        {
            "printed": Verdict.DOES_NOT_HOLD,
            "repaired": Verdict.UNDECIDED,
            "computed": Verdict.DOES_NOT_HOLD,
        },
    ),
)
def gap_closes(sweep: SweepResults) -> list[Part]:
    """ada-POMRL is worse than POMRL in the first tasks, and on a par with it in tasks 46 to 60.

    Sec. 4, Figure 3: "a performance gap for the initial set of tasks [...], but improves with more tasks"; "eventually
    converges albeit with a slower rate".
    """
    pomrl, ada = (sweep.at(estimator=name) for name in ("pomrl", "ada_pomrl"))
    first = less(pomrl.tasks(FIRST_TASKS), ada.tasks(FIRST_TASKS), "POMRL less ada-POMRL, first tasks")
    end = on_a_par(ada.tasks(EVENTUAL_TASKS), pomrl.tasks(EVENTUAL_TASKS), "ada-POMRL less POMRL, tasks 46 to 60")
    by_15 = on_a_par(ada.tasks(LAST_TASKS), pomrl.tasks(LAST_TASKS), "ada-POMRL less POMRL, tasks 11 to 15")
    return [*under("gap at first", [first]), *under("eventually", [end]), Part(by_15.compared, by_15.estimate)]


@figures_3_and_4_claim("Q1.6", "task_similarity", title="ada-POMRL approaches the oracle", is_main=True)
def approaches_the_oracle(sweep: SweepResults) -> list[Part]:
    """ada-POMRL is closer to the oracle in the last tasks than in the first.

    Sec. 5.1, Figure 4a: ada-POMRL "approaches the optimal value returned by the oracle prior knowledge baseline".
    """
    oracle, ada = _losses(sweep, "oracle"), _losses(sweep, "ada_pomrl")
    first, last = (ada.tasks(which) - oracle.tasks(which) for which in (FIRST_TASKS, LAST_TASKS))
    return [less(last, first, "ada-POMRL less oracle, last tasks less first")]


@figure_3_claim("Q1.7", "task_similarity", title="POMRL's loss falls from the first task to the last")
def loss_of_pomrl_falls(sweep: SweepResults) -> list[Part]:
    """POMRL's loss at gamma_eval is lower in task 15 than in task 1.

    Sec. 4, Figure 3: "with each round t POMRL is able to plan better".
    """
    pomrl = _losses(sweep, "pomrl")
    return [less(pomrl.task(15), pomrl.task(1), "POMRL, task 15 less task 1")]
