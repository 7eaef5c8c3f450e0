"""The command `pomrl new`."""

import shutil
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path

from pomrl.commands.terminal import exit_with
from pomrl.configuration.sources import SWEEPS
from pomrl.configuration.studies import check_study_name

SKELETON = "skeleton"
"""The folder to copy as a new study; in its files, this word stands for the study's name."""

WORKFLOW = Path(".github", "workflows", "review.yml")
"""The workflow for pull requests; GitHub reads it only at the top of a repository."""


def new(folder: Path) -> None:
    """Create a small study, ready to run.

    It has a sweep, two claims, a figure, an estimator and a page. `pomrl reproduce FOLDER` runs it. At the top of a git
    repository, .github/workflows/review.yml is made too, if missing; it shows in pull requests what they change.

    Args:
        folder: The folder to create; its name is the study's name.
    """
    name = folder.name
    check_study_name(name, str(folder))
    if find_spec(name):
        exit_with(f"{folder}: a package named {name} exists; give the folder another name")
    if folder.exists():
        exit_with(f"{folder}: exists already; choose another name, or remove it first")
    with as_file(files("pomrl").joinpath(SKELETON)) as skeleton:
        shutil.copytree(skeleton, folder, ignore=shutil.ignore_patterns("__pycache__", WORKFLOW.name))
        is_added = _add_workflow(skeleton / WORKFLOW.name)
    (folder / SWEEPS / SKELETON).rename(folder / SWEEPS / name)
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        path.write_text(path.read_text(encoding="utf-8").replace(SKELETON, folder.name), encoding="utf-8")
        print(path)
    if is_added:
        print(f"{WORKFLOW}: shows in pull requests what they change in settings and results")
    print(f"to compute, judge, draw and report it: pomrl reproduce {folder}")


def _add_workflow(source: Path) -> bool:
    """Copy the workflow if this folder is the top of a git repository without it; return whether it was copied."""
    if not Path(".git").exists() or WORKFLOW.exists():
        return False
    WORKFLOW.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, WORKFLOW)
    return True
