"""The published sweeps, `conf/experiment/*.yaml`: their experiments, and the tables that are stored of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pandas as pd
from hydra import compose
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hydra_plugins.whole_sweep import Composed, compose_each, product, reading_jobs
from pomrl import config, store
from pomrl.conf import Conf, Replacement, composing
from pomrl.config import ConfigError, Experiment
from pomrl.experiment import SCHEMA
from pomrl.readings import Reading, family


@dataclass(frozen=True)
class Setting:
    """One experiment of a sweep, and what it has of the settings that the sweep varies."""

    varied: dict[str, Any]
    experiment: Experiment


FAMILIES = ("environments", "readings")
"""Those that ask how far results depend on what the paper leaves open, and are no sweep of the paper's."""


def names(conf: Conf) -> list[str]:
    """The names of the published sweeps."""
    return sorted({path.stem for path in (conf.folder / "experiment").glob("*.yaml")} - set(FAMILIES))


def sweep(conf: Conf, name: str) -> list[Setting]:
    """The experiments of a sweep, in the order of its axes.

    With a replacement they vary as published, and have the option that stands in. ConfigError where it cannot.
    """
    with composing(conf) as loader:
        master = compose("config", [f"experiment={name}"], return_hydra_config=True)
        axes = master.hydra.sweeper.params or {}
        jobs = product(loader, [f"experiment={name}", *(f"{key}={values}" for key, values in axes.items())])
        composed = compose_each(loader, master, jobs)
        varied = [_varied(job, list(axes)) for job in composed]
        if conf.replacement:
            jobs = [_replaced(job, options, conf.replacement) for job, (_, options) in zip(jobs, composed, strict=True)]
        try:
            composed = compose_each(loader, master, jobs) if conf.replacement else composed
            experiments = [config.parse(*job) for job in composed]
        except (HydraException, OmegaConfBaseException, ConfigError) as error:
            raise ConfigError(f"{name}: {' '.join(str(error).split())}") from error
    return [Setting(*each) for each in zip(varied, experiments, strict=True)]


def command(conf: Conf, name: str, runs: int | None = None) -> str:
    """The command that computes what a sweep has beyond the published one, or all of it."""
    words = ["python -m src.run", f"experiment={name}"]
    if conf.own:
        words.insert(1, f"--config-dir {conf.own}")
    if (stands_in := conf.replacement) and name in _concerned(conf):
        words.append(f"{stands_in.group}={stands_in.new}")
    return " ".join([*words, *([f"runs={runs}"] if runs else [])])


@cache
def _concerned(conf: Conf) -> frozenset[str]:
    """The sweeps that have what is replaced."""
    ours = {name: sweep(conf.as_published, name) for name in names(conf)}
    return frozenset(
        name
        for name, settings in ours.items()
        if conf.replacement and any(conf.replacement.concerns(each.experiment.options) for each in settings)
    )


def _replaced(job: Sequence[str], options: Mapping[str, str], replacement: Replacement) -> list[str]:
    """The overrides of a job, with the option that stands in where it has the one that is replaced."""
    if not replacement.concerns(options):
        return list(job)
    others = [override for override in job if override.partition("=")[0] != replacement.group]
    return [*others, f"{replacement.group}={replacement.new}"]


def readings(conf: Conf) -> dict[Reading, dict[str, list[Setting]]]:
    """The family of readings: for each of them the experiments of each of its sweeps."""
    with composing(conf) as loader:
        master = compose("config", ["experiment=readings"], return_hydra_config=True)
        described: Any = OmegaConf.to_container(master.hydra.sweeper.readings)
        jobs = reading_jobs(loader, master, family(described))
        unique = list(dict.fromkeys((job.overrides, job.axes) for job in jobs))
        composed = compose_each(loader, master, [overrides for overrides, _ in unique])
        settings = {
            key: Setting(_varied(each, key[1]), config.parse(*each)) for key, each in zip(unique, composed, strict=True)
        }
    found: dict[Reading, dict[str, list[Setting]]] = {}
    for job in jobs:
        found.setdefault(job.reading, {}).setdefault(job.sweep, []).append(settings[job.overrides, job.axes])
    return found


def experiment(conf: Conf, overrides: Sequence[str]) -> Experiment:
    """The experiment that these overrides of the defaults describe."""
    with composing(conf):
        composed = compose("config", list(overrides), return_hydra_config=True)
        return config.parse(composed, composed.hydra.runtime.choices)


@dataclass(frozen=True)
class Tables:
    """What is stored of a sweep."""

    table: pd.DataFrame
    """In front of the columns of a run's table stand those of the settings that vary."""
    sources: list[dict[str, Any]]
    """For each experiment that is stored its signature, what it has of the settings that vary, the number of runs in
    the table, and the digest of each block of runs."""
    lacking: str
    """A line that says which runs are missing; empty where none is."""


def tables(settings: Sequence[Setting], runs: int) -> Tables:
    """All that is stored of these experiments, up to `runs` runs each."""
    parts, sources, lacking = [], [], []
    for setting in settings:
        run = store.run_of(setting.experiment)
        stored = min(runs, run.complete())
        if stored < runs:
            varied = ", ".join(f"{key}={value}" for key, value in setting.varied.items())
            lacking.append(f"{varied} has {stored}")
        if stored:
            table = store.load(setting.experiment, stored)
            parts.append(table.assign(**setting.varied)[[*setting.varied, *table.columns]])
            blocks = {block.name: block.sha256 for block in run.blocks() if block.runs.start < stored}
            sources.append({"signature": run.signature, **setting.varied, "runs": stored, "blocks": blocks})
    line = f"{len(lacking)} of {len(settings)} settings have fewer than {runs} runs ({lacking[0]})" if lacking else ""
    nothing = pd.DataFrame(columns=[*settings[0].varied, *SCHEMA])
    table = pd.concat(parts, ignore_index=True) if parts else nothing
    words = [key for key, value in settings[0].varied.items() if isinstance(value, str)]
    return Tables(table.astype(dict.fromkeys(words, "category")), sources, line)


def _varied(composed: Composed, varied: Sequence[str]) -> dict[str, Any]:
    settings, options = composed
    return {key: options[key] if key in options else OmegaConf.select(settings, key) for key in varied}
