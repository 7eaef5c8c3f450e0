"""What a figure is: what it reads, how it is drawn, and its docstring, whose first paragraph is the title.

A figure of a study, in `figures.py` or `figures/`, is either a function with `@figure`, or a module with an object
`FIGURE`, such as a `PanelGrid`. The name of the latter is that of its module, less the number as in
`figure_5_similarity`, or its `NAME`. A title may begin with the number in a paper: "Figure 5: How much ...".
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.study import Study
from pomrl.drawing.series import Drawing, Series
from pomrl.drawing.style import MAX_BANDS, context
from pomrl.results.sweep_results import StoredSweeps
from pomrl.store.derived import Simulation

INTERVALS = "_intervals"
"""The end of the name of the version of a figure with intervals of the mean."""

SHADED_BANDS = "Of more than four curves of a panel, only the first, the middle and the last have a band."

_NUMBER = re.compile(r"figure_[a-z]?\d+_")
"""The number of a figure in the name of a module."""

Draw = Callable[..., Any]
"""A function of the stored sweeps, and of the kind of bands if the figure has series, that returns a `Drawing`; or one
without arguments that returns panels, such as a `PanelGrid`, which have `series` and such a function `draw`."""


@dataclass(frozen=True)
class Figure:
    """A figure of a study."""

    name: str
    """The name of its files."""
    docstring: str
    """Title and caption."""
    draw: Draw
    """Function of the stored sweeps and simulations by name, and of the kind of bands if there are series."""
    module: str
    """The dotted name of the module that defines it."""
    series: Sequence[Series] = ()
    """The series of runs that it shows; if there are none, it gets whole sweeps, and has no version with intervals."""
    whole: Sequence[str] = ()
    """The names of the sweeps that it shows if these are not those of its series."""
    simulations: Sequence[Simulation] = ()
    """The simulations that it shows."""

    @property
    def sweeps(self) -> list[str]:
        """The names of the sweeps that it shows."""
        return list(dict.fromkeys(self.whole or (one.sweep for one in self.series if one.sweep)))

    @property
    def versions(self) -> list[str]:
        """The names of the figure and of its version with intervals, if it has one."""
        return [self.name, *([self.name + INTERVALS] if self.series else [])]

    def versions_of(self, word: str) -> list[str]:
        """Return the versions that a word names: both by name or number in a paper, or one alone."""
        if word and word in (self.name, number_of(self.docstring)):
            return self.versions
        return [version for version in self.versions if word in (version, file_name(version, self.docstring))]

    def draw_version(self, sweeps: StoredSweeps, *, with_intervals: bool) -> Drawing:
        """Draw a version of the figure.

        Raises:
            ValueError: Its sweeps hold none of its series, or its function returns no drawing.
        """
        drawing = self.draw(sweeps, "ci") if with_intervals else self.draw(sweeps)
        if not isinstance(drawing, Drawing):
            raise ValueError(f"a figure returns a Drawing or panels, and this one {type(drawing).__name__}")
        return drawing


def figure(
    *sweeps: str, series: Sequence[Series] = (), simulations: Sequence[Simulation] = ()
) -> Callable[[Draw], Figure]:
    """Make a figure of the function that draws it, or that returns its panels.

    Args:
        sweeps: The sweeps that the figure shows; by default those of its series.
        series: The series that a drawing function shows. It gets their experiments alone, and is called with the kind
            "ci" for a version with intervals.
        simulations: The simulations that it shows.

    Raises:
        TypeError: The decorator stands without parentheses.
    """
    if sweeps and callable(sweeps[0]):
        raise TypeError(
            f"{getattr(sweeps[0], '__name__', sweeps[0])}: @figure needs parentheses, as in @figure('SWEEP')"
        )

    def make(function: Draw) -> Figure:
        name, module = function.__name__, function.__module__
        docstring = inspect.cleandoc(function.__doc__ or "")
        if inspect.signature(function).parameters:
            said = _with_bands(docstring, series)
            return Figure(name, said, context()(function), module, series, sweeps, simulations)
        panels = function()
        return Figure(name, _with_bands(docstring, panels.series), panels.draw, module, panels.series)

    return make


def _with_bands(docstring: str, series: Sequence[Series]) -> str:
    """Add to the caption which bands are drawn, where it says what bands show, or else to its first paragraph."""
    curves = Counter(panel for panel, _ in {one.key for one in series})
    if not docstring or max(curves.values(), default=0) <= MAX_BANDS:
        return docstring
    title, *paragraphs = docstring.split("\n\n")
    of_bands = [place for place, text in enumerate(paragraphs) if "Bands show" in " ".join(text.split())]
    place = of_bands[0] if of_bands else 0
    paragraphs[place : place + 1] = [" ".join([*paragraphs[place : place + 1], SHADED_BANDS])]
    return "\n\n".join([title, *paragraphs])


def figures_of(study: Study) -> list[Figure]:
    """Return the figures of a study, those with a number first, then by name.

    Raises:
        ConfigError: A module cannot be imported, a figure has no docstring, or two have the same name.
    """
    found: dict[str, Figure] = {}
    for module in study.modules("figures"):
        for figure in _find_figures(module):
            if not figure.docstring:
                raise ConfigError(f"{study.word}: figure {figure.name} has no docstring with its title and caption")
            if figure.name in found:
                raise ConfigError(f"{study.word}: two figures are named {figure.name}, in {module.__name__} and before")
            study.refuse_unknown(figure.sweeps, f"figure {figure.name}")
            found[figure.name] = figure
    return sorted(found.values(), key=_place)


def _find_figures(module: ModuleType) -> Iterator[Figure]:
    """Yield the figures that a module defines."""
    panels = vars(module).get("FIGURE")
    if panels is not None:
        name = vars(module).get("NAME", _NUMBER.sub("", module.__name__.rpartition(".")[2]))
        docstring = inspect.cleandoc(module.__doc__ or "")
        yield Figure(name, _with_bands(docstring, panels.series), panels.draw, module.__name__, panels.series)
    defined = {id(var): var for var in vars(module).values() if isinstance(var, Figure)}
    yield from (figure for figure in defined.values() if figure.module == module.__name__)


def number_of(docstring: str) -> str:
    """Return the number that a figure has in a paper, such as 5 or F2; empty if it has none."""
    head, colon, _ = docstring.partition(":")
    word, _, number = head.partition(" ")
    return number.partition(",")[0] if word == "Figure" and colon else ""


def title_of(docstring: str) -> str:
    """Return the title of a figure, without its number; what stands between number and title is behind the title."""
    first = " ".join(docstring.partition("\n\n")[0].split()).rstrip(".")
    if not number_of(docstring):
        return first
    head, _, title = first.partition(": ")
    return "".join([title, *head.partition(",")[1:]])


def file_name(version: str, docstring: str) -> str:
    """Return the name of the files of a version: its own, behind the number of the figure if it has one."""
    number = number_of(docstring).lower()
    return f"figure_{number}_{version}" if number else version


def caption_of(docstring: str) -> str:
    """Return the caption of a figure; the title if there is none."""
    return docstring.partition("\n\n")[2] or title_of(docstring)


def _place(of: Figure) -> tuple[bool, bool, str, bool, str]:
    number = number_of(of.docstring)
    return (not number, not number.isdigit(), number.zfill(3), "," in of.docstring.partition(":")[0], of.name)
