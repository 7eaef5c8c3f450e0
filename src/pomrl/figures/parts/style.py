"""The style of all figures: theme, sizes, and one name, colour and marker for each method."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import matplotlib as mpl
import seaborn as sns

Value = TypeVar("Value", bound=Hashable)

TEXT_WIDTH = 6.5
"""The width of the text on a page of TMLR, in inches."""

COLUMN_WIDTH = 3.25
"""Half of `TEXT_WIDTH`, in inches, for a figure of one panel."""

BAND_OPACITY = 0.12
EDGE_OPACITY = 0.45

_STYLE: dict[Any, Any] = {
    **sns.axes_style("whitegrid"),
    **sns.plotting_context("paper"),
    **mpl.rc_params_from_file(Path(__file__).with_name("paper.mplstyle"), use_default_template=False),
}


@dataclass(frozen=True)
class Look:
    """The name of a series in legends, and how it is drawn."""

    label: str
    color: str
    marker: str = ""
    linestyle: str = "-"
    size: float = 4.0
    """The size of the marker, in points."""


_BLUE, _ORANGE, _GREEN, _VERMILLION, _PURPLE, *_ = sns.color_palette("colorblind").as_hex()

_NINE = ["#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#DDCC77", "#44AA99", "#AA4499", "#999933"]
"""The palette "muted" of Paul Tol (personal.sron.nl/~pault)."""

ESTIMATORS = {
    "oracle": Look("Oracle prior knowledge", _BLUE, "s"),
    "without_meta": Look("Without meta-learning", _VERMILLION, "D"),
    "pomrl": Look("POMRL(σ)", _PURPLE, "^"),
    "ada_pomrl": Look("ada-POMRL", _GREEN, "o"),
    "aggregating": Look("Aggregating (α = 1)", _ORANGE, "v", "--"),
}
"""The estimators of the paper, by their options, in the colours that the paper names (green, blue, red)."""

BEYOND = {
    "empirical_bayes": Look("Empirical Bayes", "#661100", "P"),
    "hierarchical_bayes": Look("Bayes, law of mean models known", "#117733", "*", "-."),
    "bayes": Look("Bayes, prior known", "black", "X", ":"),
    "exact_posterior": Look("Exact posterior", "black", "X", ":"),
    "ada_pomrl_forgetting": Look("ada-POMRL, forgetting", "#33bbee", "o", "--"),
    "empirical_bayes_forgetting": Look("Empirical Bayes, forgetting", "#cc6677", "P", "--"),
    "mixture": Look("Mixture", "black", "X"),
}
"""The estimators beyond the paper's, by their options."""

UNEQUAL = {
    ("m", "tasks"): Look("mean number", _VERMILLION, "D"),
    ("visits", "tasks"): Look("own number", _GREEN, "o"),
    ("visits", "transitions"): Look("own number, transitions weigh equally", _BLUE, "s"),
}
"""What the number of transitions of a pair is in the mixing rate, and what weighs equally in averages over tasks."""

REWARD_MODELS = {
    "known": Look("known", "black", "X", ":"),
    "own": Look("own samples", _VERMILLION, "D"),
    "pooled": Look("all tasks", _ORANGE, "v"),
    "shrunk": Look("posterior mean", _BLUE, "s"),
}
"""How rewards are estimated."""

SCHEDULES = {
    "gamma_eval": Look("Constant γₑᵥₐₗ", "black", "X", ":"),
    "best_fixed": Look("Best fixed", "#999933", "s"),
    "dynamic_best": Look("Dynamic best", "#332288", "D", "--"),
    "dong": Look("Dong et al. (Sec. 6.1)", "#44AA99", "^"),
    "upper_bound": Look("Upper bound (Sec. 6.2)", "#882255", "o"),
}
"""The gamma schedules, by their options, in colours that no estimator has."""

BOUNDS = {
    "as_printed": Look("Bound, as printed", "#a02020", "", ":"),
    "corrected": Look("Bound, corrected", "black", "", "--"),
    "sharpened": Look("Bound, sharpened", "#666666", "", "-."),
}
"""The bounds on the average regret, by their variants."""

MINIMUM = Look("Loss at γ*", _GREEN, "o")
HORIZON = Look("γ* (right axis)", "#444444", "s", ":")


def sequence(values: Iterable[Value], label: Callable[[Value], str]) -> dict[Value, Look]:
    """Return a look for each of these ordered values, such as tasks, from light to dark."""
    labels = {value: label(value) for value in values}
    colors = sns.color_palette("mako_r", len(labels)).as_hex()
    return {value: Look(labels[value], color) for value, color in zip(labels, colors, strict=True)}


def hues(number: int) -> list[str]:
    """Return as many colours for things without an order; up to nine can be told apart with any colour vision."""
    return _NINE[:number] if number <= len(_NINE) else sns.husl_palette(number, l=0.5).as_hex()


@contextmanager
def context() -> Iterator[None]:
    """Put the style in force; the caller's own settings of matplotlib do not affect it, and are restored afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield
