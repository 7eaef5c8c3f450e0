"""Figure 4: Planning with online meta-learning at sigma = 0.01.

The paper: "(a) Per-task planning loss of our algorithms POMRL and ada-POMRL compared to an Oracle, and Without
Meta-learning baselines. All methods use a fixed gamma = gamma_eval = 0.99. (b) ada-POMRL's planning loss decreases as
more tasks are seen. Markers denote the gamma that minimizes the planning loss in respective tasks. Error bars show
standard error. (c) ada-POMRL's empirically optimal guidance discount factor (right y axis) depicts the effective
planning horizon, i.e., one that minimizes the planning loss. [...] Planning loss (left y axis) shows the minimum
planning loss achieved by the agent in that round T. Results are averaged over 100 independent runs and error bars
represent 1-standard deviation."

In our panel (b) a curve shows the loss in task t, not the average over tasks 1 to t. In panel (c) gamma* minimises the
mean loss over runs, so there is one value for all runs; its bars show a bootstrap standard deviation, and with 95 %
intervals those of the bootstrap.
"""

import pandas as pd
from matplotlib.axes import Axes

from pomrl.figures.parts import losses, panels
from pomrl.figures.parts.drawing import Drawing, Series, collect
from pomrl.figures.parts.style import HORIZON, MINIMUM, TEXT_WIDTH, context
from pomrl.results.statistics import Kind, band, best_gamma, best_gamma_deviation, best_gamma_interval
from pomrl.results.stored_sweeps import StoredSweeps

SWEEPS = ("task_similarity",)

ADA_POMRL = {"sigma": 0.01, "estimator": "ada_pomrl"}
ALL_METHODS = losses.of_estimators("task_similarity", {"sigma": 0.01})
PER_TASK = losses.Panel("All methods, γ = γₑᵥₐₗ", ALL_METHODS, "task", "sd").lettered("a")
AGAINST_GAMMA = losses.Panel("ada-POMRL", losses.of_tasks("task_similarity", ADA_POMRL), "gamma", "se").lettered("b")
LOSS_AT_BEST = Series(MINIMUM, "task_similarity", ADA_POMRL, panel="c")
BEST = Series(HORIZON, "task_similarity", ADA_POMRL, panel="c")
SERIES = [*PER_TASK.series, *AGAINST_GAMMA.series, LOSS_AT_BEST, BEST]


def draw(sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
    """Return the figure, by default with the bands of the caption; ValueError if its sweeps hold none of its series."""
    against_x = [points for panel in (PER_TASK, AGAINST_GAMMA) for points in panel.points(sweeps, kind)]
    data = collect([*against_x, *_best_points(sweeps, kind or "sd")], SERIES)
    with context():
        figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 2.8)
        PER_TASK.draw(a, data)
        AGAINST_GAMMA.draw(b, data)
        right = _draw_best(c, data)
        panels.legend(a)
        panels.legend(b, columns=2, more=[panels.minimum_marker()])
        panels.legend(c, more=right.get_legend_handles_labels()[0])
        return panels.finish(figure, data, SERIES, sweeps)


def _best_points(sweeps: StoredSweeps, kind: Kind) -> list[pd.DataFrame]:
    """Return the points of panel (c) with bands of this kind; none if the sweeps hold nothing of it."""
    rows = BEST.rows(sweeps)
    if rows.empty:
        return []
    best = best_gamma(rows, ["task"])
    loss = band(rows.merge(best, on=["task", "gamma"]), ["task"], kind=kind)
    gamma = best["gamma"]
    if kind == "ci":
        interval = best_gamma_interval(rows, ["task"])
        bars = loss.assign(mean=gamma, lower=interval["lower"], upper=interval["upper"])
    else:
        deviation = best_gamma_deviation(rows, ["task"])["deviation"]
        bars = loss.assign(mean=gamma, lower=gamma - deviation, upper=gamma + deviation)
    return [LOSS_AT_BEST.points(loss, "task", kind), BEST.points(bars, "task", f"bootstrap {kind}")]


def _draw_best(ax: Axes, data: pd.DataFrame) -> Axes:
    """Draw the loss at gamma* into panel (c), and gamma* on a second vertical axis at its right, which is returned."""
    losses.Panel("ada-POMRL, best γ", [LOSS_AT_BEST], "task", "sd").draw(ax, data)
    ax.set_ylabel(f"{panels.LOSS} at γ*", color=MINIMUM.color)
    right, points = panels.right_axis(ax), BEST.of(data)
    style = {"color": HORIZON.color, "marker": HORIZON.marker, "markersize": HORIZON.size, "label": HORIZON.label}
    ends = [points["mean"] - points["lower"], points["upper"] - points["mean"]]
    bars = {"yerr": ends, "capsize": 1.5, "elinewidth": 0.7}
    right.errorbar(points["x"], points["mean"], linestyle=HORIZON.linestyle, **style, **bars)
    # No discount factor exceeds 1, but one and its standard deviation may, and there has to be room for a marker.
    right.set_ylim(min(0.0, points["lower"].min()), max(1.05, 1.02 * points["upper"].max()))
    right.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    right.set_ylabel("Best discount factor γ*", color=HORIZON.color)
    return right
