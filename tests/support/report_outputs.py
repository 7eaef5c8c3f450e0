"""The sweeps and figures of the tested report."""

import shutil
from pathlib import Path

from pomrl.configuration.studies import find
from pomrl.drawing.figure import figures_of, file_name
from pomrl_report.html_pages import StudyPage, html

# The first sweep has ada-POMRL under another name of its option, which the report must not use.
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
"""The drawn figures: at least one of each sweep, and one of a simulation."""

FILES = [file_name(name, FIGURES[name].docstring) for name in DRAWN]
"""The file names of the drawn figures."""


def study_folder(folder: Path) -> Path:
    """Return the folder of the paper's study in a folder of outputs."""
    return folder / "studies" / "pomrl2023"


def study_html(study: str) -> str:
    return html(StudyPage(find(study)), f"pomrl reproduce {study} report")


def copied_figures(folder: Path, outputs: Path) -> Path:
    """Copy figures between folders of outputs, and return the folder of copies."""
    return Path(shutil.copytree(study_folder(folder) / "figures", study_folder(outputs) / "figures"))
