"""Figures, each a module that draws the stored tables of some sweeps, and whose docstring is its caption.

`paper` has the figures of the paper, `authors` has some of them as the authors computed them, `supplementary` has what
the paper leaves open, `beyond` has what goes beyond it, `theory` has its bounds, and `parts` has what they are made of.
A figure of runs is drawn twice: as its caption says, and with 95 % intervals of the mean (`INTERVALS`). `readings`
draws the claims under all readings of the paper, from the matrix that `src.claims` computes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from pomrl.configuration.importing import module_of_ones_own
from pomrl.figures import authors
from pomrl.figures.beyond import (
    families,
    horizon_or_prior,
    known_law,
    long_streams,
    online_collection,
    streams,
    unequal_data,
    unknown_rewards,
    wrong_priors,
)
from pomrl.figures.paper import (
    arub_dependence_on_mt,
    dependence_on_tasksimilarity,
    dependence_on_tasksimilarity_ablation,
    dirichlet_task_dist,
    gamma_schedules,
    illustration,
    omrl_baselines,
    overview,
    planning_omrl,
    pomrl_vs_adapomrl,
    varying_smt,
)
from pomrl.figures.parts.drawing import Drawing, Series
from pomrl.figures.supplementary import (
    average_over_tasks,
    fixed_mean_model,
    gamma_schedules_adapomrl,
    gaussian_tasks,
    initial_similarity,
    varying_pairs,
)
from pomrl.figures.theory import average_regret, mixing_rates, squared_error, upper_bound, vacuous_bounds
from pomrl.results.statistics import Kind
from pomrl.results.stored_sweeps import StoredSweeps


@runtime_checkable
class Figure(Protocol):
    """The module of a figure; its docstring is the caption, and says what the paper says of the figure.

    A figure that shows simulations names them in the optional attribute `SIMULATIONS` (see `simulations_of`). A figure
    that names its series in the optional attribute `SERIES` gets the experiments that these show; any other gets its
    whole sweeps.
    """

    @property
    def SWEEPS(self) -> Sequence[str]:
        """The names of the sweeps that the figure shows."""
        ...

    def draw(self, sweeps: StoredSweeps, /) -> Drawing:
        """Draw the figure from what is stored of its sweeps and simulations.

        A series without stored runs is left out, and a note above the figure names it.

        Raises:
            ValueError: If the sweeps hold none of the series, or lack a column that the figure needs.
        """
        ...


class FigureOfRuns(Figure, Protocol):
    """The module of a figure whose bands over runs can be chosen."""

    @property
    def SERIES(self) -> Sequence[Series]:
        """The series of runs that the figure shows."""
        ...

    def draw(self, sweeps: StoredSweeps, /, kind: Kind | None = None) -> Drawing:
        """Draw the figure as `Figure.draw` does, with bands of this kind, and by default with those of its caption."""
        ...


@dataclass(frozen=True)
class WithIntervals:
    """A figure with 95 % confidence intervals of the mean over runs in the place of the bands of its caption."""

    figure: FigureOfRuns

    @property
    def SWEEPS(self) -> Sequence[str]:
        """The names of the sweeps that the figure shows."""
        return self.figure.SWEEPS

    @property
    def SERIES(self) -> Sequence[Series]:
        """The series of runs that the figure shows."""
        return self.figure.SERIES

    def draw(self, sweeps: StoredSweeps, /) -> Drawing:
        """Draw the figure with intervals; ValueError if its sweeps hold none of its series."""
        return self.figure.draw(sweeps, "ci")


PAPER: dict[str, Figure] = {
    "overview": overview,
    "illustration": illustration,
    "pomrl_vs_adapomrl": pomrl_vs_adapomrl,
    "planning_omrl": planning_omrl,
    "dependence_on_tasksimilarity": dependence_on_tasksimilarity,
    "gamma_schedules": gamma_schedules,
    "dirichlet_task_dist": dirichlet_task_dist,
    "dependence_on_tasksimilarity_ablation": dependence_on_tasksimilarity_ablation,
    "arub_dependence_on_mT": arub_dependence_on_mt,
    "omrl_baselines": omrl_baselines,
    "varyingSmT": varying_smt,
}
"""The figures of the paper in its order, 1 to 6 and F1 to F5, by the labels that they have in its source."""

AUTHORS: dict[str, Figure] = {
    "authors_pomrl_vs_adapomrl": authors.pomrl_vs_adapomrl,
    "authors_planning_omrl": authors.planning_omrl,
    "authors_dependence_on_tasksimilarity": authors.dependence_on_tasksimilarity,
    "authors_gamma_schedules": authors.gamma_schedules,
    "authors_dependence_on_tasksimilarity_ablation": authors.dependence_on_tasksimilarity_ablation,
    "authors_arub_dependence_on_mT": authors.arub_dependence_on_mt,
    "authors_omrl_baselines": authors.omrl_baselines,
    "authors_varyingSmT": authors.varying_smt,
}
"""Figures 3 to 6 and F2 to F5 under the definitions of the authors' notebook, by name."""

SUPPLEMENTARY: dict[str, Figure] = {
    "gaussian_tasks": gaussian_tasks,
    "varying_pairs": varying_pairs,
    "gamma_schedules_adapomrl": gamma_schedules_adapomrl,
    "fixed_mean_model": fixed_mean_model,
    "average_over_tasks": average_over_tasks,
    "initial_similarity": initial_similarity,
}
"""Figures of experiments that the paper mentions or leaves open, by name."""

BEYOND: dict[str, Figure] = {
    "horizon_or_prior": horizon_or_prior,
    "wrong_priors": wrong_priors,
    "known_law": known_law,
    "families": families,
    "streams": streams,
    "unequal_data": unequal_data,
    "online_collection": online_collection,
    "unknown_rewards": unknown_rewards,
    "long_streams": long_streams,
}
"""Figures of experiments that go beyond the paper, by name."""

THEORY: dict[str, Figure] = {
    "average_regret": average_regret,
    "upper_bound": upper_bound,
    "squared_error": squared_error,
    "mixing_rates": mixing_rates,
    "vacuous_bounds": vacuous_bounds,
}
"""Figures of the bounds on regret and of the mixing rate, by name."""

FIGURES = PAPER | AUTHORS | SUPPLEMENTARY | BEYOND | THEORY
"""All figures of this project, by name."""


def intervals_of(name: str) -> str:
    """Return the name of the version of a figure with 95 % intervals."""
    return f"{name}_intervals"


INTERVALS = {
    intervals_of(name): WithIntervals(cast(FigureOfRuns, figure))
    for name, figure in FIGURES.items()
    if hasattr(figure, "SERIES")
}
"""The versions with 95 % intervals of all figures of runs, by name.

They show all stored runs that their series share, and the others the number of runs that the paper has.
"""


def versions(name: str) -> list[str]:
    """Return the names of a figure and of its version with intervals, if it has one."""
    return [name, *([intervals_of(name)] if intervals_of(name) in INTERVALS else [])]


def find(name: str) -> Figure:
    """Return the figure of this name, or the module of a figure of one's own, such as `mine.my_figure`.

    The name of a version with intervals, such as `planning_omrl_intervals`, is one of a figure as well.

    Raises:
        LookupError: If there is no such figure or module, or if the module is not a figure.
    """
    if figure := FIGURES.get(name) or INTERVALS.get(name):
        return figure
    if "." not in name:
        raise LookupError(f"{name}: there is no such figure; there are {', '.join(FIGURES)}")
    module: Any = module_of_ones_own(name)
    if lacking := [attribute for attribute in ("SWEEPS", "draw") if not hasattr(module, attribute)]:
        raise LookupError(f"{name}: it is no figure, because it has no {', '.join(lacking)}")
    if isinstance(module.SWEEPS, str):
        raise LookupError(f"{name}: SWEEPS has to be a tuple of names, such as ({module.SWEEPS!r},)")
    return module


def simulations_of(figure: Figure) -> tuple[str, ...]:
    """Return the names of the simulations that a figure shows: its attribute `SIMULATIONS`, if it has one."""
    return tuple(getattr(figure, "SIMULATIONS", ()))


def series_of(figure: Figure) -> Sequence[Series] | None:
    """Return the series of runs that a figure shows: its attribute `SERIES`; None if it has no such attribute."""
    return getattr(figure, "SERIES", None)
