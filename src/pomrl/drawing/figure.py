"""Define the figures of a study.

A figure is a function with `@figure` in `figures.py` or a module of `figures/`. It gets the table of its points, and
returns a figure of matplotlib. Its docstring is title and caption. A title may begin with the number in a paper:
"Figure 5: How much ...".
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import ModuleType

import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.studies import Study
from pomrl.drawing.loss_panels import PanelGrid
from pomrl.drawing.panels import finish
from pomrl.drawing.series import Drawing, Series
from pomrl.drawing.style import MAX_BANDS, context
from pomrl.results.intervals import Kind
from pomrl.results.sweep_results import StoredSweeps
from pomrl.store.derived import Simulation

INTERVALS = "_intervals"
"""The suffix of a figure's version with intervals of the mean."""

SHADED_BANDS = "Of more than four curves of a panel, only the first, the middle and the last have a band."

_LABEL = re.compile(r"^fig(ure)?[\W_]*", re.IGNORECASE)
"""The word before the number of a figure, as in figure_5."""

Points = Callable[..., pd.DataFrame]
"""A function that returns the points of a figure, with the columns `series.COLUMNS`.

Its arguments are the stored sweeps and, for a figure with intervals, the kind of bands.
"""

Draw = Callable[[pd.DataFrame], MatplotlibFigure]
"""A function that draws the points of a figure."""


@dataclass(frozen=True)
class Figure:
    """A figure of a study."""

    name: str
    docstring: str
    """Title and caption."""
    points: Points
    """The function that makes the points from stored sweeps and simulations by name, and the kind of bands."""
    function: Draw
    """The decorated function."""
    module: str
    """The dotted name of the module that defines it."""
    series: Sequence[Series] = ()
    """The series of the figure; a note names those without points."""
    whole: Sequence[str] = ()
    """The sweeps read as a whole, in a figure without intervals; by default only the experiments of the series."""
    simulations: Sequence[Simulation] = ()
    variant: str = ""
    """The variant that the figure always shows; empty for the selected one."""

    @property
    def sweeps(self) -> list[str]:
        return list(dict.fromkeys(self.whole or (series.sweep for series in self.series if series.sweep)))

    @property
    def selected_series(self) -> Sequence[Series]:
        """The series with experiments of their own; none in a figure of whole sweeps."""
        return () if self.whole else self.series

    @property
    def versions(self) -> list[str]:
        """The names of the versions, without and with intervals."""
        return [self.name, *([self.name + INTERVALS] if self.selected_series else [])]

    def match_versions(self, name: str) -> list[str]:
        """Return the versions with this name or number, such as 5, figure5 or F3."""
        number = figure_number(self.docstring)
        if name == self.name or (number and _LABEL.sub("", name).upper() == number.upper()):
            return self.versions
        return [version for version in self.versions if name in (version, file_name(version, self.docstring))]

    def draw(self, sweeps: StoredSweeps, kind: Kind | None = None) -> Drawing:
        """Draw the figure, by default with the bands of its caption.

        Raises:
            ValueError: No stored rows are of its series, or the decorated function returned no figure.
        """
        data = self.points(sweeps, kind) if kind else self.points(sweeps)
        with context():
            output = self.function(data)
            if not isinstance(output, MatplotlibFigure):
                raise ValueError(f"a figure must return a Figure of matplotlib, got {type(output).__name__}")
            return finish(output, data, self.series, sweeps)


def figure(
    *sweeps: str,
    panels: PanelGrid | None = None,
    points: Points | None = None,
    series: Sequence[Series] = (),
    simulations: Sequence[Simulation] = (),
) -> Callable[[Draw], Figure]:
    """Decorate a function of points as a figure of a study.

    Its points are those of `panels`, or returned by the function `points`. A figure of `series` shows only their
    experiments, and has a version with intervals (the kind "ci"). A figure of named `sweeps` reads all of each.

    Raises:
        TypeError: The decorator has no parentheses, or neither `panels` nor `points`.
    """
    if sweeps and callable(sweeps[0]):
        name = getattr(sweeps[0], "__name__", sweeps[0])
        raise TypeError(f"{name}: @figure needs parentheses, as in @figure(panels=GRID)")
    if isinstance(panels, PanelGrid):
        points, series = panels.points, panels.series
    if not callable(points):
        raise TypeError(
            "@figure needs panels=GRID, a PanelGrid that the function draws by GRID.draw(data), or points=FUNCTION, a "
            "function of stored sweeps"
        )

    def make(function: Draw) -> Figure:
        docstring = _add_bands(inspect.cleandoc(function.__doc__ or ""), () if sweeps else series)
        name, module, variant = function.__name__, function.__module__, getattr(panels, "variant", "")
        return Figure(name, docstring, points, function, module, series, sweeps, simulations, variant)

    return make


def _add_bands(docstring: str, series: Sequence[Series]) -> str:
    curves = Counter(panel for panel, _ in {curve.key for curve in series})
    if not docstring or max(curves.values(), default=0) <= MAX_BANDS:
        return docstring
    title, *paragraphs = docstring.split("\n\n")
    index = next((i for i, text in enumerate(paragraphs) if "Bands show" in " ".join(text.split())), 0)
    paragraphs[index : index + 1] = [" ".join([*paragraphs[index : index + 1], SHADED_BANDS])]
    return "\n\n".join([title, *paragraphs])


@cache
def figures_of(study: Study) -> Sequence[Figure]:
    """Return the figures of a study, sorted by number and name.

    Raises:
        ConfigError: A module cannot be imported, a figure has no docstring or an unknown sweep, or two share a name.
    """
    figures: dict[str, Figure] = {}
    for figure in chain.from_iterable(map(_defined_figures, study.modules("figures"))):
        if not figure.docstring:
            raise ConfigError(
                f"{study.argument}: figure {figure.name} must have a docstring with its title and caption"
            )
        if figure.name in figures:
            raise ConfigError(
                f"{study.argument}: two figures are named {figure.name}; rename the one in {figure.module}"
            )
        study.check_sweeps(figure.sweeps, f"figure {figure.name}")
        figures[figure.name] = figure
    return sorted(figures.values(), key=_sort_key)


def _defined_figures(module: ModuleType) -> list[Figure]:
    if "FIGURE" in vars(module):  # as in version 2.0.0
        name = module.__name__
        raise ConfigError(f"{name}: FIGURE is not read; write @figure(panels=GRID) above a function of the figure")
    figures = {id(value): value for value in vars(module).values() if isinstance(value, Figure)}
    return [figure for figure in figures.values() if figure.module == module.__name__]


def figure_number(docstring: str) -> str:
    """Return the figure's number in a paper, such as 5; empty without one."""
    head, colon, _ = docstring.partition(":")
    label, _, number = head.partition(" ")
    return number.partition(",")[0] if label == "Figure" and colon else ""


def figure_title(docstring: str) -> str:
    """Return the title of a docstring, without the figure's number."""
    first = " ".join(docstring.partition("\n\n")[0].split()).rstrip(".")
    if not figure_number(docstring):
        return first
    head, _, title = first.partition(": ")
    return "".join([title, *head.partition(",")[1:]])


def file_name(version: str, docstring: str) -> str:
    """Return the file name of a version, with the figure's number but no suffix."""
    number = figure_number(docstring).lower()
    return f"figure_{number}_{version}" if number else version


def figure_caption(docstring: str) -> str:
    """Return the caption, by default the title."""
    return docstring.partition("\n\n")[2] or figure_title(docstring)


def _sort_key(figure: Figure) -> tuple[bool, bool, str, bool, str]:
    number = figure_number(figure.docstring)
    return (not number, not number.isdigit(), number.zfill(3), "," in figure.docstring.partition(":")[0], figure.name)
