"""Claims on one task: more samples, and more weight on the true model (Figure 2)."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from pomrl.study import (
    Part,
    Result,
    Revision,
    SweepResults,
    Verdict,
    below_zero,
    best_grows,
    claim,
    largest,
    minimum_difference,
    smaller_minimum,
)
from pomrl_studies.pomrl2023.tasks_and_gains import ABSENT, ILLUSTRATION_RUNS, NOT_COMPUTED

figure_2_claim = partial(claim, figures=("illustration",))

REVISED_ON = "2026-11-21"
"""The day on which rules were revised, after verdicts had been seen."""

SAMPLES = (5, 10, 20, 50)
WEIGHTS = (0.0, 0.25, 0.5, 0.75)


@figure_2_claim(
    "I.1",
    "illustration",
    runs=4000,
    not_under=NOT_COMPUTED,
    title="more samples raise the best γ",
    is_main=True,
    revised=Revision(
        REVISED_ON,
        "settings that share draws are compared in pairs, because their losses are correlated",
        Verdict.UNDECIDED,
    ),
)
def more_samples(sweep: SweepResults) -> list[Part]:
    """without a prior, more samples lower the smallest loss and raise gamma*.

    Figure 2: "larger values of m lead to lower planning loss and a larger effective discount factor".
    """
    return _each_step({m: sweep.at(mixing=0.0, m=m) for m in SAMPLES}, "m")


@figure_2_claim("I.2", "illustration", not_under=NOT_COMPUTED, title="a better prior raises the best γ", is_main=True)
def more_weight_on_the_truth(sweep: SweepResults) -> list[Part]:
    """with 5 samples, more weight on the true model lowers the smallest loss and raises gamma*.

    Figure 2: "the same effect (lower planning loss and larger effective discount) occurs when the learner puts more
    weight on the ground truth prior through α".
    """
    return _each_step({weight: sweep.at(mixing=weight, m=5) for weight in WEIGHTS}, "α")


def _each_step(losses: Mapping[float, Result], along: str) -> list[Part]:
    curves = {value: value_losses.average_curve for value, value_losses in losses.items()}
    steps = [
        smaller_minimum(
            curves[higher_value],
            curves[lower_value],
            f"smallest loss at {along} = {higher_value} less {along} = {lower_value}",
        )
        for lower_value, higher_value in pairwise(losses)
    ]
    stacked = np.stack(list(curves.values()), axis=1)
    label = f"rank correlation of γ* with {along}, bootstrap over runs"
    return [*steps, best_grows(next(iter(losses.values())), stacked, label)]


@figure_2_claim(
    "I.3", "illustration", runs=ILLUSTRATION_RUNS, notes=ABSENT, title="more samples raise the best γ with every prior"
)
def more_samples_beside_a_prior(sweep: SweepResults) -> list[Part]:
    """with every weight on the true model, more samples lower the smallest loss and raise gamma*.

    Figure 2: "Inspecting any of the sub figures, we observe that larger values of m lead to lower planning loss and a
    larger effective discount factor".
    """
    return _all_agree(sweep, [[(weight, m) for m in SAMPLES] for weight in WEIGHTS[1:]], "m", "α")


@figure_2_claim(
    "I.4",
    "illustration",
    runs=ILLUSTRATION_RUNS,
    notes=ABSENT,
    title="a better prior raises the best γ with more samples, too",
)
def more_weight_beside_samples(sweep: SweepResults) -> list[Part]:
    """with 10, 20 and 50 samples, more weight on the true model lowers the smallest loss and raises gamma*.

    Sec. 2, Figure 2: "increasing the weight α in (0,1) on good prior knowledge enables longer planning horizons and
    lower planning loss".
    """
    return _all_agree(sweep, [[(weight, m) for weight in WEIGHTS] for m in SAMPLES[1:]], "α", "m")


def _all_agree(sweep: SweepResults, rows: Sequence[Sequence[tuple[float, int]]], along: str, over: str) -> list[Part]:
    losses = [[sweep.at(mixing=weight, m=m) for weight, m in row] for row in rows]
    curves = np.stack([np.stack([curve.average_curve for curve in row], axis=1) for row in losses], axis=1)
    pairs = [pair for row in losses for pair in pairwise(curve.average_curve for curve in row)]
    steps = largest([minimum_difference(after, before) for before, after in pairs])
    smallest = curves.mean(0).min()
    return [
        below_zero(f"smallest loss, step of {along}, largest", steps, smallest),
        best_grows(losses[0][0], curves, f"rank correlation of γ* with {along}, smallest over {over}"),
    ]
