"""Figures on discounting as a regulariser."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from pomrl.figures import (
    TEXT_WIDTH,
    Figure,
    Kind,
    Look,
    Panel,
    PanelGrid,
    Series,
    StoredSweeps,
    at_largest_gamma,
    band,
    collect,
    figure,
    in_task,
    of_values,
    panels,
    sequence,
)

AGENTS = ("td", "lstd", "certainty_equivalence")
"""Learners; the last one plans on the estimated model."""

LOOKS = sequence((4, 8, 16, 32), "n = {}".format)
"""Plot styles by number of trajectories."""

MIXING_LOOKS = sequence((0.5, 0.1, 0.02), lambda leave: f"mixing time {1 / leave:g}")
"""Plot styles by probability of leaving a group."""


def _agents_grid(sweep: str, key: str, looks: Mapping[Any, Look], agents: Sequence[str] = AGENTS) -> PanelGrid:
    agent_panels = [
        Panel(title, of_values(sweep, key, looks, {"agent": agent}, in_task(1)), "gamma", "ci")
        for agent, title in zip(agents, ("SARSA", "LSTD", "planning"), strict=True)
    ]
    return PanelGrid([agent_panels])


LOWER_GAMMAS = _agents_grid("lower_gammas", "m", LOOKS)


@figure(panels=LOWER_GAMMAS)
def lower_gammas(data: pd.DataFrame) -> Figure:
    """The planning loss against the discount factor of learning, in random MDPs.

    For n trajectories of ten steps, averaged over states.
    """
    return LOWER_GAMMAS.draw(data)


GRID_WORLDS = _agents_grid("grid_worlds", "m", LOOKS, ("td_5000", *AGENTS[1:]))


@figure(panels=GRID_WORLDS)
def grid_worlds(data: pd.DataFrame) -> Figure:
    """The planning loss against the discount factor of learning, in grid worlds.

    For n trajectories of ten steps, averaged over states.
    """
    return GRID_WORLDS.draw(data)


MIXING = _agents_grid("mixing", "task_distribution.leave", MIXING_LOOKS)


@figure(panels=MIXING)
def mixing(data: pd.DataFrame) -> Figure:
    """The planning loss against the discount factor of learning, in chains of two groups of states.

    For eight trajectories of ten steps; the mixing time is one over the spectral gap.
    """
    return MIXING.draw(data)


def _at_gamma_eval(rows: pd.DataFrame) -> pd.DataFrame:
    return at_largest_gamma(in_task(1)(rows))


def _penalty_series(sweep: str, panel: str) -> list[Series]:
    return [replace(series, panel=panel) for series in of_values(sweep, "m", LOOKS, view=_at_gamma_eval)]


PENALTIES = {"SARSA": _penalty_series("penalties_of_sarsa", "a"), "LSTD": _penalty_series("penalties_of_lstd", "b")}


SERIES = [series for panel_series in PENALTIES.values() for series in panel_series]


def _points(sweeps: StoredSweeps, kind: Kind = "se") -> pd.DataFrame:
    tables = [series.points(band(series.rows(sweeps), ["agent.l2"], kind=kind), "agent.l2", kind) for series in SERIES]
    return collect(tables, SERIES)


@figure(points=_points, series=SERIES)
def penalties(data: pd.DataFrame) -> Figure:
    """The planning loss at gamma_eval against the weight of an L2 penalty, in random MDPs.

    For n trajectories of ten steps, averaged over states.
    """
    canvas, axes = panels.row_of_panels(2, TEXT_WIDTH, 2.6, share_y=True)
    for ax, (title, series) in zip(axes, PENALTIES.items(), strict=True):
        panels.curves(ax, data, series)
        ax.set_xscale("log")
        ax.set_xlabel("Weight of L2")
        panels.letter(ax, series[0].panel, title)
    panels.loss_axis(axes[0])
    panels.add_shared_legend(canvas, axes)
    return canvas
