"""Sweeps by name: their experiments, as published or under a variant, and the commands that compute them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, product
from math import inf, prod
from operator import getitem
from typing import TYPE_CHECKING, Any

from pomrl.configuration.composed import Composed, ConfigError, Sweep
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import PAPER, Sources, named_folders, sweep_names
from pomrl.configuration.variants import Job, Variant

if TYPE_CHECKING:
    from pomrl.configuration.composition import Composer


@dataclass(frozen=True)
class Setting:
    """One experiment of a sweep, and its values of the keys that the sweep varies."""

    varied: dict[str, Any]
    experiment: Experiment


Axes = Mapping[str, Any]
"""The axes of a sweep: for each key its values, separated by commas."""

Further = Sequence[str]
"""Overrides that are added to those of a sweep."""


def experiment(sources: Sources, overrides: Sequence[str]) -> Experiment:
    """Return the experiment that these overrides of the defaults describe; ConfigError where it is wrong."""
    return parse(_composer(sources).one(overrides))


def sweep(
    sources: Sources, name: str | None, variant: Variant | None = None, axes: Axes | None = None, further: Further = ()
) -> list[Setting]:
    """Return the experiments of a sweep, in the order of its axes.

    Args:
        sources: Where the configurations come from.
        name: The sweep, as in `experiment=NAME`; None for experiments that the further overrides alone describe.
        variant: Under which the experiments are computed; `varied` is as published all the same.
        axes: The axes of a sweep without a file, which the name then only stands for.
        further: Further overrides. Some may have several values, as in `sigma=0.01,0.02`: each combination is
            an experiment. One with the key of an axis of the sweep replaces the axis.

    Raises:
        ConfigError: There is no such sweep, or a setting is wrong. Under a variant this may be so because the variant
            has no meaning in the sweep.
    """
    composer = _composer(sources, [name] if name else [])
    try:
        published = composer.axes(name) if name and axes is None else axes or {}
        of_file = {"experiment": name} if name and axes is None else {}
        several = [override.get_key_element() for override in composer.parse(further) if override.is_sweep_override()]
        jobs = composer.product({**of_file, **published}, further)
        composed = composer.each(jobs)
        varied = [_varied_values(job, dict.fromkeys([*published, *several])) for job in composed]
        if variant:
            word = (name or "").rpartition("/")[2]
            of_jobs = zip(jobs, composed, strict=True)
            composed = composer.each(variant.overrides_of(Job(word, tuple(job), of.options)) for job, of in of_jobs)
        return [Setting(*parts) for parts in zip(varied, map(parse, composed), strict=True)]
    except ConfigError as error:
        if not name:
            raise
        raise ConfigError(f"{name}{f', variant {variant.name}' if variant else ''}: {error}") from error


def compose_sweep(sources: Sources, words: Sequence[str], *, is_sweep: bool = True, most: float = inf) -> Sweep:
    """Compose what a command line asks for; of more than so many jobs, only the first, unless it says `yes=true`.

    Several published sweeps, as in `experiment=gamma_0,theory`, have all of their jobs, each with its own axes.

    Args:
        sources: Where the configurations come from, besides the studies that the words name.
        words: The overrides of the command line.
        is_sweep: Whether keys may have several values; those of a published sweep that has axes may in any case.
        most: The most jobs that are composed.

    Raises:
        ConfigError: A sweep is empty, or a setting is wrong.
    """
    further = [word for word in words if not word.startswith("experiment=")]
    named = [name for word in words if word not in further for name in word.partition("=")[2].split(",")]
    composer = _composer(sources, named)
    sweeps = [{"experiment": name, **composer.axes(name)} for name in named] or [{}]
    if not is_sweep and not any(len(axes) > 1 for axes in sweeps):
        return Sweep([composer.one(words)], 1)
    choices = [composer.choices(axes, further) for axes in sweeps]
    count = sum(prod(map(len, of_sweep)) for of_sweep in choices)
    if not count:
        raise ConfigError("this sweep has no experiments, and so there is nothing to compute")
    jobs = chain.from_iterable(product(*of_sweep) for of_sweep in choices)
    first = composer.one(next(jobs))
    rest = composer.each(jobs) if count <= most or first.values.get("yes") is True else []
    return Sweep([first, *rest], count)


def selection(sources: Sources, words: Sequence[str]) -> list[Experiment]:
    """Return the experiments that `pomrl run -m` with the same words would compute; ConfigError if one is wrong."""
    return list(map(parse, compose_sweep(sources, words).jobs))


def names(sources: Sources) -> list[str]:
    """Return the names of all sweeps of studies and of a folder of the user's own, in alphabetical order."""
    found = {path.stem for path in sources.own.glob("experiment/*.yaml")} if sources.own else set[str]()
    for folder in sources.studies:
        sweeps = {*sweep_names(folder)}
        found |= {f"{folder.name}/{sweep}" for sweep in sweeps} | (sweeps if folder == PAPER else set())
    return sorted(found)


def _composer(sources: Sources, named: Iterable[str] = ()) -> "Composer":
    """Return what composes configurations of sources, and of the studies whose sweeps are named."""
    from pomrl.configuration.composition import Composer  # here, because what is stored is found without Hydra

    for folder in named_folders(named):
        sources = sources.with_study(folder)
    return Composer.of_sources(sources)


def _varied_values(composed: Composed, axes: Iterable[str]) -> dict[str, Any]:
    """Return the value of each key: for a group the name of its option."""
    values: Any = composed.values
    return {key: composed.options.get(key) or reduce(getitem, key.split("."), values) for key in axes}


def command(name: str, *words: str) -> str:
    """Return the command that computes a sweep, with further words such as `runs=1000`."""
    return " ".join(["pomrl run", f"experiment={name}", *words])
