"""Figures on discounting as a prior."""

import numpy as np
import pandas as pd

from pomrl.figures import (
    COLUMN_WIDTH,
    Figure,
    Look,
    Panel,
    PanelGrid,
    Series,
    StoredSweeps,
    at_largest_gamma,
    figure,
    in_task,
    look,
    palette,
    panels,
    sequence,
)
from pomrl_papers.rathnam2023.claims import GAMMA_EVAL, M, implied_transitions
from pomrl_papers.rathnam2023.priors import least_error_weight

GAMMAS = (0.0, 0.5, 0.99)
"""Horizontal positions for a method without a discount factor."""


def _at_gammas(rows: pd.DataFrame) -> pd.DataFrame:
    selected = at_largest_gamma(in_task(1)(rows))
    return selected.assign(gamma=GAMMA_EVAL * (1.0 - selected["estimator.weight"].astype(float)))


def _at_all_gammas(rows: pd.DataFrame) -> pd.DataFrame:
    selected = at_largest_gamma(in_task(1)(rows))
    return pd.concat([selected.assign(gamma=gamma) for gamma in GAMMAS], ignore_index=True)


def _panel(title: str, data: str) -> Panel:
    series = [
        Series(Look("discounting", palette.VERMILION, "D"), "discounting", {"data": data}, in_task(1)),
        Series(look("same_transitions"), "same_transitions", {"data": data}, _at_gammas),
        Series(
            look("least_error"), "own_weights", {"data": data, "estimator.concentration": "posterior"}, _at_all_gammas
        ),
    ]
    return Panel(title, series, "gamma", "se")


GRID = PanelGrid([[_panel("equal data", "generative"), _panel("uneven data", "unequal")]])


@figure(panels=GRID)
def discounting_or_prior(data: pd.DataFrame) -> Figure:
    """The planning loss of discounting and of two priors, with equal data in all pairs and with uneven data.

    The horizontal axis is the discount factor. A prior with the same number of transitions in all pairs is placed at
    its equivalent for eight transitions. The line is a prior with a weight for each pair; its circle marks gamma_eval,
    at which all priors are planned. Uneven data have one or fifteen transitions. In random MDPs, averaged over states.
    """
    return GRID.draw(data)


DISCOUNTS = sequence((0.9, 0.7, 0.5), "γ = {:g}".format)
ROWS = {
    C: Look(f"least error, C = {C:g}", palette.GREEN, marker) for C, marker in {0.2: "o", 0.4: "s", 0.8: "^"}.items()
}


NUMBERS = [Series(look) for look in (*DISCOUNTS.values(), *ROWS.values())]


def _implied_numbers(_: StoredSweeps) -> pd.DataFrame:
    n = np.arange(1, 2 * M)
    weights = [1.0 - gamma / GAMMA_EVAL for gamma in DISCOUNTS]
    weights += [least_error_weight(np.array(C), n, 10) for C in ROWS]
    numbers = [pd.DataFrame({"n": n, "y": implied_transitions(n, weight)}) for weight in weights]
    tables = [series.values(table, "n", "y", "transitions") for series, table in zip(NUMBERS, numbers, strict=True)]
    return pd.concat(tables, ignore_index=True)


@figure(points=_implied_numbers)
def implied_prior(data: pd.DataFrame) -> Figure:
    """How many transitions a prior counts as in a pair with n transitions.

    A planning discount factor, where gamma_eval = 0.99, is a prior whose strength grows with the data. The prior of
    least squared error depends on the sum C of the pair's squared probabilities, and not on n. Ten states.
    """
    canvas, (ax,) = panels.row_of_panels(1, COLUMN_WIDTH, 2.8)
    panels.curves(ax, data, NUMBERS)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks([1, 2, 5, 10, 15], ["1", "2", "5", "10", "15"])
    ax.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    ax.minorticks_off()
    ax.set_xlabel("Transitions n of a pair")
    ax.set_ylabel("Transitions of the prior")
    panels.add_shared_legend(canvas, [ax])
    return canvas
