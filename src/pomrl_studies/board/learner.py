"""Learners of the board: files of the folder `learners`, and files of a user's own.

A file NAME.yaml has a `label`, a line `about`, and the settings of a method, such as `estimator: ada_pomrl`. The value
of `estimator` may also be a class with its keys, `{_target_: mine.Mine, strength: 3}`, where mine.py lies beside the
file. With `base: NAME`, it is of the second table: a way to choose the discount factor on top of that learner.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import yaml

from pomrl.components import Estimator
from pomrl_studies.board.cells import Cell, Group

FOLDER = Path(__file__).parent / "learners"
"""The folder of the learners that are shipped."""

METHOD = ("estimator", "gamma_schedule", "planner", "agent")
"""The groups of settings that a learner may have."""

CHEAP: tuple[Group, ...] = ("families", "chains")
"""The groups of cells in which ways to choose the discount factor are run, unless their file names others."""


@dataclass(frozen=True)
class Learner:
    """A row of the board."""

    name: str
    label: str
    file: Path
    """The file that describes it."""
    given: Mapping[str, Any]
    """Its settings by dotted keys; the value of `estimator` may be an object, or its class and keys."""
    about: str = ""
    base: str | None = None
    """The learner on top of which it chooses a discount factor; None for a learner of the first table."""
    is_limit: bool = False
    """Whether it is told what no learner knows, so that it has no rank."""
    groups: tuple[Group, ...] = get_args(Group)
    """The groups of cells in which it is run."""
    is_own: bool = False
    """Whether it is the user's, and not shipped."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its settings, with an object as the estimator where the file names a class, which is imported."""
        estimator = self.given.get("estimator")
        made = {"estimator": _component(self.file, estimator)} if isinstance(estimator, dict) else {}
        return {**self.given, **made}

    def is_run_in(self, cell: Cell) -> bool:
        """Return whether the learner is run in a cell."""
        return cell.group in self.groups


def shipped_learners() -> dict[str, Learner]:
    """Return the shipped learners by name, in alphabetical order."""
    learners = {path.stem: _read(path) for path in sorted(FOLDER.glob("*.yaml"))}
    return {name: _on_top(learner, learners) for name, learner in learners.items()}


def own_learners(path: Path) -> list[Learner]:
    """Return the learners in a file of the user's own: the classes of a module, or the one of a YAML file.

    Raises:
        ValueError: The file is wrong; the message names it.
    """
    if not path.is_file():
        raise ValueError(f"{path}: must be a file with a learner, NAME.py or NAME.yaml")
    if path.suffix == ".yaml":
        return [_on_top(_read(path, is_own=True), shipped_learners())]
    learners = [
        Learner(cls.__name__, cls.__name__, path, {"estimator": _make(path, cls, {})}, is_own=True)
        for cls in _estimators(_import(path.stem, path.parent))
    ]
    if not learners:
        raise ValueError(f"{path}: must define a class of pomrl.components.ModelEstimator, got none")
    return learners


def _on_top(learner: Learner, shipped: Mapping[str, Learner]) -> Learner:
    """Return a learner with the settings of its base below its own."""
    if learner.base is None:
        return learner
    if learner.base not in shipped:
        raise ValueError(f"{learner.name}: base must be one of {', '.join(shipped)}, got {learner.base}")
    return replace(learner, given={**shipped[learner.base].given, **learner.given})


def _read(path: Path, *, is_own: bool = False) -> Learner:
    """Read the file of a learner; ValueError if a key is none of a learner."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"{path}: must have keys, such as `estimator: ada_pomrl`")
    settings = {key: value for key, value in content.items() if key.partition(".")[0] in METHOD}
    further = {key: value for key, value in content.items() if key not in settings}
    if unknown := further.keys() - {"label", "about", "base", "is_limit", "groups"}:
        raise ValueError(f"{path}: {min(unknown)} must be a key of a learner or of {', '.join(METHOD)}")
    further["groups"] = tuple(further.get("groups", CHEAP if "base" in further else get_args(Group)))
    return Learner(path.stem, further.pop("label", path.stem), path, settings, **further, is_own=is_own)


def _component(path: Path, given: Mapping[str, Any]) -> Estimator[Any]:
    """Make the estimator that a YAML file describes by its class and keys."""
    module, _, name = str(given.get("_target_", "")).rpartition(".")
    if not module:
        raise ValueError(f"{path}: estimator must name its class in _target_, as in `_target_: mine.Mine`")
    cls = getattr(_import(module, path.parent), name, None)
    if not (isinstance(cls, type) and issubclass(cls, Estimator)):
        raise ValueError(f"{path}: _target_ must name a class of pomrl.components.Estimator, got {module}.{name}")
    return _make(path, cls, {key: value for key, value in given.items() if key != "_target_"})


def _make(path: Path, cls: type[Estimator[Any]], keys: Mapping[str, Any]) -> Estimator[Any]:
    try:
        return cls(**keys)
    except ValueError as error:
        line = " ".join(str(error).split())
        raise ValueError(f"{path}: the keys of {cls.__name__} must be given in a YAML file; {line}") from error


def _estimators(module: ModuleType) -> Iterator[type[Estimator[Any]]]:
    """Yield the estimators that a module defines itself, in its order."""
    for value in vars(module).values():
        is_estimator = isinstance(value, type) and issubclass(value, Estimator)
        if is_estimator and value.__module__ == module.__name__ and not getattr(value, "__abstractmethods__", None):
            yield value


def _import(name: str, folder: Path) -> ModuleType:
    """Import a module that may lie in a folder; ValueError if it cannot be, or if another one has its name."""
    if str(folder.resolve()) not in sys.path:
        sys.path.append(str(folder.resolve()))
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:  # whatever the module of somebody raises
        raise ValueError(f"{name}: must be importable, got {type(error).__name__}: {error}") from error
    beside, file = folder / f"{name}.py", getattr(module, "__file__", None)
    if beside.is_file() and (file is None or Path(file).resolve() != beside.resolve()):
        raise ValueError(f"{beside}: must have another name, because {name} is a module already")
    return module
