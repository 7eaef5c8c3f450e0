"""The style of all figures: theme, sizes, and one look for each option of a group."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import matplotlib as mpl
import seaborn as sns

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import LOOKS, PUBLISHED, find_looks, own_studies

OrderedValue = TypeVar("OrderedValue", bound=Hashable)

TEXT_WIDTH = 5.5
"""The width of the text on a page of NeurIPS and ICLR, in inches; that of TMLR is an inch more."""

COLUMN_WIDTH = 2.75
"""Half of `TEXT_WIDTH`, in inches, for a figure of one panel."""

BAND_OPACITY = 0.12
EDGE_OPACITY = 0.45

_STYLE: Any = mpl.rc_params_from_file(Path(__file__).with_name("paper.mplstyle"), use_default_template=False)


@dataclass(frozen=True)
class Look:
    """The name of a series in legends, and how it is drawn."""

    label: str
    color: str
    marker: str = ""
    linestyle: str = "-"
    size: float = 4.0
    """The size of the marker, in points."""


_NINE_COLORS = ["#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#DDCC77", "#44AA99", "#AA4499", "#999933"]
"""The palette "muted" of Paul Tol (personal.sron.nl/~pault)."""


MARKERS = "ovsD^P*Xh"
"""Markers of options whose file names none."""


MAX_BANDS = 4
"""The number of curves of a panel above which only the first, the middle and the last one have a band."""


def look(option: str, group: str = "estimator", stored: Mapping[str, Any] | None = None) -> Look:
    """Return how an option is drawn everywhere: as `looks.yaml` says, or else by its name.

    The look of an option of one's own is stored with experiments, or in the folder `conf` of its study.
    """
    said = stored or find_looks(group, option, (*PUBLISHED.folders, *(folder / "conf" for folder in own_studies())))
    digest = hashlib.sha256(option.encode()).digest()
    name = option.removeprefix("__main__.").replace("_", " ")
    default = Look(name, _NINE_COLORS[digest[0] % len(_NINE_COLORS)], MARKERS[digest[1] % len(MARKERS)])
    try:
        return replace(default, **said) if said else default
    except TypeError as error:
        keys = ", ".join(field.name for field in fields(Look))
        raise ConfigError(f"{LOOKS}: the keys of {group}.{option} are {keys}") from error


def sequence(values: Iterable[OrderedValue], label: Callable[[OrderedValue], str]) -> dict[OrderedValue, Look]:
    """Return a look for each of these ordered values, such as tasks, from light to dark."""
    distinct = list(dict.fromkeys(values))
    return {value: Look(label(value), color) for value, color in zip(distinct, shades(len(distinct)), strict=True)}


def shades(number: int) -> list[str]:
    """Return as many colours for things with an order, from light to dark."""
    return sns.color_palette("mako_r", number).as_hex()


def hues(number: int) -> list[str]:
    """Return as many colours for things without an order; up to nine can be told apart with any colour vision."""
    return _NINE_COLORS[:number] if number <= len(_NINE_COLORS) else sns.husl_palette(number, l=0.5).as_hex()


@contextmanager
def context() -> Iterator[None]:
    """Put the style in force; the caller's own settings of matplotlib do not affect it, and are restored afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield
