"""Set the theme, sizes and looks of all figures."""

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
from pomrl.drawing.palette import MUTED

OrderedValue = TypeVar("OrderedValue", bound=Hashable)

TEXT_WIDTH = 5.5
"""The width of the text on a page of NeurIPS and ICLR, in inches; TMLR has an inch more."""

COLUMN_WIDTH = 2.75
"""Half of `TEXT_WIDTH`, in inches, for a figure of one panel."""

BAND_OPACITY = 0.12
EDGE_OPACITY = 0.45

MAX_BANDS = 4
"""The largest number of bands in a panel; of more curves, only the first, the middle and the last have a band."""

MARKERS = "ovsD^P*Xh"
"""The markers of options without a marker in `looks.yaml`."""

_STYLE: Any = mpl.rc_params_from_file(Path(__file__).with_name("paper.mplstyle"), use_default_template=False)


@dataclass(frozen=True)
class Look:
    """The label and style of a series."""

    label: str
    color: str
    marker: str = ""
    linestyle: str = "-"
    size: float = 4.0
    """The size of the marker, in points."""


def look(option: str, group: str = "estimator", stored: Mapping[str, Any] | None = None) -> Look:
    """Return the label and style of an option in `looks.yaml`, or a default.

    User-defined options have them in `stored`, or in the folder `conf` of their study. ConfigError: a key is unknown.
    """
    own = stored or find_looks(group, option, (*PUBLISHED.folders, *(folder / "conf" for folder in own_studies())))
    digest = hashlib.sha256(option.encode()).digest()
    name = option.removeprefix("__main__.").replace("_", " ")
    default = Look(name, MUTED[digest[0] % len(MUTED)], MARKERS[digest[1] % len(MARKERS)])
    try:
        return replace(default, **own) if own else default
    except TypeError as error:
        keys = ", ".join(field.name for field in fields(Look))
        raise ConfigError(
            f"{LOOKS}: the keys of {group}.{option} must be among {keys}, got {', '.join(own or ())}"
        ) from error


def sequence(values: Iterable[OrderedValue], label: Callable[[OrderedValue], str]) -> dict[OrderedValue, Look]:
    """Return looks of ordered values, in colours from light to dark."""
    distinct = list(dict.fromkeys(values))
    return {value: Look(label(value), color) for value, color in zip(distinct, shades(len(distinct)), strict=True)}


def shades(number: int) -> list[str]:
    """Return colours from light to dark."""
    return sns.color_palette("mako_r", number).as_hex()


def hues(number: int) -> list[str]:
    """Return colours; up to nine differ for any colour vision."""
    return list(MUTED[:number]) if number <= len(MUTED) else sns.husl_palette(number, l=0.5).as_hex()


@contextmanager
def context() -> Iterator[None]:
    """Apply the style; restore the caller's settings afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield
