"""The jobs that a command line of `pomrl run` asks for, counted before any of them is composed."""

from collections.abc import Mapping
from itertools import chain, product
from math import prod
from typing import Any

from pomrl.configuration.composed import ConfigError, Sweep
from pomrl.configuration.composition import Composer

MOST_JOBS = 10_000
"""The most jobs of a sweep that is composed without `yes=true`."""

FOREIGN = (
    "Hydra only composes here, and uses no launcher, sweeper or folder of its own; execution=local or execution=dask "
    "says where to compute, and the environment variable POMRL_OUTPUTS where results are stored"
)
"""What is said where Hydra is asked to compute, or to store anything."""


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
    sweeps = [{"experiment": name, **composer.axes(name)} for name in names] or [params]
    choices = [composer.choices(axes, others) for axes in sweeps]
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
    for override, argument in zip(composer.parse(arguments), arguments, strict=True):
        if override.key_or_group == "experiment" and override.is_choice_sweep():
            names = [str(value) for value in override.sweep_iterator()]
        else:
            others.append(argument)
    return names, others
