"""The figures of the paper: each a module that turns the tables of one sweep into a `Drawing`."""

from typing import Protocol

import pandas as pd

from pomrl.figures import dependence_on_tasksimilarity, planning_omrl, pomrl_vs_adapomrl
from pomrl.figures.drawing import Drawing


class PaperFigure(Protocol):
    """What the module of a figure offers; its docstring says what the paper's figure shows."""

    @property
    def EXPERIMENT(self) -> str:
        """Name of the sweep whose tables it draws."""
        ...

    @property
    def RUNS(self) -> int:
        """Number of runs that the paper promises; a figure of another number says so."""
        ...

    def draw(self, tables: pd.DataFrame) -> Drawing:
        """The figure from the tables of all jobs of the sweep, with the settings that it varies as columns in front.

        ValueError where they hold nothing that the figure shows; a series that they lack is left out, and named.
        """
        ...


FIGURES: dict[str, PaperFigure] = {
    "pomrl_vs_adapomrl": pomrl_vs_adapomrl,
    "planning_omrl": planning_omrl,
    "dependence_on_tasksimilarity": dependence_on_tasksimilarity,
}
"""By the name of the figure's label in the paper."""
