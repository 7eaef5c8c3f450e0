"""The published sweeps, `conf/experiment/*.yaml`: their experiments, and the commands that compute them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, reduce
from itertools import product
from operator import getitem
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException

from pomrl.configuration.composed import Composed, ConfigError
from pomrl.configuration.composition import Composer, missing_option
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.readings import Reading, family
from pomrl.configuration.sources import Replacement, Sources

FAMILIES = ("environments", "readings")
"""Sweeps that ask how far the results depend on what the paper leaves open; the paper has no figure of them."""

BEYOND = (
    "horizon_or_prior", "wrong_priors", "known_law", "streams", "unequal_data", "online_collection", "unknown_rewards",
    "long_streams", "families", "families_schedules",
)  # fmt: skip
"""Sweeps that go beyond the paper, which `./reproduce.sh beyond` computes, and the main job does not."""

LEDGER = "notebook_ledger"
"""The family of differences between the paper's text and the authors' notebook."""


@dataclass(frozen=True)
class Setting:
    """One experiment of a sweep, and its values of the keys that the sweep varies."""

    varied: dict[str, Any]
    experiment: Experiment


def names(sources: Sources) -> list[str]:
    """Return the names of the published sweeps, in alphabetical order."""
    return sorted({path.stem for path in (sources.folder / "experiment").glob("*.yaml")} - {*FAMILIES, LEDGER})


def of_the_paper(sources: Sources) -> list[str]:
    """Return the names of the published sweeps that do not go beyond the paper, in alphabetical order."""
    return [name for name in names(sources) if name not in BEYOND]


def experiment(sources: Sources, overrides: Sequence[str]) -> Experiment:
    """Return the experiment that these overrides of the defaults describe; ConfigError where it is wrong."""
    return parse(Composer(sources.folders).one(overrides))


def sweep(sources: Sources, name: str, further: Sequence[str] = ()) -> list[Setting]:
    """Return the experiments of a published sweep, in the order of its axes.

    With a replacement, `varied` is as published and the experiments have the new option.

    Args:
        sources: Where the configurations come from.
        name: The sweep.
        further: Further overrides of all settings.

    Raises:
        ConfigError: There is no such sweep, or a setting is wrong. With a replacement this may be so because the new
            option lacks a key that the sweep varies.
    """
    composer = Composer(sources.folders)
    try:
        axes, published = composer.sweep(name)
        jobs = [[*job, *further] for job in published]
        composed = composer.each(jobs)
        varied = [_varied(each, axes) for each in composed]
        if sources.replacement:
            of_jobs = zip(jobs, composed, strict=True)
            composed = composer.each([_replaced(job, of_job.options, sources.replacement) for job, of_job in of_jobs])
        experiments = [parse(each) for each in composed]
    except (HydraException, OmegaConfBaseException, ConfigError) as error:
        _refuse_unknown(sources, name)
        raise ConfigError(f"{name}: {' '.join(str(error).split())}") from error
    return [Setting(*each) for each in zip(varied, experiments, strict=True)]


def _refuse_unknown(sources: Sources, name: str) -> None:
    """Raise a ConfigError with the nearest names if no folder has a sweep of this name."""
    known = sorted({path.stem for folder in sources.folders for path in (folder / "experiment").glob("*.yaml")})
    if name not in known:
        there = ", ".join(get_close_matches(name, known) or known)
        raise ConfigError(f"there is no sweep {name!r} in {' or '.join(map(str, sources.folders))}; there is {there}")


def settings_of(sources: Sources, arguments: Sequence[str], name: str | None = None) -> list[Setting]:
    """Return the experiments that overrides describe, of which some may have several values, as in `sigma=0.01,0.02`.

    Args:
        sources: The folders that they are composed from.
        arguments: The overrides. Each combination of their values is an experiment.
        name: A published sweep, or one of the user's own, to which the arguments are added: one with the key of an axis
            of the sweep replaces it.

    Raises:
        ConfigError: An experiment is wrong.
    """
    composer = Composer(sources.folders)
    try:
        several = [each.get_key_element() for each in composer.parsed(arguments) if each.is_sweep_override()]
        if name:
            axes, jobs = composer.sweep(name, arguments)
        else:
            axes, jobs = [], list(map(list, product(*composer.choices({}, arguments))))
        composed = composer.each(jobs)
    except MissingConfigException as error:
        raise ConfigError(missing_option(error)) from error
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(" ".join(str(error).split())) from error
    varied = list(dict.fromkeys([*axes, *several]))
    return [Setting(_varied(each, varied), parse(each)) for each in composed]


def _replaced(job: Sequence[str], options: Mapping[str, str], replacement: Replacement) -> Sequence[str]:
    """Return the overrides of a job with these options, with the new option if it has the one that is replaced."""
    if not replacement.concerns(options):
        return job
    others = [override for override in job if override.partition("=")[0] != replacement.group]
    return [*others, f"{replacement.group}={replacement.new}"]


def _varied(composed: Composed, axes: Sequence[str]) -> dict[str, Any]:
    """Return the value of each key: for a group the name of its option."""
    values: Any = composed.values
    return {key: composed.options.get(key) or reduce(getitem, key.split("."), values) for key in axes}


def readings(sources: Sources, name: str = "readings") -> dict[Reading, dict[str, list[Setting]]]:
    """Return a published family of readings: for each reading the experiments of each of its sweeps."""
    composer = Composer(sources.folders)
    jobs = composer.reading_jobs(family(composer.readings(name)))
    distinct = list(dict.fromkeys((job.overrides, job.axes) for job in jobs))
    composed = composer.each([overrides for overrides, _ in distinct])
    settings = {key: Setting(_varied(each, key[1]), parse(each)) for key, each in zip(distinct, composed, strict=True)}
    of_reading: dict[Reading, dict[str, list[Setting]]] = {}
    for job in jobs:
        of_reading.setdefault(job.reading, {}).setdefault(job.sweep, []).append(settings[job.overrides, job.axes])
    return of_reading


def command(sources: Sources, name: str, runs: int | None = None) -> str:
    """Return the command that computes a published sweep.

    Args:
        sources: With a replacement, the command computes the sweep with the new option alone.
        name: The sweep.
        runs: The number of runs; by default the one that the sweep has in its YAML file.
    """
    words = ["python -m src.run"]
    if sources.own:
        words.append(f"--config-dir {sources.own}")
    words.append(f"experiment={name}")
    if sources.replacement and _concerns(sources.replacement, sources.as_published, name):
        words.append(f"{sources.replacement.group}={sources.replacement.new}")
    return " ".join([*words, *([f"runs={runs}"] if runs else [])])


@cache
def _concerns(replacement: Replacement, published: Sources, name: str) -> bool:
    """Return whether an experiment of a published sweep has the option that is replaced."""
    return any(replacement.concerns(setting.experiment.options) for setting in sweep(published, name))
