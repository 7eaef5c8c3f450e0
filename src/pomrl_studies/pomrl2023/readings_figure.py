"""The claims under all readings of the text.

A tile for each claim and reading has the colour of the verdict, and the estimate of the decisive comparison.
"""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from pomrl.figures import Drawing, context, panels
from pomrl.study import LOOKS, Judgements, rank

TILE_WIDTH, TILE_HEIGHT = 0.42, 0.22
"""The width and height of a tile in inches, with room for a number."""


def draw(judgements: Judgements, variants: Sequence[str]) -> Drawing:
    """Draw a tile for each claim and variant."""
    matrix = _matrix(judgements, variants)
    names = rank(judgements, variants)
    verdicts = matrix.pivot(index="claim", columns="reading", values="verdict").loc[matrix["claim"].unique(), names]
    estimates = matrix.pivot(index="claim", columns="reading", values="estimate").loc[verdicts.index, names]
    rows, columns = verdicts.shape
    with context():
        figure, (ax,) = panels.row_of_panels(1, TILE_WIDTH * columns + 1.0, TILE_HEIGHT * rows + 3.0)
        _draw_tiles(ax, verdicts, estimates)
        handles = [Patch(facecolor=look.color, edgecolor="0.6", label=str(verdict)) for verdict, look in LOOKS.items()]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        return panels.finish(figure, matrix)


def in_all(judgements: Judgements, variants: Sequence[str]) -> set[str]:
    """Return the ids of claims judged under all variants."""
    return set.intersection(*({*judgements.of(name)} for name in variants))


def _matrix(judgements: Judgements, variants: Sequence[str]) -> pd.DataFrame:
    claim_ids = in_all(judgements, variants)
    rows = [
        {
            "reading": name,
            "claim": judgement.id,
            "selected_on": judgement.selected_on,
            "verdict": str(judgement.verdict),
            "reason": judgement.reason,
            "compared": judgement.decisive.compared,
            "estimate": judgement.decisive.estimate,
            "lower": judgement.decisive.lower,
            "upper": judgement.decisive.upper,
            "runs": judgement.runs,
        }
        for name in variants
        for judgement in judgements.of(name).values()
        if judgement.id in claim_ids
    ]
    return pd.DataFrame(rows)


def _draw_tiles(ax: Axes, verdicts: pd.DataFrame, numbers: pd.DataFrame) -> None:
    order = {str(verdict): index for index, verdict in enumerate(LOOKS)}
    colors = ListedColormap([look.color for look in LOOKS.values()])
    codes = verdicts.map(lambda verdict: order[str(verdict)]).to_numpy(int)
    ax.pcolormesh(codes, cmap=colors, vmin=0, vmax=len(LOOKS) - 1, edgecolor="white", linewidth=0.7)
    for i, row in enumerate(numbers.to_numpy(float)):
        for j, value in enumerate(row):
            ax.text(j + 0.5, i + 0.5, f"{value:.2f}", ha="center", va="center", fontsize=7.0)
    ax.set_xticks([j + 0.5 for j in range(len(verdicts.columns))], list(verdicts.columns), rotation=90)
    ax.set_yticks([i + 0.5 for i in range(len(verdicts))], list(verdicts.index))
    ax.invert_yaxis()
    ax.grid(visible=False)
    ax.tick_params(length=0)
