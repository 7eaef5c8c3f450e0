"""Claims on question 3 (Sec. 5.3, Figure 5): how does performance depend on the similarity of the tasks?"""

from functools import partial

import numpy as np

from pomrl.study import (
    Part,
    Result,
    Revision,
    SweepResults,
    Verdict,
    below_zero,
    beside,
    best_is_in,
    claim,
    closes_distance,
    largest,
    less,
    mean,
    minimum_difference,
    near,
    no_better,
    no_larger_minimum,
    no_smaller_minimum,
    no_worse,
    on_a_par,
    slope,
    smooth,
    under,
)
from pomrl_studies.pomrl2023.tasks_and_gains import FIRST_TASKS, LAST_TASKS, MANY_RUNS, gain

figure_5_claim = partial(claim, figures=("dependence_on_tasksimilarity",))

REVISED_ON = "2026-11-21"
"""The day on which rules were revised, after verdicts had been seen."""

PAIRED_REVISION = Revision(
    REVISED_ON,
    "settings that share draws are compared in pairs, because their losses are correlated",
    Verdict.UNDECIDED,
)

SIGMAS = (0.01, 0.025, 0.047)
NAMES = {"pomrl": "POMRL", "ada_pomrl": "ada-POMRL"}


@figure_5_claim(
    "Q3.1",
    "task_similarity",
    runs={"printed": 16_000},
    title="meta-learning gains most where tasks are similar",
    is_main=True,
    selected_on=True,
    revised=PAIRED_REVISION,
)
def gain_shrinks(sweep: SweepResults) -> list[Part]:
    """the gain of ada-POMRL over no meta-learning is smaller at sigma = 0.047 than at 0.01.

    Sec. 5.3, Figures 5a-c: for closely related tasks "meta-learning the shared structure [...] leads to most gains".
    sigma = 0.047 "is the loosely structured case where we don't expect much meta-learning to help".
    """
    return [less(gain(sweep, sigma=0.047), gain(sweep, sigma=0.01), "gain at 0.047 less that at 0.01")]


@figure_5_claim(
    "Q3.2",
    "task_similarity",
    runs=4000,
    title="ada-POMRL does no worse in the end where tasks are loosely related",
    revised=Revision(
        REVISED_ON,
        "'no worse' has a margin of 10 %, as 'on a par' has: otherwise equality would never be decided",
        Verdict.UNDECIDED,
    ),
)
def does_not_hurt(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.047 ada-POMRL is no worse in the last task than in the first.

    Sec. 5.3, Figure 5f: "ada-POMRL does not do worse overall than the initial run T = 1".
    """
    ada = sweep.at(sigma=0.047, estimator="ada_pomrl")
    return [
        no_worse(ada.task(15), ada.task(1), "task 15 less task 1 at γ_eval"),
        no_larger_minimum(ada.curve(15), ada.curve(1), "task 15 less task 1 at γ*"),
    ]


@figure_5_claim(
    "Q3.3",
    "task_similarity",
    title="the best γ is near 0.5 where tasks are loosely related",
    revised=Revision(REVISED_ON, "the shape and the place of the minimum are judged separately", Verdict.DOES_NOT_HOLD),
)
def u_shaped(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.047 ada-POMRL's loss is U-shaped in gamma, with gamma* near 0.5.

    Sec. 5.3, Figure 5f: "All planning loss curves remain U-shaped and overall higher with an intermediate optimal
    guidance γ value (~0.5)".
    """
    ada = sweep.at(sigma=0.047, estimator="ada_pomrl")
    curve = ada.average_curve

    def above_minimum(end: int) -> Part:
        estimate = minimum_difference(curve[:, 1:-1], curve[:, [end]])
        label = f"smallest loss less that at γ = {ada.gammas[end]:g}"
        return below_zero(label, estimate, curve[:, end].mean())

    inside = best_is_in(ada, curve, near(ada, 0.5), "smallest loss near 0.5 less that elsewhere")
    return [*under("U-shaped", [above_minimum(0), above_minimum(-1)]), *under("γ* near 0.5", [inside])]


@figure_5_claim(
    "Q3.4",
    "task_similarity",
    title="POMRL and ada-POMRL are on a par with the oracle at every similarity",
    revised=Revision(
        "2026-11-26",
        "The share of the distance from no meta-learning to the oracle is judged too. Where tasks are similar the "
        "oracle loses next to nothing, so no share of its loss can be met. (Since 2026-11-21 each sigma is judged by "
        "itself, and 'not beaten' has a margin of 10 %, as 'on a par' has)",
        Verdict.DOES_NOT_HOLD,
    ),
)
def consistent_with_the_oracle(sweep: SweepResults) -> list[Part]:
    """at every sigma POMRL and ada-POMRL are on a par with the oracle in the last tasks, and do not beat it.

    Sec. 5.3, Figures 5a-c: "both POMRL and ada-POMRL remain consistent in their performance as compared to the Oracle
    [...]"; Sec. 5.1: the oracle is an "empirical lower bound".
    """
    claim_parts = []
    for sigma in SIGMAS:
        names = ("oracle", "without_meta", *NAMES)
        losses = {name: sweep.at(sigma=sigma, estimator=name).tasks(LAST_TASKS) for name in names}
        where = f"σ = {sigma}, last tasks"
        oracle, without = losses["oracle"], losses["without_meta"]
        loss_parts, distance_parts = [], [less(oracle, without, f"oracle less without, {where}")]
        for estimator, name in NAMES.items():
            loss_parts.append(on_a_par(losses[estimator], oracle, f"{name} less oracle, {where}"))
            loss_parts.append(no_worse(oracle, losses[estimator], f"oracle less {name}, {where}"))
            label = f"{name}, share closed of the distance from without to the oracle, {where}"
            distance_parts.append(closes_distance(losses[estimator], without, oracle, label))
        claim_parts += [*under(f"σ = {sigma}", loss_parts), *under(f"share closed, σ = {sigma}", distance_parts)]
    return claim_parts


@figure_5_claim(
    "Q3.5",
    "task_similarity",
    runs={"printed": 50_000},
    title="ada-POMRL's regret falls with the number of tasks and with their similarity",
    revised=PAIRED_REVISION,
)
def regret_falls(sweep: SweepResults) -> list[Part]:
    """ada-POMRL's task-averaged regret falls with the number of tasks and with their similarity.

    Abstract: "the average regret over tasks decreases as the number of tasks increases and as the tasks are more
    similar".
    """
    losses = [sweep.at(sigma=sigma, estimator="ada_pomrl") for sigma in SIGMAS]
    tasks = losses[0].at_eval.shape[1]
    running = losses[0].at_eval.cumsum(1) / np.arange(1, tasks + 1)
    label = f"σ = 0.01, running average, slope over tasks times {tasks - 1}"
    return [
        below_zero(label, mean(slope(running)), running.mean()),
        less(losses[0].regret, losses[1].regret, "regret at σ = 0.01 less that at 0.025"),
        less(losses[1].regret, losses[2].regret, "regret at σ = 0.025 less that at 0.047"),
    ]


@figure_5_claim(
    "Q3.6", "task_similarity", title="POMRL and ada-POMRL beat planning without meta-learning at every similarity"
)
def better_than_without(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.025 and 0.047 POMRL and ada-POMRL are better than without meta-learning in the last tasks.

    Sec. 5.3, Figures 5b, 5c: "all methods perform well (except without meta-learning)"; where tasks are loosely
    structured, "ada-POMRL and POMRL can still perform well in comparison to other baselines".
    """
    claim_parts = []
    for sigma in SIGMAS[1:]:
        without = sweep.at(sigma=sigma, estimator="without_meta").tasks(LAST_TASKS)
        sigma_parts = [
            less(
                sweep.at(sigma=sigma, estimator=estimator).tasks(LAST_TASKS),
                without,
                f"{name} less without, σ = {sigma}",
            )
            for estimator, name in NAMES.items()
        ]
        claim_parts += under(f"σ = {sigma}", sigma_parts)
    return claim_parts


@figure_5_claim(
    "Q3.7",
    "task_similarity",
    runs=MANY_RUNS,
    title="at an intermediate similarity meta-learning gains, and more slowly",
    revised=Revision(
        "2026-11-28",
        "Slower means a smaller fall of the loss to the last tasks; the share of the fall in the first tasks, by which "
        "it was judged before, is another view. The view was chosen after a look at these numbers",
        {
            "printed": Verdict.NO_DIFFERENCE,
            "repaired": Verdict.DOES_NOT_HOLD,
            "computed": Verdict.DOES_NOT_HOLD,
        },
    ),
)
def slower_at_an_intermediate_similarity(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.025 ada-POMRL gains over no meta-learning, and converges more slowly than at 0.01.

    Sec. 5.3, Figure 5e: "An intermediate value of task-similarity still leads to gains, albeit at a lower speed of
    convergence".
    """
    ada, without = (sweep.at(sigma=0.025, estimator=name) for name in ("ada_pomrl", "without_meta"))
    similar = sweep.at(sigma=0.01, estimator="ada_pomrl")
    stages = [*_stages(ada), *_stages(similar)]
    fall, similar_fall = (losses.task(1) - losses.tasks(LAST_TASKS) for losses in (ada, similar))
    share = smooth(lambda m: _speed(m[..., :3]) - _speed(m[..., 3:]), np.stack(stages, axis=1))
    share_label = "share of the fall in the first tasks, σ = 0.025 less 0.01"
    return [
        *under("gains", [less(ada.regret, without.regret, "ada-POMRL less without, σ = 0.025")]),
        *under("slower", [less(fall, similar_fall, "fall from task 1 to the last tasks, σ = 0.025 less 0.01")]),
        *beside("slower, by the share of the fall in the first tasks", [Part(share_label, share, below=0.0)]),
    ]


def _stages(losses: Result) -> list[np.ndarray]:
    return [losses.task(1), losses.tasks(FIRST_TASKS), losses.tasks(LAST_TASKS)]


def _speed(stages: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):  # in few runs nothing may fall
        return (stages[..., 0] - stages[..., 1]) / (stages[..., 0] - stages[..., 2])


@figure_5_claim(
    "Q3.8",
    "task_similarity",
    runs={**MANY_RUNS, "repaired": 32_000},
    title="where tasks are loosely related, every curve is higher and U-shaped",
)
def higher_and_u_shaped(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.047 ada-POMRL's loss is higher, on average over gamma, and U-shaped in every task.

    Sec. 5.3, Figure 5f: quoted at Q3.3.
    """
    losses = {sigma: sweep.at(sigma=sigma, estimator="ada_pomrl") for sigma in SIGMAS}
    levels = {sigma: sigma_losses.average_curve.mean(1) for sigma, sigma_losses in losses.items()}
    curves = losses[0.047].loss
    above_ends = largest(
        [minimum_difference(curve[:, 1:-1], curve[:, [end]]) for curve in np.moveaxis(curves, 1, 0) for end in (0, -1)]
    )
    label = "smallest loss less that at either end, in the task where it is largest"
    return [
        *under("higher", [less(levels[s], levels[0.047], f"σ = {s} less 0.047, mean over γ") for s in SIGMAS[:2]]),
        *under("U-shaped in every task", [below_zero(label, above_ends, curves.mean())]),
    ]


@figure_5_claim(
    "Q3.9",
    "task_similarity",
    runs={"repaired": 32_000, "computed": 8000},
    title="where tasks are loosely related, meta-learning gains little",
    revised=Revision(
        "2026-11-28",
        "Both gains are judged at the best gamma, because the figure shows losses against gamma; at 0.99 they are "
        "another view. The gain over tasks is that of tasks 11 to 15 instead of 15. (Since 2026-11-22 both views of "
        "the gain over no meta-learning counted, before that only 0.99.) "
        "The view was chosen after a look at these numbers",
        Verdict.DOES_NOT_HOLD,
    ),
)
def minimal_gains(sweep: SweepResults) -> list[Part]:
    """at sigma = 0.047 and the best gamma ada-POMRL gains less than 10 %, over no meta-learning and over tasks.

    Sec. 5.3, Figure 5f: "little structure across tasks resulting in minimal gains from meta-learning here"; "there is
    not a significant improvement".
    """
    ada, without = (sweep.at(sigma=0.047, estimator=name) for name in ("ada_pomrl", "without_meta"))
    at_best = no_smaller_minimum(ada.average_curve, without.average_curve, "ada-POMRL less without, each at its best γ")
    last = ada.loss[:, LAST_TASKS.start - 1 : LAST_TASKS.stop - 1].mean(1)
    over_tasks = no_smaller_minimum(last, ada.curve(1), "ada-POMRL at its best γ, last tasks less task 1")
    at_eval = no_better(ada.regret, without.regret, "ada-POMRL less without")
    over_tasks_at_eval = no_better(ada.tasks(LAST_TASKS), ada.task(1), "ada-POMRL, last tasks less task 1")
    return [
        *under("over no meta-learning", [at_best]),
        *under("over tasks", [over_tasks]),
        *beside("over no meta-learning, at γ = 0.99", [at_eval]),
        *beside("over tasks, at γ = 0.99", [over_tasks_at_eval]),
    ]
