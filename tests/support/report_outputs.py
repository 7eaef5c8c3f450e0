"""The sweeps and figures that the tested report is made of."""

import shutil
from pathlib import Path

from pomrl.configuration.study import find
from pomrl.drawing.figure import figures_of, file_name
from pomrl_report.html_pages import html

# The first has ada-POMRL's run under another name of an option, which the report must not take over.
SWEEPS = ["mixing_rates", "task_similarity", "gamma_schedules", "illustration"]

FIGURES = {figure.name: figure for figure in figures_of(find("pomrl2023"))}
"""The figures of the study, drawn or not."""

DRAWN = [
    "illustration",
    "planning_omrl",
    "dependence_on_tasksimilarity",
    "gamma_schedules_adapomrl",
    "mixing_rates",
    "vacuous_bounds",
]
"""Those of which the version of the caption is drawn: one at least of each sweep, and one of a simulation."""

FILES = [file_name(name, FIGURES[name].docstring) for name in DRAWN]
"""The names of their files."""


def of_study(folder: Path) -> Path:
    """Return the outputs of the study in a folder of outputs."""
    return folder / "studies" / "pomrl2023"


def html_of(word: str) -> str:
    return html(find(word), f"pomrl reproduce {word} report")


def copied_figures(folder: Path, outputs: Path) -> Path:
    """Copy the figures of a folder of outputs into another one, and return the folder of the copies."""
    return Path(shutil.copytree(of_study(folder) / "figures", of_study(outputs) / "figures"))
