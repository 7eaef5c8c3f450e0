"""Render the page of the board."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any

from pomrl.figures import palette
from pomrl_report.rendering import render
from pomrl_studies.board.cells import VERSION, Cell, all_cells, common_cells
from pomrl_studies.board.scores import ADA, NONE, THRESHOLDS, CellScore, Score, profiles, rank, scored_cells
from pomrl_studies.board.tiers import describe_developed, describe_one_family

TEMPLATES = Path(__file__).parent
"""The folder of the template."""

COLORS = (
    palette.DEEP_BLUE,
    palette.VERMILION,
    palette.EMERALD,
    palette.ORCHID,
    palette.AMBER,
    palette.SKY_BLUE,
    palette.BRONZE,
    palette.VIOLET,
)
"""The colours of profiles; more profiles reuse them with dashes."""

DRAWN = (NONE, ADA)
"""The profiles drawn at first, besides the best learner and the user's learners."""


def html(scores: Sequence[Score]) -> str:
    """Render the page of scores; these must be sorted, best first."""
    learners = [score for score in scores if score.learner.base is None]
    return render(
        "board.html.j2",
        folder=TEMPLATES,
        version=f"board v{VERSION}",
        one_family=_one_family(learners).replace("`", ""),
        developed=describe_developed(score.learner for score in learners),
        cells=scored_cells(scores, all_cells()),
        learners=learners,
        horizons=[score for score in scores if score.learner.base],
        best={score.learner.name: count_of_gamma_eval(score) for score in learners},
        cell_text=cell_text,
        cell_title=cell_title,
        curves={"series": ()},
        profiles=_profiles(learners),
    )


def _one_family(learners: Sequence[Score]) -> str:
    shipped = {score.learner.name: score for score in learners if not score.learner.is_own}
    losses = {name: score.losses for name, score in shipped.items()}
    ranks = rank([score.learner for score in shipped.values()], losses, {}, common_cells())
    return describe_one_family(ranks, {name: score.learner for name, score in shipped.items()})


def count_of_gamma_eval(score: Score) -> str:
    """Count the common cells with gamma_eval as the best discount factor."""
    gammas = [score.cells[cell.name].gamma for cell in common_cells() if cell.name in score.cells]
    return f"{sum(gamma == 0.99 for gamma in gammas)} of {len(gammas)}"


def cell_text(score: CellScore) -> str:
    """Format a loss in per cent, with half of its interval.

    A sign marks a significant difference (`CellScore.versus_ada`).
    """
    half = (score.percent.upper - score.percent.lower) / 2.0
    ends = "" if isnan(half) else f" ± {half:.2g}" if half < 10 else f" ± {half:.0f}"
    return f"{score.percent.estimate:.0f}{ends}{ {-1: ' ▼', 0: '', 1: ' ▲'}[score.versus_ada] }"


def cell_title(cell: Cell, score: CellScore) -> str:
    """Return the tooltip of a cell."""
    loss = f"{cell.name}: {score.percent.text(1)} %"
    return loss if isnan(score.gamma) else f"{loss}; least at γ = {score.gamma:g}: {score.percent_at_gamma:.1f} %"


def _profiles(learners: Sequence[Score]) -> dict[str, Any]:
    best = next((score.learner.name for score in learners if score.rank), NONE)
    by_name = {score.learner.name: score.losses for score in learners}
    shares = profiles(by_name, by_name[NONE])
    series = [
        {
            "label": score.learner.label,
            "color": COLORS[i % len(COLORS)],
            "dashes": "6 4" if i >= len(COLORS) else "",
            "drawn": score.learner.is_own or score.learner.name in (*DRAWN, best),
            "share": shares[score.learner.name].round(3).tolist(),
        }
        for i, score in enumerate(learners)
    ]
    return {"thresholds": THRESHOLDS.tolist(), "series": series}
