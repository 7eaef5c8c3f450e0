"""The figures: each a module that turns the tables of the sweeps that it needs into a `Drawing`."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from pomrl.figures import (
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
from pomrl.figures.parts.drawing import Drawing, Tables
from pomrl.figures.supplementary import (
    average_over_tasks,
    fixed_mean_model,
    gamma_schedules_adapomrl,
    gaussian_tasks,
    initial_similarity,
    varying_pairs,
)
from pomrl.figures.theory import average_regret, mixing_rates, squared_error, upper_bound, vacuous_bounds


@runtime_checkable
class Figure(Protocol):
    """What the module of a figure offers; its docstring says what it shows, and what the paper says of it."""

    @property
    def SWEEPS(self) -> Sequence[str]:
        """Names of the sweeps whose tables it draws."""
        ...

    @property
    def RUNS(self) -> int:
        """Number of runs that the paper promises; a figure of another number says so."""
        ...

    def draw(self, tables: Tables) -> Drawing:
        """The figure from the tables of its sweeps.

        ValueError where they hold nothing that the figure shows; a series that they lack is left out, and named.
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
"""The figures of the paper in its order, 1 to 6 and F1 to F5, by the names of their labels."""

SUPPLEMENTARY: dict[str, Figure] = {
    "gaussian_tasks": gaussian_tasks,
    "varying_pairs": varying_pairs,
    "gamma_schedules_adapomrl": gamma_schedules_adapomrl,
    "fixed_mean_model": fixed_mean_model,
    "average_over_tasks": average_over_tasks,
    "initial_similarity": initial_similarity,
}
"""Those beyond the paper's."""

THEORY: dict[str, Figure] = {
    "average_regret": average_regret,
    "upper_bound": upper_bound,
    "squared_error": squared_error,
    "mixing_rates": mixing_rates,
    "vacuous_bounds": vacuous_bounds,
}
"""The bounds, and the mixing rates that follow from them."""

FIGURES = PAPER | SUPPLEMENTARY | THEORY
"""All of them."""


def find(name: str) -> Figure:
    """The figure of this name, or the module of one's own that offers one: `mine.my_figure`.

    LookupError where there is neither.
    """
    if name in FIGURES:
        return FIGURES[name]
    if "." not in name:
        raise LookupError(f"{name}: there is no such figure; there are {', '.join(FIGURES)}")
    try:
        module: Any = import_module(name)
    except ImportError as error:
        raise LookupError(f"{name}: there is no such module ({error})") from error
    lacking = [part for part in ("SWEEPS", "RUNS", "draw") if not hasattr(module, part)]
    if lacking:
        raise LookupError(f"{name}: it is no figure, because it has no {', '.join(lacking)}")
    return module
