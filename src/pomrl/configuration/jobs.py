"""The jobs that a command line of `pomrl run` asks for, counted before any of them is composed."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from hydra.types import RunMode
from omegaconf import DictConfig

from pomrl.configuration.composed import ConfigError, Sweep
from pomrl.configuration.composition import Composer

MOST_JOBS = 10_000
"""The most jobs of a sweep that is composed without `yes=true`."""

LAUNCHER = "hydra._internal.core_plugins.basic_launcher.BasicLauncher"
SWEEPER = "hydra_plugins.whole_sweep.WholeSweepSweeper"

BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"

_PLACES = {"file": "folder", "pkg": "package; it is looked for in the folders of PYTHONPATH"}
_PLACE = re.compile(r"(file|pkg)://([^,\]\s'\"]+)")
"""An element of `hydra.searchpath`."""

ENGINES = "execution=local or execution=dask says where to compute"


def sweep(composer: Composer, params: Mapping[str, Any], arguments: list[str]) -> Sweep:
    """Compose the jobs of a sweep; of more than `MOST_JOBS`, only the first, unless it says `yes=true`.

    Several published sweeps, as in `experiment=gamma_0,theory`, have all of their jobs, each with its own axes.

    Args:
        composer: Composes the jobs.
        params: The axes of the published sweep that is asked for, if it is one: for each key its values.
        arguments: The overrides of the command line.

    Raises:
        ConfigError: A sweep is empty, or its description cannot be used.
    """
    names, others = _experiments(composer, arguments)
    sweeps = [{"experiment": name, **composer.axes(name)} for name in names] if len(names) > 1 else [params]
    choices = [composer.choices(axes, others if len(names) > 1 else arguments) for axes in sweeps]
    count = sum(prod(map(len, of_sweep)) for of_sweep in choices)
    if not count:
        raise ConfigError("this sweep has no jobs, and so there is nothing to compute")
    jobs = chain.from_iterable(product(*of_sweep) for of_sweep in choices)
    first = composer.one(next(jobs))
    rest = composer.each(jobs) if count <= MOST_JOBS or first.values.get("yes") is True else []
    return Sweep([first, *rest], count)


def _experiments(composer: Composer, arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the names of the published sweeps that are asked for, and the other arguments."""
    names: list[str] = []
    others: list[str] = []
    for override, argument in zip(composer.parsed(arguments), arguments, strict=True):
        if override.key_or_group == "experiment" and override.is_choice_sweep():
            names = [str(value) for value in override.sweep_iterator()]
        else:
            others.append(argument)
    return names, others


def check_plugins(config: DictConfig) -> None:
    """Refuse plugins of Hydra that would compute elsewhere, and Hydra's own sweeper, which knows no published sweeps.

    Sweepers of others, which choose the next experiment by the losses of those before, are allowed.

    Args:
        config: A configuration with Hydra's part.

    Raises:
        ConfigError: The configuration names another launcher than Hydra's basic one, or Hydra's basic sweeper.
    """
    for kind in ("launcher", "sweeper"):
        named = config.hydra[kind]
        target = named.get("_target_") if isinstance(named, DictConfig) else named
        if target == BASIC_SWEEPER if kind == "sweeper" else target != LAUNCHER:
            raise foreign_plugin(f"hydra/{kind}={config.hydra.runtime.choices.get(f'hydra/{kind}')}")


def is_swept_by_others(config: DictConfig) -> bool:
    """Return whether a sweeper of others asks for this experiment, and waits for its objective.

    Args:
        config: A configuration with Hydra's part.
    """
    return config.hydra.mode == RunMode.MULTIRUN and config.hydra.sweeper.get("_target_") != SWEEPER


def foreign_plugin(override: str) -> ConfigError:
    """Return the error for an override that names a launcher or a sweeper that is not used here."""
    if "sweeper" in override:
        return ConfigError(f"{override}: hydra/sweeper=whole_sweep does what it does, and knows the published sweeps")
    return ConfigError(f"{override}: no launcher of others is used here; {ENGINES}")


def refuse_foreign_plugins(arguments: Sequence[str]) -> None:
    """Refuse arguments of the command line that name other plugins of Hydra, before Hydra makes use of them.

    Raises:
        ConfigError: An argument names a launcher, or Hydra's basic sweeper.
    """
    for argument in arguments:
        key, _, value = argument.lstrip("+~").partition("=")
        of_launcher = key == "hydra.launcher._target_" or (key == "hydra/launcher" and value != "basic")
        if of_launcher or (key == "hydra/sweeper" and value == "basic"):
            raise foreign_plugin(argument)


def refuse_absent_folders(arguments: Sequence[str]) -> None:
    """Refuse a `hydra.searchpath` of which a package or a folder does not exist; Hydra would go on without it.

    Raises:
        ConfigError: There is no such package or folder.
    """
    for argument in arguments:
        for kind, name in _PLACE.findall(argument) if argument.lstrip("+").startswith("hydra.searchpath=") else ():
            if not (Path(name).is_dir() if kind == "file" else _is_package(name.replace("/", "."))):
                raise ConfigError(f"hydra.searchpath={kind}://{name}: there is no such {_PLACES[kind]}")


def _is_package(name: str) -> bool:
    try:
        return files(name).is_dir()
    except (ImportError, TypeError, ValueError):
        return False
