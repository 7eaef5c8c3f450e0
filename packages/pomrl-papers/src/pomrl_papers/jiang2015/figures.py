"""Figures on guidance discount factors."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures import (
    COLUMN_WIDTH,
    TEXT_WIDTH,
    Figure,
    Kind,
    Look,
    Panel,
    PanelGrid,
    Series,
    StoredSweeps,
    View,
    at_largest_gamma,
    band,
    best_fixed,
    collect,
    figure,
    in_task,
    of_values,
    palette,
    panels,
    sequence,
)
from pomrl_papers.jiang2015.claims import GAMMAS, TRANSITIONS, bound_curve, sets_of_policies

LOOKS = sequence((5, 10, 20, 50, 200), "n = {}".format)
"""Plot styles by number of trajectories."""


def _curves(title: str, sweep: str, label: str) -> Panel:
    return Panel(title, of_values(sweep, "m", LOOKS, view=in_task(1)), "gamma", "ci", label=label)


GUIDANCE = PanelGrid([[_curves("", "guidance", "Planning loss")]])


@figure(panels=GUIDANCE)
def guidance_gamma(data: pd.DataFrame) -> Figure:
    """The planning loss against the guidance discount factor, for n trajectories.

    In random MDPs, averaged over states.
    """
    return GUIDANCE.draw(data)


TRAINING_AND_TEST = PanelGrid(
    [[_curves("estimated model", "guidance_training", "Loss"), _curves("true model", "guidance", "Loss")]],
    share_y=False,
)


@figure(panels=TRAINING_AND_TEST)
def training_and_test(data: pd.DataFrame) -> Figure:
    """The loss in the estimated model and in the true one, against the guidance discount factor.

    For n trajectories, averaged over states.
    """
    return TRAINING_AND_TEST.draw(data)


def _by_number(view: View) -> View:

    def viewed(rows: pd.DataFrame) -> pd.DataFrame:
        only = in_task(1)(rows)
        return pd.concat([view(group) for _, group in only.groupby("m")]) if len(only) else only

    return viewed


POLICIES = of_values("guidance_policies", "m", LOOKS, view=in_task(1))

CHOICES = [
    Series(Look("γₑᵥₐₗ", palette.VERMILION, "D"), "guidance", {}, _by_number(at_largest_gamma)),
    Series(Look("cross-validation", palette.BLUE, "s"), "guidance_cross_validation", {}, _by_number(at_largest_gamma)),
    Series(Look("best γ in hindsight", "black", "X", ":"), "guidance", {}, _by_number(best_fixed)),
]
"""Ways to select a guidance discount factor."""


def _points(series: Sequence[Series], x: str, sweeps: StoredSweeps, kind: Kind = "se") -> pd.DataFrame:
    return collect([curve.points(band(curve.rows(sweeps), [x], kind=kind), x, kind) for curve in series], series)


@figure(points=partial(_points, POLICIES, "gamma"), series=POLICIES)
def guidance_policies(data: pd.DataFrame) -> Figure:
    """The number of different policies planned with the guidance discount factors up to each value.

    In one estimated model, for n trajectories. There are 1,024 policies.
    """
    canvas, ax = _one_panel(data, POLICIES)
    panels.gamma_axis(ax)
    panels.loss_axis(ax, "Different policies")
    return canvas


@figure(points=partial(_points, CHOICES, "m"), series=CHOICES)
def guidance_choices(data: pd.DataFrame) -> Figure:
    """The planning loss against the number of trajectories, for three choices of the guidance discount factor.

    In random MDPs, averaged over states; both axes are logarithmic.
    """
    canvas, ax = _one_panel(data, CHOICES)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(list(LOOKS), [str(n) for n in LOOKS])
    ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])
    ax.minorticks_off()
    ax.set_xlabel("Trajectories n")
    ax.set_ylabel("Planning loss")
    return canvas


COUNTS = {
    name: Series(Look(f"policies, {name}", palette.BLUE, linestyle=style), panel="a")
    for name, style in {"mean": "-", "smallest": ":", "largest": "--"}.items()
}
BOUNDS = {n: Series(look, panel="b") for n, look in sequence(TRANSITIONS, "bound, n = {:,}".format).items()}


def _counts_and_bounds(_: StoredSweeps) -> pd.DataFrame:
    counts = sets_of_policies().sum(-1)
    values = {"mean": counts.mean(0), "smallest": counts.min(0), "largest": counts.max(0)}
    tables = [_against_gamma(count, values[name], "count") for name, count in COUNTS.items()]
    tables += [_against_gamma(bound, bound_curve(n), "bound") for n, bound in BOUNDS.items()]
    return pd.concat(tables, ignore_index=True)


def _against_gamma(series: Series, y: np.ndarray, quantity: str) -> pd.DataFrame:
    return series.values(pd.DataFrame({"gamma": GAMMAS, "y": y}), "gamma", "y", quantity)


@figure(points=_counts_and_bounds)
def policies_and_bound(data: pd.DataFrame) -> Figure:
    """The policies that are optimal in some model, and the bound on the loss that counts them.

    (a) The number of these policies, of 1,024, at each guidance discount factor, over twenty draws of rewards. (b) The
    bound of Theorem 2 with their mean number, for n transitions from each pair; it fails with probability at most 5 %.
    """
    canvas, (a, b) = panels.row_of_panels(2, TEXT_WIDTH, 2.8)
    for ax, series, label in ((a, list(COUNTS.values()), "Policies"), (b, list(BOUNDS.values()), "Bound on the loss")):
        panels.curves(ax, data, series)
        panels.gamma_axis(ax)
        panels.letter(ax, series[0].panel, "")
        ax.set_ylabel(label)
    a.set_yscale("log")
    a.set_ylim(0.8, 1500)
    b.set_ylim(0.0, 150.0)
    b.axhline(100.0, color="0.4", linewidth=0.8, linestyle=":", label="no loss exceeds this")
    panels.add_shared_legend(canvas, [a, b])
    return canvas


def _one_panel(data: pd.DataFrame, series: Sequence[Series]) -> tuple[Figure, Axes]:
    canvas, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
    panels.curves(ax, data, series)
    panels.add_shared_legend(canvas, [ax])
    return canvas, ax
