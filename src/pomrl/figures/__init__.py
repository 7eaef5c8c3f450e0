"""Figures, each a module that draws the stored tables of some sweeps, and whose docstring is its caption.

`paper` has the figures of the paper, `supplementary` and `theory` have those beyond it, and `parts` has what they are
made of. `readings` draws the claims under all readings of the paper, from the matrix that `src.claims` computes.
"""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from pomrl.configuration.importing import imported
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
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.supplementary import (
    average_over_tasks,
    fixed_mean_model,
    gamma_schedules_adapomrl,
    gaussian_tasks,
    initial_similarity,
    varying_pairs,
)
from pomrl.figures.theory import average_regret, mixing_rates, squared_error, upper_bound, vacuous_bounds
from pomrl.results.stored_sweeps import StoredSweeps


@runtime_checkable
class Figure(Protocol):
    """The module of a figure; its docstring is the caption, and says what the paper says of the figure.

    A figure that shows simulations names them in the optional attribute `SIMULATIONS` (see `simulations_of`).
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

SUPPLEMENTARY: dict[str, Figure] = {
    "gaussian_tasks": gaussian_tasks,
    "varying_pairs": varying_pairs,
    "gamma_schedules_adapomrl": gamma_schedules_adapomrl,
    "fixed_mean_model": fixed_mean_model,
    "average_over_tasks": average_over_tasks,
    "initial_similarity": initial_similarity,
}
"""Figures of experiments that the paper mentions or leaves open, by name."""

THEORY: dict[str, Figure] = {
    "average_regret": average_regret,
    "upper_bound": upper_bound,
    "squared_error": squared_error,
    "mixing_rates": mixing_rates,
    "vacuous_bounds": vacuous_bounds,
}
"""Figures of the bounds on regret and of the mixing rate, by name."""

FIGURES = PAPER | SUPPLEMENTARY | THEORY
"""All figures of this project, by name."""


def find(name: str) -> Figure:
    """Return the figure of this name, or the module of a figure of one's own, such as `mine.my_figure`.

    Raises:
        LookupError: If there is no such figure or module, or if the module is not a figure.
    """
    if name in FIGURES:
        return FIGURES[name]
    if "." not in name:
        raise LookupError(f"{name}: there is no such figure; there are {', '.join(FIGURES)}")
    if not all(part.isidentifier() for part in name.split(".")):
        raise LookupError(f"{name}: it is no dotted name of a module")
    try:
        module: Any = imported(name)
        lacking = [attribute for attribute in ("SWEEPS", "draw") if not hasattr(module, attribute)]
    except ImportError as error:
        raise LookupError(f"{name}: there is no such module ({error})") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module of somebody's own does when it is imported
        raise LookupError(f"{name}: importing it ended with {error!r}") from error
    if lacking:
        raise LookupError(f"{name}: it is no figure, because it has no {', '.join(lacking)}")
    return module


def simulations_of(figure: Figure) -> tuple[str, ...]:
    """Return the names of the simulations that a figure shows: its attribute `SIMULATIONS`, if it has one."""
    return tuple(getattr(figure, "SIMULATIONS", ()))
