"""The figures of the study of discounting as a regulariser."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from pomrl.figures import (
    TEXT_WIDTH,
    Drawing,
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
"""Learners. The last one plans on the estimated model."""

LOOKS = sequence((4, 8, 16, 32), "n = {}".format)
"""How numbers of trajectories are drawn."""

MIXING = sequence((0.5, 0.1, 0.02), lambda leave: f"mixing time {1 / leave:g}")
"""How probabilities to leave a group are drawn."""


def _of_agents(sweep: str, key: str, looks: Mapping[Any, Look], agents: Sequence[str] = AGENTS) -> PanelGrid:
    """Return a figure with a panel of losses against gamma for SARSA, LSTD and planning."""
    of_agents = [
        Panel(title, of_values(sweep, key, looks, {"agent": agent}, in_task(1)), "gamma", "ci")
        for agent, title in zip(agents, ("SARSA", "LSTD", "planning"), strict=True)
    ]
    return PanelGrid([of_agents])


@figure()
def lower_gammas() -> PanelGrid:
    """The planning loss against the discount factor of learning, in random MDPs.

    For n trajectories of ten steps, on average over states. Bands are 95 % intervals of the mean.
    """
    return _of_agents("lower_gammas", "m", LOOKS)


@figure()
def grid_worlds() -> PanelGrid:
    """The planning loss against the discount factor of learning, in grid worlds.

    For n trajectories of ten steps, on average over states. Bands are 95 % intervals of the mean.
    """
    return _of_agents("grid_worlds", "m", LOOKS, ("td_5000", *AGENTS[1:]))


@figure()
def mixing() -> PanelGrid:
    """The planning loss against the discount factor of learning, in chains of two groups of states.

    For eight trajectories of ten steps; the mixing time is one over the spectral gap. Bands are 95 % intervals of the
    mean.
    """
    return _of_agents("mixing", "task_distribution.leave", MIXING)


def _at_gamma_eval(rows: pd.DataFrame) -> pd.DataFrame:
    return at_largest_gamma(in_task(1)(rows))


def _of_penalties(sweep: str, panel: str) -> list[Series]:
    return [replace(series, panel=panel) for series in of_values(sweep, "m", LOOKS, view=_at_gamma_eval)]


PENALTIES = {"SARSA": _of_penalties("penalties_of_sarsa", "a"), "LSTD": _of_penalties("penalties_of_lstd", "b")}


@figure(series=[series for of_panel in PENALTIES.values() for series in of_panel])
def penalties(sweeps: StoredSweeps, kind: Kind = "se") -> Drawing:
    """The planning loss at gamma_eval against the weight of an L2 penalty, in random MDPs.

    For n trajectories of ten steps, on average over states. Bands show one standard error.
    """
    wanted = [series for of_panel in PENALTIES.values() for series in of_panel]
    points = [series.points(band(series.rows(sweeps), ["agent.l2"], kind=kind), "agent.l2", kind) for series in wanted]
    data = collect(points, wanted)
    drawn, axes = panels.row_of_panels(2, TEXT_WIDTH, 2.6, share_y=True)
    for ax, (title, series) in zip(axes, PENALTIES.items(), strict=True):
        panels.curves(ax, data, series)
        ax.set_xscale("log")
        ax.set_xlabel("Weight of L2")
        panels.letter(ax, series[0].panel, title)
    panels.loss_axis(axes[0])
    panels.add_shared_legend(drawn, axes)
    return panels.finish(drawn, data, wanted, sweeps)
