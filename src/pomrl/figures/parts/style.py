"""The style of all figures: theme, sizes, and the name, colour and marker of each method, the same everywhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import seaborn as sns

TEXT_WIDTH = 6.5
"""Width of the text of a page of TMLR, in inches."""

COLUMN_WIDTH = 3.25
"""Half of `TEXT_WIDTH`, for a figure that stands beside text."""

BAND_OPACITY = 0.12
EDGE_OPACITY = 0.45

_FONT = {
    # Shipped with matplotlib: the theme's first choice differs between machines, and with it the bytes of a figure.
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "legend.title_fontsize": 7.0,
}

_LINES = {
    "axes.linewidth": 0.7,
    "grid.linewidth": 0.5,
    "grid.color": ".9",
    "lines.linewidth": 1.2,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.labelpad": 2.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
}

_FILES = {
    # Type 42 keeps text as text; publishers refuse the default, type 3.
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "figure.dpi": 100,
}

_STYLE: dict[Any, Any] = {**sns.axes_style("whitegrid"), **sns.plotting_context("paper"), **_FONT, **_LINES, **_FILES}


@dataclass(frozen=True)
class Look:
    """How a series is named and drawn."""

    label: str
    color: str
    marker: str = ""
    linestyle: str = "-"
    size: float = 4.0
    """Of a marker, in points."""


_BLUE, _ORANGE, _GREEN, _VERMILLION, _PURPLE, *_ = sns.color_palette("colorblind").as_hex()

ESTIMATORS = {
    "oracle": Look("Oracle prior knowledge", _BLUE, "s"),
    "without_meta": Look("Without meta-learning", _VERMILLION, "D"),
    "pomrl": Look("POMRL(σ)", _PURPLE, "^"),
    "ada_pomrl": Look("ada-POMRL", _GREEN, "o"),
    "aggregating": Look("Aggregating (α = 1)", _ORANGE, "v", "--"),
}
"""The methods of the paper, with its colours where it names them (green, blue, red)."""

SCHEDULES = {
    "gamma_eval": Look("Constant γₑᵥₐₗ", "black", "X", ":"),
    "best_fixed": Look("Best fixed", "#999933", "s"),
    "dynamic_best": Look("Dynamic best", "#332288", "D", "--"),
    "dong": Look("Dong et al. (Sec. 6.1)", "#44AA99", "^"),
    "upper_bound": Look("Upper bound (Sec. 6.2)", "#882255", "o"),
}
"""The gamma schedules, in colours that no estimator has."""

BOUNDS = {
    "as_printed": Look("Bound, as printed", "#a02020", "", ":"),
    "corrected": Look("Bound, corrected", "black", "", "--"),
    "sharpened": Look("Bound, sharpened", "#666666", "", "-."),
}
"""The bounds on regret, by their variant."""

MINIMUM = Look("Loss at γ*", _GREEN, "o")
HORIZON = Look("γ* (right axis)", "#444444", "s", ":")


def sequence(labels: list[str]) -> list[Look]:
    """Looks of ordered series, such as tasks, from light to dark."""
    colors = sns.color_palette("mako_r", len(labels)).as_hex()
    return [Look(label, color) for label, color in zip(labels, colors, strict=True)]


@contextmanager
def context() -> Iterator[None]:
    """The style, while it lasts: whatever the caller's settings are, a figure looks the same, and they are kept."""
    with mpl.rc_context():
        mpl.rcdefaults()
        with mpl.rc_context(_STYLE):
            yield
