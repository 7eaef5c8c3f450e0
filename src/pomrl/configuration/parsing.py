"""Make checked objects from a composed configuration."""

import dataclasses
from collections.abc import Mapping, Sequence
from inspect import get_annotations
from typing import Annotated, Any, cast, get_origin, get_type_hints

from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from pomrl.base import CHECKED, FieldError
from pomrl.configuration.composed import (
    GROUPS,
    METHOD_GROUPS,
    PROBLEM_GROUPS,
    READING,
    Composed,
    ConfigError,
    unknown_key,
)
from pomrl.configuration.importing import format_error, import_by_name, is_ours
from pomrl.configuration.sources import PUBLISHED
from pomrl.execution import Execution
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.distribution import TaskDistribution

Label = Annotated[str, Field(min_length=1, max_length=200)] | int | float | None
"""A tag or note; Hydra parses text like 1.5 as a number."""

MAX_RUNS = 10**8
"""The largest number of runs of an experiment; listing their blocks takes 100 MB."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Request:
    """The requested runs of an experiment."""

    runs: Annotated[int, Field(ge=1, le=MAX_RUNS)]
    """Number of independent runs."""
    force: bool = False
    """Compute stored runs again."""
    dry_run: bool = False
    """Report missing runs without computing them."""
    yes: bool = False
    """Also compute more than 10,000 experiments, or more than an hour."""
    tag: Label = None
    """A word to find the experiment by, +tag=NAME."""
    note: Label = None
    """A remark, +note=TEXT."""


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A configuration as checked objects."""

    problem: Problem
    method: Method
    request: Request
    execution: Execution
    options: Mapping[str, str]
    """The name of each group's option and of the reading; no number depends on it."""
    looks: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict[str, Mapping[str, Any]])
    """The plot styles of user-defined options, by group."""
    notes: tuple[str, ...] = ()
    """A line for each option outside of the reading."""


def _fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else ()


_TYPES = get_type_hints(Problem) | get_type_hints(Method) | get_type_hints(Experiment)

COMPONENTS: Mapping[str, type] = {group: get_origin(_TYPES[group]) or _TYPES[group] for group in GROUPS}
"""The base class of each group's options."""

PROBLEM_KEYS = tuple(key for key in _fields(Problem) if key not in GROUPS)
"""Keys of the problem outside of the groups."""

NAMES_OF_FILES = {"experiment": "a sweep", READING: "a reading"}
"""What the file of an option of these groups is called in messages."""

REFUSED_BY_COMPONENTS = ("_args_", "_partial_", "_recursive_")
"""Keys for Hydra's own instantiation, without a meaning for components."""

REQUEST_KEYS = _fields(Request)

KEYS = (*PROBLEM_KEYS, *REQUEST_KEYS)
"""All keys outside of the groups."""


def parse(composed: Composed) -> Experiment:
    """Make the objects of a configuration; ConfigError for a bad key or value.

    `pomrl.science.validation.check_experiment` later checks values against each other. The message begins with the
    sweep, whose file may have the value.
    """
    try:
        return _parse(composed)
    except ConfigError as error:
        if "experiment" in composed.options:
            raise ConfigError(f"experiment={composed.options['experiment']}: {error}") from error
        raise


def _parse(composed: Composed) -> Experiment:
    values = composed.values
    for key in values:
        if key == "experiment" or (key == READING and isinstance(values[key], dict)):
            raise ConfigError(f"the file of {NAMES_OF_FILES[key]} must begin with the line '# @package _global_'")
        if key == READING:
            raise ConfigError(f"a file selects a reading by `override /reading: {values[key]}` in its defaults")
        if key not in (*KEYS, *GROUPS):
            raise ConfigError(unknown_key(f"{key}={values[key]!r}", key, (*KEYS, *GROUPS)))
    numbers = _fill_sizes({key: values[key] for key in PROBLEM_KEYS if key in values}, composed)
    request = make(Request, {key: values[key] for key in REQUEST_KEYS if key in values})
    _refuse_bad_numbers(numbers)  # before components, which may use them
    components = {group: _component(group, composed) for group in GROUPS}
    return Experiment(
        problem=make(Problem, numbers | {group: components[group] for group in PROBLEM_GROUPS}),
        method=make(Method, {group: components[group] for group in METHOD_GROUPS}),
        request=request,
        execution=components["execution"],
        options={
            group: _name(group, composed.options[group], components.get(group))
            for group in (*GROUPS, READING)
            if group in composed.options
        },
        looks=composed.looks,
        notes=composed.notes,
    )


def _name(group: str, option: str, component: Any) -> str:
    """Return the option; the class name if a user's class replaced it."""
    cls: type = component.__class__
    if component is None or is_ours(cls.__module__) or not _is_published(group, option):
        return option
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_published(group: str, option: str) -> bool:
    return any(option == path.stem for path in PUBLISHED.options(group))


def _fill_sizes(numbers: Mapping[str, Any], composed: Composed) -> dict[str, Any]:
    missing = [key for key in ("S", "A") if key in numbers and numbers[key] is None]
    if not missing:
        return dict(numbers)
    if _class("task_distribution", composed).size is TaskDistribution.size:
        raise ConfigError(f"{missing[0]} must be an integer for a task_distribution without a size, got null")
    try:
        S, A = _component("task_distribution", composed).size
    except ValueError as error:  # a wrong data file
        raise ConfigError(str(error)) from error
    return {**numbers, **{key: {"S": S, "A": A}[key] for key in missing}}


def _refuse_bad_numbers(numbers: Mapping[str, Any]) -> None:
    try:
        Problem(**numbers)
    except ValidationError as invalid:
        errors = [error for error in invalid.errors() if error["loc"][:1] != ("task_distribution",)]
        if errors:
            raise ConfigError(_one_line(errors, "", _fields(Problem))) from invalid


def _component(group: str, composed: Composed) -> Any:
    values: Any = composed.values.get(group)
    cls, option = _class(group, composed), composed.options.get(group)
    if refused := [key for key in REFUSED_BY_COMPONENTS if key in values]:
        raise ConfigError(f"{group}.{refused[0]}: a component is made from its fields alone; remove this key")
    arguments = {key: value for key, value in values.items() if key not in ("_target_", "_convert_")}
    required = [field.name for field in dataclasses.fields(cls) if _is_required(field)]
    missing = [name for name in required if name not in arguments]
    if missing and {*arguments} <= {*_fields(cls)} and option and not _is_published(group, option):
        raise ConfigError(f"{group}.{missing[0]}: a value is missing; {_lines_to_add(group, option, cls, missing)}")
    return make(cls, arguments, group + ".")


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _lines_to_add(group: str, option: str, cls: type, missing: Sequence[str]) -> str:
    """Name the lines to add to the file of a user's option.

    These are the missing keys, or a shipped option to inherit them from, if a base of ours declares them.
    """
    lines = f"add {', '.join(f'{name}: VALUE' for name in missing)} to {group}/{option}.yaml"
    owner = next(base for base in cls.__mro__ if missing[0] in get_annotations(base))
    names = [path.stem for path in PUBLISHED.options(group)] if is_ours(owner.__module__) else []
    keys_by_name = {name: PUBLISHED.content(group, name).keys() - {"_target_"} for name in names}
    inherited = next((name for name, keys in keys_by_name.items() if {*missing} <= keys <= {*_fields(cls)}), None)
    return lines + (f", or begin it with defaults: [{inherited}, _self_]" if inherited else "")


def _class(group: str, composed: Composed) -> Any:
    values: Any = composed.values.get(group)
    if values is None:
        options = ", ".join(path.stem for path in PUBLISHED.options(group))
        raise ConfigError(f"{group} must have an option, got none; available: {options}")
    if not isinstance(values, dict) or not cast(dict[str, Any], values).get("_target_"):
        file = f" in {group}/{composed.options[group]}.yaml" if group in composed.options else ""
        raise ConfigError(f"{group} must be an option with its class in _target_, got {values!r}{file}")
    target, base = str(cast(dict[str, Any], values)["_target_"]), COMPONENTS[group]
    module, _, name = target.rpartition(".")
    try:
        cls = getattr(import_by_name(module), name)
    except (Exception, SystemExit) as error:  # a user's module may raise anything
        raise ConfigError(f"{group}._target_={target}: the class cannot be imported ({format_error(error)})") from error
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise ConfigError(f"{group}._target_ must be a subclass of {base.__module__}.{base.__qualname__}, got {target}")
    if missing := getattr(cls, "__abstractmethods__", None):
        raise ConfigError(f"{group}._target_={target}: the class must implement {', '.join(sorted(missing))}")
    return cls


def make(cls: type, arguments: Mapping[str, Any], prefix: str = "") -> Any:
    """Construct an object; ConfigError for the first bad key, written after `prefix`."""
    try:
        return cls(**arguments)
    except (ValidationError, FieldError) as invalid:
        raise ConfigError(_one_line(invalid.errors(), prefix, _fields(cls))) from invalid


def _one_line(errors: Sequence[Any], prefix: str, keys: Sequence[str]) -> str:
    first = min(errors, key=lambda error: error["type"] != "unexpected_keyword_argument")  # a misspelt key also misses
    field_path = _field_path(first["loc"])
    key = (
        prefix + field_path[0] + "".join(f"[{index}]" for index in field_path[1:]) if field_path else prefix.rstrip(".")
    )
    if first["type"] == "unexpected_keyword_argument":
        return unknown_key(f"{key}={first['input']!r}", key, [prefix + name for name in keys])
    if first["type"] in ("missing", "missing_argument"):
        return f"{key}: a value is missing"
    same = (error for error in errors if _field_path(error["loc"])[: len(field_path)] == field_path)
    messages = (error["msg"].removeprefix("Value error, ") for error in same)
    where = f"{key}={first['input']!r}" if field_path else key
    return f"{where}: {' or '.join(dict.fromkeys(messages))}"


def _field_path(location: Sequence[str | int]) -> tuple[Any, ...]:
    """Return the field of an error, and its indices in lists."""
    return (*map(str, location[:1]), *(index for index in location[1:] if isinstance(index, int)))
