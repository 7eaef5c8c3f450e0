"""Read learners from the folder `learners` and from users' files.

NAME.yaml has a `label`, a line `about`, and settings such as `estimator: ada_pomrl`. `estimator` may be a class with
its keys, `{_target_: mine.Mine, strength: 3}`. With `base: NAME`, the file only chooses the discount
factor for the learner NAME.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import yaml
from pydantic import ValidationError
from pydantic.dataclasses import dataclass

from pomrl.components import Estimator, FieldError
from pomrl_studies.board.cells import Cell, Group

FOLDER = Path(__file__).parent / "learners"
"""The folder of the shipped learners."""

METHOD = ("estimator", "gamma_schedule", "planner", "agent")
"""The groups of settings of a learner."""

DETAILS = ("label", "about", "developed_on", "base", "is_limit", "groups")
"""The keys of a learner's file in addition to settings."""

CHEAP: tuple[Group, ...] = ("families", "rows", "chains")
"""The default groups of cells for learners with a `base`."""


@dataclass(frozen=True)
class Learner:
    """A row of the board."""

    name: str
    label: str
    file: Path
    """The file with its description."""
    description: Mapping[str, Any]
    """Its settings by dotted keys; the value of `estimator` may be an object, or its class and keys."""
    about: str = ""
    developed_on: str = ""
    """The problems on which it was developed."""
    base: str | None = None
    """The learner for which it chooses a discount factor; None in the first table."""
    is_limit: bool = False
    """Whether it knows true quantities, such as the mean model. A limit has no rank."""
    groups: tuple[Group, ...] = get_args(Group)
    """The groups of cells in which it is run."""
    is_own: bool = False
    """Whether the user defined it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Its settings, with estimators as objects."""
        estimator = self.description.get("estimator")
        objects = {"estimator": _component(self.file, estimator)} if isinstance(estimator, dict) else {}
        return {**self.description, **objects}

    def is_run_in(self, cell: Cell) -> bool:
        return cell.group in self.groups


def shipped_learners() -> dict[str, Learner]:
    """Return the shipped learners by name."""
    learners = {path.stem: read_learner(path) for path in sorted(FOLDER.glob("*.yaml"))}
    return {name: _on_top(learner, learners) for name, learner in learners.items()}


def own_learners(path: Path) -> list[Learner]:
    """Read a user's learners from a module or YAML file.

    Raises:
        ValueError: The file is missing or invalid.
    """
    if path.suffix not in (".py", ".yaml") or not path.is_file():
        raise ValueError(f"{path}: must be an existing file NAME.py or NAME.yaml with a learner")
    if path.suffix == ".yaml":
        return [_on_top(read_learner(path, is_own=True), shipped_learners())]
    learners = [
        Learner(cls.__name__, cls.__name__, path, {"estimator": _estimator(path, cls, {})}, is_own=True)
        for cls in _estimator_classes(_import(path.stem, path))
    ]
    if not learners:
        raise ValueError(f"{path}: must define a subclass of pomrl.components.Estimator, got none")
    return learners


def _on_top(learner: Learner, shipped: Mapping[str, Learner]) -> Learner:
    if learner.base is None:
        return learner
    if learner.base not in shipped:
        raise ValueError(f"{learner.file}: base must be one of {', '.join(shipped)}, got {learner.base}")
    return replace(learner, description={**shipped[learner.base].description, **learner.description})


def read_learner(path: Path, *, is_own: bool = False) -> Learner:
    """Read the YAML file of a learner; ValueError if invalid."""
    content = _yaml(path)
    settings = {key: value for key, value in content.items() if key.partition(".")[0] in METHOD}
    details = {key: value for key, value in content.items() if key not in settings}
    if unknown := details.keys() - {*DETAILS}:
        raise ValueError(f"{path}: unknown key {min(unknown)!r}; available: {', '.join([*DETAILS, *METHOD])}")
    if not settings:
        raise ValueError(f"{path}: must have at least one key of {', '.join(METHOD)}, got none")
    details = {"label": path.stem, "groups": CHEAP if "base" in details else get_args(Group), **details}
    try:
        return Learner(name=path.stem, file=path, description=settings, is_own=is_own, **details)
    except ValidationError as error:
        raise ValueError(f"{path}: {_first_error(error)}") from error


def _yaml(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: must be YAML in UTF-8: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path}: must have keys, such as `estimator: ada_pomrl`, got {content!r}")
    return {str(key): value for key, value in content.items()}


def _first_error(error: ValidationError | FieldError) -> str:
    first = error.errors()[0]
    value = "" if first["type"] in ("missing", "value_error") else f", got {first['input']!r}"
    message = f"{first['msg'].removeprefix('Value error, ')}{value}"
    return ": ".join([*([".".join(map(str, first["loc"]))] if first["loc"] else []), message])


def _component(path: Path, description: Mapping[str, Any]) -> Estimator[Any]:
    target = str(description.get("_target_", ""))
    module, _, name = target.rpartition(".")
    if not module:
        raise ValueError(f"{path}: estimator._target_ must be MODULE.CLASS, such as mine.Mine, got {target!r}")
    cls = getattr(_import(module, path), name, None)
    if not (isinstance(cls, type) and issubclass(cls, Estimator)):
        raise ValueError(f"{path}: estimator._target_ must be a subclass of pomrl.components.Estimator, got {target}")
    return _estimator(path, cls, {key: value for key, value in description.items() if key != "_target_"})


def _estimator(path: Path, cls: type[Estimator[Any]], keys: Mapping[str, Any]) -> Estimator[Any]:
    try:
        return cls(**keys)
    except (TypeError, ValueError) as error:
        reason = _first_error(error) if isinstance(error, FieldError) else error
        is_missing = isinstance(error, FieldError) and error.errors()[0]["type"] == "missing"
        hint = "; set it in a file NAME.yaml" if is_missing and path.suffix == ".py" else ""
        raise ValueError(f"{path}: {cls.__name__}: {reason}{hint}") from error


def _estimator_classes(module: ModuleType) -> Iterator[type[Estimator[Any]]]:
    for value in vars(module).values():
        is_estimator = isinstance(value, type) and issubclass(value, Estimator)
        if is_estimator and value.__module__ == module.__name__ and not getattr(value, "__abstractmethods__", None):
            yield value


def _import(name: str, path: Path) -> ModuleType:
    folder = path.parent
    file = folder / f"{name}.py"
    if str(folder.resolve()) not in sys.path and folder != FOLDER:
        sys.path.append(str(folder.resolve()))
    try:
        module = import_module(name)
    except (Exception, SystemExit) as error:  # user-defined code may raise anything
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise ValueError(f"{path}: the module {name} must be importable, got {reason}") from error
    origin = getattr(module, "__file__", None)
    if file.is_file() and (origin is None or Path(origin).resolve() != file.resolve()):
        raise ValueError(f"{file}: another module is named {name}; rename the file")
    return module
