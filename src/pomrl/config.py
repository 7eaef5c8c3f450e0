"""From a composed Hydra configuration to checked objects, once, at the entry.

Only what was composed from `conf/`, from `--config-dir` and from the command line becomes objects here; a stored
configuration is data.
"""

import dataclasses
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import Field, ValidationError
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.estimators import Estimator
from pomrl.execution import Execution
from pomrl.execution.engine import MissingPackagesError
from pomrl.experiment import Method, Problem
from pomrl.gamma_schedules import GammaSchedule
from pomrl.planners import Planner
from pomrl.task_distributions import TaskDistribution

GROUPS = ("task_distribution", "estimator", "gamma_schedule", "planner", "execution")
"""The groups of which a configuration has one option each."""

KINDS = {
    "task_distribution": TaskDistribution,
    "estimator": Estimator,
    "gamma_schedule": GammaSchedule,
    "planner": Planner,
    "execution": Execution,
}
"""What the class of an option has to be."""

METHOD = ("estimator", "gamma_schedule", "planner")
"""Those of them that make no difference to what is drawn."""

KEYS = ("S", "A", "m", "T", "sigma", "gamma_eval", "runs", "seed", "force", "dry_run")
"""The keys at the top."""


class ConfigError(ValueError):
    """What is wrong with a configuration, in one line: the key, the value and what would be right."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Run:
    """What is asked of an experiment, beside what it is."""

    runs: Annotated[int, Field(ge=1, description="number of independent runs")]
    force: Annotated[bool, Field(description="compute again what is stored")] = False
    dry_run: Annotated[bool, Field(description="only list what would be computed")] = False


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A configuration as objects: the problem, the method, and what is asked."""

    problem: Problem
    method: Method
    asked: Run
    execution: Execution
    options: Mapping[str, str]
    """The name of the option that was chosen in each group; for people, it changes no number."""


def register_resolvers() -> None:
    """The functions that configuration files call: `${half:S}` and `${grid_to:gamma_eval}`."""
    OmegaConf.register_new_resolver("half", lambda n: n // 2 if isinstance(n, int) else n, replace=True)
    OmegaConf.register_new_resolver("grid_to", grid_to, replace=True)


def grid_to(gamma_eval: Any) -> Any:
    """The default grid: 0, 0.05, ..., 0.95 and gamma_eval, without what exceeds gamma_eval."""
    if not isinstance(gamma_eval, int | float):
        return gamma_eval
    return OmegaConf.create([*(i / 20 for i in range(20) if i / 20 < gamma_eval), float(gamma_eval)])


def parse(config: DictConfig, options: Mapping[str, Any]) -> Experiment:
    """The objects of a composed configuration. ConfigError for whatever is wrong with it alone."""
    values = _resolved(config)
    problem_keys, asked_keys = _fields(Problem), _fields(Run)
    known = [*problem_keys, *METHOD, *asked_keys, "execution"]
    for key in values:
        if key not in known:
            raise ConfigError(f"{key}={values[key]!r}: unknown key; the keys are {', '.join(known)}")
    top = {key: value for key, value in values.items() if key not in GROUPS}
    problem = {key: top[key] for key in problem_keys if key in top}
    # Numbers are checked before the components that are made from them, so that the message names the number.
    _checked(Run, {key: top[key] for key in asked_keys if key in top})
    _checked(Problem, problem, but="task_distribution")
    parts = {group: _component(group, values.get(group)) for group in GROUPS}
    return Experiment(
        problem=_checked(Problem, problem | {"task_distribution": parts["task_distribution"]}),
        method=_checked(Method, {group: parts[group] for group in METHOD}),
        asked=_checked(Run, {key: top[key] for key in asked_keys if key in top}),
        execution=parts["execution"],
        options={group: str(options[group]) for group in GROUPS if group in options},
    )


def settings(experiment: Experiment) -> dict[str, Any]:
    """The scientific configuration, canonical and complete: all that can change a number, and nothing else.

    It is read back from the objects, so that defaults that a file leaves out are in it, and 0 and 0.0 are the same
    where a number is meant. A hindsight schedule stands for the grid that it is read from.
    """
    problem, method = experiment.problem, experiment.method
    numbers = {key: getattr(problem, key) for key in _fields(Problem) if key != "task_distribution"}
    return numbers | {
        "task_distribution": _described(problem.task_distribution),
        "estimator": _described(method.estimator),
        "gamma_schedule": _described(method.gamma_schedule.computed()),
        "planner": _described(method.planner),
    }


def components(described: Mapping[str, Any]) -> list[str]:
    """The dotted names of the classes in settings."""
    return [part["_target_"] for part in described.values() if isinstance(part, dict)]


def flat(described: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Settings with dotted keys, one level deep; the key of a group stands for the name of its option."""
    keys: dict[str, Any] = {}
    for key, value in described.items():
        if not isinstance(value, dict):
            keys[key] = value
            continue
        keys[key] = options.get(key, value["_target_"])
        keys |= {f"{key}.{name}": part for name, part in value.items() if name != "_target_"}
    return keys


def _described(component: Any) -> dict[str, Any]:
    cls = type(component)
    return {"_target_": f"{cls.__module__}.{cls.__qualname__}"} | dataclasses.asdict(component)


def _resolved(config: DictConfig) -> dict[str, Any]:
    own = [str(key) for key in config if key not in ("hydra", "experiment")]
    try:
        container = OmegaConf.to_container(OmegaConf.masked_copy(config, own), resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(f"{error.full_key}: a value is missing") from error
    except OmegaConfBaseException as error:
        raise ConfigError(" ".join(str(error).split())) from error
    return cast(dict[str, Any], container)


def _component(group: str, values: Any) -> Any:
    """The object that an option describes: its `_target_` with the other keys."""
    if not isinstance(values, dict) or "_target_" not in values:
        raise ConfigError(f"{group}={values!r}: an option of this group has to name its class in _target_")
    arguments = {key: value for key, value in values.items() if key != "_target_"}
    module, _, name = str(values["_target_"]).rpartition(".")
    try:
        cls = getattr(import_module(module), name)
    except MissingPackagesError as error:
        raise ConfigError(str(error)) from error
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"{group}._target_={values['_target_']}: there is no such class ({error})") from error
    if not (isinstance(cls, type) and issubclass(cls, KINDS[group])):
        kind = KINDS[group]
        raise ConfigError(
            f"{group}._target_={values['_target_']}: it has to be a {kind.__module__}.{kind.__qualname__}"
        )
    return _checked(cls, arguments, group + ".")


def _checked(cls: type, arguments: dict[str, Any], prefix: str = "", but: str = "") -> Any:
    """An object of the class, or a ConfigError that names the first bad key; `but` is a key that may be missing."""
    try:
        return cls(**arguments)
    except ValidationError as invalid:
        errors = [error for error in invalid.errors() if error["loc"][:1] != (but,)]
        if not errors:
            return None
        raise ConfigError(_one_line(errors, prefix, _fields(cls))) from invalid


def _one_line(errors: list[Any], prefix: str, keys: list[str]) -> str:
    first = errors[0]
    key = prefix + ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "unexpected_keyword_argument":
        return f"{key}={first['input']!r}: unknown key; the keys are {', '.join(prefix + name for name in keys)}"
    if first["type"] in ("missing", "missing_argument"):
        return f"{key}: a value is missing"
    same = [error for error in errors if error["loc"][:1] == first["loc"][:1]]
    wanted = " or ".join(dict.fromkeys(_wanted(error) for error in same))
    wanted = wanted.replace(" or it has to ", " or ")
    return f"{key}={first['input']!r}: {wanted}" if first["loc"] else f"{prefix.rstrip('.')}: {wanted}"


def _wanted(error: Any) -> str:
    return error["msg"].removeprefix("Value error, ").replace("Input should", "it has to")


def _fields(cls: type) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []
