"""The published sweeps, `conf/experiment/*.yaml`: their experiments, and the tables that are stored of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from hydra_plugins.whole_sweep import compose_each, product, reading_jobs
from pomrl import config, store
from pomrl.config import Experiment
from pomrl.experiment import SCHEMA
from pomrl.readings import Reading, family


@dataclass(frozen=True)
class Setting:
    """One experiment of a sweep, and what it has of the settings that the sweep varies."""

    varied: dict[str, Any]
    experiment: Experiment


FAMILIES = ("environments", "readings")
"""Those that ask how far results depend on what the paper leaves open, and are no sweep of the paper's."""


def names(conf: Path) -> list[str]:
    """The names of the published sweeps."""
    return sorted({path.stem for path in (conf / "experiment").glob("*.yaml")} - set(FAMILIES))


def sweep(conf: Path, name: str) -> list[Setting]:
    """The experiments of a published sweep, in the order of its axes."""
    with _composing(conf):
        master = compose("config", [f"experiment={name}"], return_hydra_config=True)
        axes = master.hydra.sweeper.params or {}
        loader = GlobalHydra.instance().config_loader()
        jobs = product(loader, [f"experiment={name}", *(f"{key}={values}" for key, values in axes.items())])
        composed = compose_each(loader, master, jobs)
        return [_setting(*job, list(axes)) for job in composed]


def readings(conf: Path) -> dict[Reading, dict[str, list[Setting]]]:
    """The family of readings: for each of them the experiments of each of its sweeps."""
    with _composing(conf):
        master = compose("config", ["experiment=readings"], return_hydra_config=True)
        loader = GlobalHydra.instance().config_loader()
        described: Any = OmegaConf.to_container(master.hydra.sweeper.readings)
        jobs = reading_jobs(loader, master, family(described))
        unique = list(dict.fromkeys((job.overrides, job.axes) for job in jobs))
        composed = compose_each(loader, master, [overrides for overrides, _ in unique])
        settings = {key: _setting(*each, key[1]) for key, each in zip(unique, composed, strict=True)}
    found: dict[Reading, dict[str, list[Setting]]] = {}
    for job in jobs:
        found.setdefault(job.reading, {}).setdefault(job.sweep, []).append(settings[job.overrides, job.axes])
    return found


def experiment(conf: Path, overrides: Sequence[str]) -> Experiment:
    """The experiment that these overrides of the defaults describe."""
    with _composing(conf):
        composed = compose("config", list(overrides), return_hydra_config=True)
        return config.parse(composed, composed.hydra.runtime.choices)


def _composing(conf: Path) -> initialize_config_dir:
    config.register_resolvers()
    return initialize_config_dir(str(conf.resolve()), version_base="1.3")


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


def _setting(composed: DictConfig, options: Mapping[str, str], varied: Sequence[str]) -> Setting:
    values = {key: options[key] if key in options else OmegaConf.select(composed, key) for key in varied}
    return Setting(values, config.parse(composed, options))
