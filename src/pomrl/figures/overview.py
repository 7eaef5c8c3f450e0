"""Figure 1, redrawn with real draws: related tasks, the estimate of one of them, and what is gained as tasks go by.

The paper: "The agent faces a sequence of tasks P^t whose optimal parameters are close to each other. The agent builds a
transition model for each task and plans with these inaccurate models. By using data from previous tasks, the agent
meta-learns an initialization of the model, which leads to better planning in new related but unseen tasks. [...] as
knowledge accumulates, uncertainty diminishes, and the agent can plan with longer horizons."

One row of a transition model of three states is drawn; gamma is that of the schedule which follows the upper bound.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from pomrl.algorithm import ToPlan, pomrl
from pomrl.estimators import Estimator, Memory, Truth
from pomrl.figures.parts import panels, simplex
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.parts.style import ESTIMATORS, TEXT_WIDTH, Look, context
from pomrl.gamma_schedules import UpperBound
from pomrl.statistics import band

SWEEPS = ()
RUNS = 0

RUNS_DRAWN, T, M, SHOWN = 200, 15, 5, 6
"""How many sequences are drawn, of how many tasks with how many samples; which task of the first is shown in (b)."""

CONCENTRATION = 20.0
MEAN = np.array([0.5, 0.3, 0.2])
GAMMA_EVAL = 0.99

TASKS = Series("a", Look("Task models P₁ ... P₁₅", "#4477AA", "o", "", size=3.5))
MEAN_MODEL = Series("a", Look("Their mean Pₒ", "black", "*", "", size=8.0))
TASK = Series("b", Look(f"Task Pₜ, t = {SHOWN}", "#4477AA", "o", "", size=5.0))
BATCH = Series("b", Look(f"Its batch of m = {M}", ESTIMATORS["without_meta"].color, "D", "", size=4.5))
PRIOR = Series("b", Look("Prior: the batches' mean", "black", "*", "", size=7.0))
ESTIMATE = Series("b", Look("Estimate P̂ₜ", ESTIMATORS["pomrl"].color, "^", "", size=4.5))
ERROR = Series("c", Look("Error of P̂ₜ", ESTIMATORS["pomrl"].color, "^"))
BATCH_ERROR = Series("c", Look("Error of the batch", ESTIMATORS["without_meta"].color, "D"))
HORIZON = Series("c", Look("Horizon (right axis)", "#444444", "s", ":"))


@dataclass(frozen=True)
class Sequences:
    """Task sequences of the first row of a model, for n runs: models, batches, priors, and what is planned with."""

    P: Float[np.ndarray, "T n 3"]
    P_bar: Float[np.ndarray, "T n 3"]
    prior: Float[np.ndarray, "T n 3"]
    to_plan: list[ToPlan]

    @property
    def P_hat(self) -> Float[np.ndarray, "T n 3"]:
        return np.stack([task.P_hat[:, 0, 0] for task in self.to_plan])


def draw(tables: object) -> Drawing:
    """The figure, which needs no tables."""
    data = _data(_sequences())
    with context():
        figure, (a, b, c) = panels.row_of_panels(3, TEXT_WIDTH, 2.6)
        simplex.draw(a, data, [TASKS, MEAN_MODEL])
        simplex.draw(b, data, [TASK, BATCH, PRIOR, ESTIMATE])
        _connect(b, data)
        _gains(c, data)
        panels.letter(a, "a", "Related tasks, one by one")
        panels.letter(b, "b", "Batch and prior, mixed")
        panels.letter(c, "c", "What is learned adds up")
        for ax in (a, b):
            panels.legend(ax)
        panels.finish(figure)
        for left, right in ((a, b), (b, c)):
            _arrow(figure, left, right)
    return Drawing(figure, data)


def _sequences() -> Sequences:
    rng = np.random.default_rng(0)
    P = rng.dirichlet(CONCENTRATION * MEAN, (T, RUNS_DRAWN))
    P_bar = rng.multinomial(M, P) / M
    models = P_bar[:, :, None, None]
    P_o = np.broadcast_to(MEAN, (RUNS_DRAWN, 3, 1, 3))
    truth = Truth(P_o, P_o * (1.0 - P_o) / (CONCENTRATION + 1.0))
    batches = [np.repeat(batch, 3, axis=1) for batch in models]
    estimator = Estimator(mixing="paper", similarity="known")
    to_plan = list(pomrl(batches, M, truth, estimator, UpperBound(), GAMMA_EVAL))
    memory, priors = Memory.initial(RUNS_DRAWN, 3, 1), []
    for batch in batches:
        priors.append(estimator.prior_model(memory, batch, truth)[:, 0, 0])
        memory = memory.update(batch)
    return Sequences(P, P_bar, np.stack(priors), to_plan)


def _data(drawn: Sequences) -> pd.DataFrame:
    first = (SHOWN - 1, 0)
    return pd.concat(
        [
            simplex.points(TASKS, drawn.P[:, 0]),
            simplex.points(MEAN_MODEL, MEAN[None]),
            simplex.points(TASK, drawn.P[first][None]),
            simplex.points(BATCH, drawn.P_bar[first][None]),
            simplex.points(PRIOR, drawn.prior[first][None]),
            simplex.points(ESTIMATE, drawn.P_hat[first][None]),
            _per_task(ERROR, np.abs(drawn.P_hat - drawn.P).max(-1)),
            _per_task(BATCH_ERROR, np.abs(drawn.P_bar - drawn.P).max(-1)),
            _per_task(HORIZON, np.stack([1.0 / (1.0 - task.gamma[:, 0]) for task in drawn.to_plan])),
        ],
        ignore_index=True,
    )


def _per_task(series: Series, values: Float[np.ndarray, "T n"]) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([range(1, T + 1), range(RUNS_DRAWN)], names=["task", "run"])
    rows = pd.DataFrame({"value": values.ravel()}, index=index).reset_index()
    return series.points(band(rows, ["task"], "value", "se"), "task", "se")


def _connect(ax: Axes, data: pd.DataFrame) -> None:
    """The line on which the estimate lies, between batch and prior."""
    ends = pd.concat([BATCH.of(data), PRIOR.of(data)])
    ax.plot(ends["x"], ends["mean"], color="0.4", linewidth=0.7, linestyle="--", label="_mixed", zorder=1)


def _gains(ax: Axes, data: pd.DataFrame) -> None:
    panels.curves(ax, data, [ERROR, BATCH_ERROR])
    panels.task_axis(ax, BATCH_ERROR.of(data))
    panels.loss_axis(ax)
    ax.set_ylabel("Model error")
    right = panels.right_axis(ax)
    panels.curves(right, data, [HORIZON])
    right.set_ylabel("Horizon 1 / (1 - γₜ)")
    panels.legend(ax, more=right.get_legend_handles_labels()[0])


def _arrow(figure: Figure, left: Axes, right: Axes) -> None:
    """From one panel to the next, through the gap between them."""
    to_figure = figure.transFigure.inverted()
    start, end = (to_figure.transform_bbox(ax.get_tightbbox() or ax.bbox) for ax in (left, right))
    y = 0.5 * (left.get_position().y0 + left.get_position().y1)
    style = {"arrowstyle": "-|>", "color": "0.3", "linewidth": 1.2, "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0}
    figure.add_artist(FancyArrowPatch((start.x1 - 0.04, y), (end.x0 - 0.012, y), **style))
