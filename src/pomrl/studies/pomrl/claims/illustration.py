"""Claims on the illustration of one task: more samples, and more weight on the true model (Figure 2)."""

from itertools import pairwise

import numpy as np

from pomrl.study import Part, Revision, SweepLosses, Verdict, best_grows, claim, smaller_minimum

REVISED_ON = "2026-11-21"
"""The day on which rules were revised, after verdicts had been seen."""

SAMPLES = (5, 10, 20, 50)
WEIGHTS = (0.0, 0.25, 0.5, 0.75)


@claim(
    "I.1",
    "illustration",
    revised=Revision(
        REVISED_ON,
        "settings that share draws are compared in pairs, because their losses are correlated",
        Verdict.UNDECIDED,
    ),
    title="more samples raise the best γ",
    figures=("illustration",),
    is_main=True,
)
def more_samples(sweep: SweepLosses) -> list[Part]:
    """without a prior, more samples lower the smallest loss and raise gamma*.

    Figure 2: "larger values of m lead to lower planning loss and a larger effective discount factor". The loss at each
    step of m; gamma*, which lies on a grid, by its rank correlation with m.
    """
    losses = {m: sweep.at(mixing=0.0, m=m) for m in SAMPLES}
    curves = {m: of_m.average_curve for m, of_m in losses.items()}
    steps = [
        smaller_minimum(curves[more], curves[fewer], f"smallest loss at m = {more} less m = {fewer}")
        for fewer, more in pairwise(SAMPLES)
    ]
    stacked = np.stack(list(curves.values()), axis=1)
    return [*steps, best_grows(losses[5], stacked, "rank correlation of γ* with m, bootstrap over runs")]


@claim("I.2", "illustration", title="a better prior raises the best γ", figures=("illustration",), is_main=True)
def more_weight_on_the_truth(sweep: SweepLosses) -> list[Part]:
    """with 5 samples, more weight on the true model lowers the smallest loss and raises gamma*.

    Figure 2: "inspecting one value of m across tasks (e.g., m = 5), we see that the same effect (lower planning loss
    and larger effective discount) occurs when the learner puts more weight on the ground truth prior through α".
    """
    losses = {weight: sweep.at(mixing=weight, m=5) for weight in WEIGHTS}
    curves = {weight: of_weight.average_curve for weight, of_weight in losses.items()}
    steps = [
        smaller_minimum(curves[more], curves[less], f"smallest loss at α = {more} less α = {less}")
        for less, more in pairwise(WEIGHTS)
    ]
    stacked = np.stack(list(curves.values()), axis=1)
    return [*steps, best_grows(losses[0.0], stacked, "rank correlation of γ* with α, bootstrap over runs")]
