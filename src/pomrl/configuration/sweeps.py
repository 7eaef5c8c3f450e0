"""Sweeps by name: their experiments, as published or under a variant, and the commands that compute them."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from itertools import product
from operator import getitem
from typing import Any

from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import OmegaConfBaseException

from pomrl.configuration.composed import Composed, ConfigError
from pomrl.configuration.composition import Composer, missing_option
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.sources import Sources
from pomrl.configuration.study_sweeps import has_short_names
from pomrl.configuration.variants import Job, Variant


@dataclass(frozen=True)
class Setting:
    """One experiment of a sweep, and its values of the keys that the sweep varies."""

    varied: dict[str, Any]
    experiment: Experiment


Axes = Mapping[str, Any]
"""The axes of a sweep: for each key its values, separated by commas."""


def experiment(sources: Sources, overrides: Sequence[str]) -> Experiment:
    """Return the experiment that these overrides of the defaults describe; ConfigError where it is wrong."""
    return parse(Composer.of_sources(sources).one(overrides))


def sweep(
    sources: Sources, name: str, variant: Variant | None = None, axes: Axes | None = None, further: Sequence[str] = ()
) -> list[Setting]:
    """Return the experiments of a sweep, in the order of its axes.

    Args:
        sources: Where the configurations come from.
        name: The sweep, as in `experiment=NAME`.
        variant: Under which the experiments are computed; `varied` is as published all the same.
        axes: The axes of a sweep without a file, which the name then only stands for.
        further: Further overrides of all settings.

    Raises:
        ConfigError: There is no such sweep, or a setting is wrong. Under a variant this may be so because the variant
            has no meaning in the sweep.
    """
    composer = Composer.of_sources(sources)
    with _named(sources, name if axes is None else None, f"{name}, variant {variant.name}" if variant else name):
        keys, published = composer.sweep(name) if axes is None else composer.product(axes, ())
        jobs = [[*job, *further] for job in published]
        composed = composer.each(jobs)
        varied = [_varied(each, keys) for each in composed]
        if variant:
            of_jobs = zip(jobs, composed, strict=True)
            changed = [
                list(variant.change(Job(name.rpartition("/")[2], tuple(job), each.options))) for job, each in of_jobs
            ]
            composed = composed if changed == jobs else composer.each(changed)
        return [Setting(*each) for each in zip(varied, map(parse, composed), strict=True)]


@contextmanager
def _named(sources: Sources, name: str | None, what: str) -> Generator[None, None, None]:
    """Name the sweep in an error of what is composed in this context; name the nearest ones if there is none."""
    try:
        yield
    except (HydraException, OmegaConfBaseException, ConfigError) as error:
        if name is not None and name not in (known := names(sources)):
            there = ", ".join(get_close_matches(name, known) or known)
            raise ConfigError(f"there is no sweep {name!r}; there is {there}") from error
        words = missing_option(error) if isinstance(error, MissingConfigException) else " ".join(str(error).split())
        raise ConfigError(f"{what}: {words}") from error


def names(sources: Sources) -> list[str]:
    """Return the names of all sweeps of studies and of a folder of the user's own, in alphabetical order."""
    of_studies = {f"{folder.name}/{path.stem}" for folder in sources.studies for path in folder.glob("sweeps/*.yaml")}
    own = {path.stem for path in sources.own.glob("experiment/*.yaml")} if sources.own else set[str]()
    return sorted({*of_studies, *own, *_short_names(sources)})


def _short_names(sources: Sources) -> list[str]:
    folders = (folder for folder in sources.studies if has_short_names(str(folder)))
    return [path.stem for folder in folders for path in folder.glob("sweeps/*.yaml")]


def settings_of(sources: Sources, arguments: Sequence[str], name: str | None = None) -> list[Setting]:
    """Return the experiments that overrides describe, of which some may have several values, as in `sigma=0.01,0.02`.

    Args:
        sources: The folders that they are composed from.
        arguments: The overrides. Each combination of their values is an experiment.
        name: A sweep to which the arguments are added: one with the key of an axis of the sweep replaces it.

    Raises:
        ConfigError: An experiment is wrong.
    """
    composer = Composer.of_sources(sources)
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


def _varied(composed: Composed, axes: Sequence[str]) -> dict[str, Any]:
    """Return the value of each key: for a group the name of its option."""
    values: Any = composed.values
    return {key: composed.options.get(key) or reduce(getitem, key.split("."), values) for key in axes}


def command(name: str, *words: str) -> str:
    """Return the command that computes a sweep, with further words such as `runs=1000`."""
    return " ".join(["pomrl run", f"experiment={name}", *words])
