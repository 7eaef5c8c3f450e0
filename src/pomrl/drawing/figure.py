"""Define the figures of a study.

A figure in `figures.py` or `figures/` is a function with `@figure`, or a module with an object `FIGURE`, such as a
`PanelGrid`. The figure of a module is called `NAME`, by default the module's name without a number: `gamma_schedules`
in `figure_6_gamma_schedules`. A title may begin with the number in a paper: "Figure 5: How much ...".
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
"""The suffix of a figure's version with intervals of the mean."""

SHADED_BANDS = "Of more than four curves of a panel, only the first, the middle and the last have a band."

_NUMBER = re.compile(r"figure_[a-z]?\d+_")
"""The number of a figure in the name of a module."""

_LABEL = re.compile(r"^fig(ure)?[\W_]*", re.IGNORECASE)
"""The word before the number of a figure, as in figure_5."""

Draw = Callable[..., Any]
"""A function that returns a `Drawing`.

Its arguments are the stored sweeps and, for a figure with series, the kind of bands. A function without arguments
returns panels instead: an object with `series` and a method `draw`.
"""


@dataclass(frozen=True)
class Figure:
    """A figure of a study."""

    name: str
    docstring: str
    """Title and caption."""
    draw: Draw
    """The function that draws the figure from stored sweeps and simulations by name, and the kind of bands."""
    module: str
    """The dotted name of the module that defines it."""
    series: Sequence[Series] = ()
    """The series of the figure. Without series, it gets whole sweeps and has no version with intervals."""
    whole: Sequence[str] = ()
    """The names of its sweeps, if they differ from the sweeps of the series."""
    simulations: Sequence[Simulation] = ()
    variant: str = ""
    """The variant that the figure always shows; empty for the selected one."""

    @property
    def sweeps(self) -> list[str]:
        return list(dict.fromkeys(self.whole or (series.sweep for series in self.series if series.sweep)))

    @property
    def versions(self) -> list[str]:
        """The names of the versions, without and with intervals."""
        return [self.name, *([self.name + INTERVALS] if self.series else [])]

    def match_versions(self, name: str) -> list[str]:
        """Return the versions with this name or number, such as `5`, `figure5` or `F3`."""
        number = number_of(self.docstring)
        if name == self.name or (number and _LABEL.sub("", name).upper() == number.upper()):
            return self.versions
        return [version for version in self.versions if name in (version, file_name(version, self.docstring))]

    def draw_version(self, sweeps: StoredSweeps, *, with_intervals: bool) -> Drawing:
        """Draw a version; ValueError without stored rows or a returned `Drawing`."""
        drawing = self.draw(sweeps, "ci") if with_intervals else self.draw(sweeps)
        if not isinstance(drawing, Drawing):
            kind = type(drawing).__name__
            raise ValueError(
                f"a figure with arguments must return a Drawing, got {kind}; for panels, omit the arguments"
            )
        return drawing


def figure(
    *sweeps: str, series: Sequence[Series] = (), simulations: Sequence[Simulation] = ()
) -> Callable[[Draw], Figure]:
    """Decorate a function (see `Draw`) as a figure of a study.

    By default its sweeps are the sweeps of `series`. A drawing function with series receives only their experiments,
    and the kind "ci" for the version with intervals.

    Raises:
        TypeError: The decorator has no parentheses.
    """
    if sweeps and callable(sweeps[0]):
        raise TypeError(
            f"{getattr(sweeps[0], '__name__', sweeps[0])}: @figure needs parentheses, as in @figure('SWEEP')"
        )

    def make(function: Draw) -> Figure:
        name, module, docstring = function.__name__, function.__module__, inspect.cleandoc(function.__doc__ or "")
        if inspect.signature(function).parameters:
            caption = _add_bands(docstring, series)
            return Figure(name, caption, context()(function), module, series, sweeps, simulations)
        return _figure_of_panels(name, docstring, function(), module)

    return make


def _figure_of_panels(name: str, docstring: str, panels: Any, module: str) -> Figure:
    if not (hasattr(panels, "series") and hasattr(panels, "draw")):
        kind = type(panels).__name__
        raise TypeError(f"{name}: a figure without arguments must be panels, such as a PanelGrid, got {kind}")
    caption, variant = _add_bands(docstring, panels.series), getattr(panels, "variant", "")
    return Figure(name, caption, panels.draw, module, panels.series, variant=variant)


def _add_bands(docstring: str, series: Sequence[Series]) -> str:
    curves = Counter(panel for panel, _ in {curve.key for curve in series})
    if not docstring or max(curves.values(), default=0) <= MAX_BANDS:
        return docstring
    title, *paragraphs = docstring.split("\n\n")
    index = next((i for i, text in enumerate(paragraphs) if "Bands show" in " ".join(text.split())), 0)
    paragraphs[index : index + 1] = [" ".join([*paragraphs[index : index + 1], SHADED_BANDS])]
    return "\n\n".join([title, *paragraphs])


def figures_of(study: Study) -> list[Figure]:
    """Return the figures of a study, sorted by number and name.

    Raises:
        ConfigError: A module cannot be imported, a figure has no docstring or an unknown sweep, or two share a name.
    """
    if "figures" in vars(study):
        return vars(study)["figures"]
    figures: dict[str, Figure] = {}
    for module in study.modules("figures"):
        for figure in _find_figures(module):
            if not figure.docstring:
                raise ConfigError(
                    f"{study.argument}: figure {figure.name} must have a docstring with its title and caption"
                )
            if figure.name in figures:
                module_name = module.__name__
                raise ConfigError(
                    f"{study.argument}: two figures are named {figure.name}; rename the one in {module_name}"
                )
            study.check_sweeps(figure.sweeps, f"figure {figure.name}")
            figures[figure.name] = figure
    vars(study)["figures"] = sorted(figures.values(), key=_sort_key)
    return vars(study)["figures"]


def _find_figures(module: ModuleType) -> Iterator[Figure]:
    if (panels := vars(module).get("FIGURE")) is not None:
        name = vars(module).get("NAME", _NUMBER.sub("", module.__name__.rpartition(".")[2]))
        yield _figure_of_panels(name, inspect.cleandoc(module.__doc__ or ""), panels, module.__name__)
    figures = {id(value): value for value in vars(module).values() if isinstance(value, Figure)}
    yield from (figure for figure in figures.values() if figure.module == module.__name__)


def number_of(docstring: str) -> str:
    """Return the figure's number in a paper, such as 5; empty without one."""
    head, colon, _ = docstring.partition(":")
    label, _, number = head.partition(" ")
    return number.partition(",")[0] if label == "Figure" and colon else ""


def title_of(docstring: str) -> str:
    """Return the title of a docstring, without the figure's number."""
    first = " ".join(docstring.partition("\n\n")[0].split()).rstrip(".")
    if not number_of(docstring):
        return first
    head, _, title = first.partition(": ")
    return "".join([title, *head.partition(",")[1:]])


def file_name(version: str, docstring: str) -> str:
    """Return the file name of a version, with the figure's number but no suffix."""
    number = number_of(docstring).lower()
    return f"figure_{number}_{version}" if number else version


def caption_of(docstring: str) -> str:
    """Return the caption, by default the title."""
    return docstring.partition("\n\n")[2] or title_of(docstring)


def _sort_key(figure: Figure) -> tuple[bool, bool, str, bool, str]:
    number = number_of(figure.docstring)
    return (not number, not number.isdigit(), number.zfill(3), "," in figure.docstring.partition(":")[0], figure.name)
