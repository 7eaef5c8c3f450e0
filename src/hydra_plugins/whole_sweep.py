"""Hydra's part in a sweep: a launcher that hands all jobs to the task function at once, as one list,
so that every job can be checked before the first starts and jobs that share a problem can share its draws.

With it goes a sweeper that is Hydra's basic one, but writes no file and composes each job once.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from pomrl.readings import Family, Reading, family


@dataclass
class LauncherConf:
    """The launcher's entry in Hydra's configuration."""

    _target_: str = "hydra_plugins.whole_sweep.WholeSweepLauncher"


@dataclass
class SweeperConf:
    """The sweeper's entry in Hydra's configuration."""

    _target_: str = "hydra_plugins.whole_sweep.WholeSweepSweeper"
    params: dict[str, Any] = field(default_factory=dict)
    """The axes of a published sweep."""
    readings: dict[str, Any] = field(default_factory=dict)
    """A family of readings of other published sweeps, in place of axes (`pomrl.readings`)."""


ConfigStore.instance().store(group="hydra/launcher", name="whole_sweep", node=LauncherConf, provider="pomrl")
ConfigStore.instance().store(group="hydra/sweeper", name="whole_sweep", node=SweeperConf, provider="pomrl")


class WholeSweepLauncher(Launcher):
    """Composes all jobs, and calls the task function once."""

    hydra_context: HydraContext
    task_function: TaskFunction
    config: DictConfig

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        configs: Any = compose_each(self.hydra_context.config_loader, self.config, job_overrides)
        result = JobReturn()
        result.return_value = self.task_function(configs)
        result.status = JobStatus.COMPLETED
        return [result]


class WholeSweepSweeper(BasicSweeper):
    """The product of all axes, in one batch; or the sweeps of a family of readings."""

    def __init__(self, params: dict[str, Any], readings: dict[str, Any]) -> None:
        super().__init__(max_batch_size=None, params=params)
        self.readings = readings

    def sweep(self, arguments: list[str]) -> Any:
        assert self.launcher is not None
        assert self.hydra_context is not None
        assert self.config is not None
        loader = self.hydra_context.config_loader
        if self.readings:
            jobs = reading_jobs(loader, self.config, family(self.readings), arguments)
            return self.launcher.launch(list(dict.fromkeys(job.overrides for job in jobs)), initial_job_idx=0)
        axes = [f"{key}={values}" for key, values in (self.params or {}).items()]
        return self.launcher.launch(product(loader, [*axes, *arguments]), initial_job_idx=0)


@dataclass(frozen=True)
class ReadingJob:
    """A job of a sweep under a reading: its overrides, and the keys that the sweep varies."""

    reading: Reading
    sweep: str
    overrides: tuple[str, ...]
    axes: tuple[str, ...]


def reading_jobs(
    loader: ConfigLoader, master: DictConfig, readings: Family, arguments: Sequence[str] = ()
) -> list[ReadingJob]:
    """Each job of each sweep of the family, under each reading."""
    further = [argument for argument in arguments if not argument.startswith("experiment=")]
    found = []
    for sweep in readings.sweeps:
        axes = loader.load_sweep_config(master, [f"experiment={sweep}"]).hydra.sweeper.params
        jobs = product(loader, [f"experiment={sweep}", *(f"{key}={values}" for key, values in axes.items()), *further])
        options = [options for _, options in compose_each(loader, master, jobs)]
        for reading in readings.readings:
            for job, of_job in zip(jobs, options, strict=True):
                overrides = _first_of_each_key([*job, *reading.overrides(of_job)])
                found.append(ReadingJob(reading, sweep, overrides, tuple(map(str, axes))))
    return found


def _first_of_each_key(overrides: Sequence[str]) -> tuple[str, ...]:
    """Each key as it is set first: what a sweep varies it varies, whatever a reading says of it."""
    first = {override.partition("=")[0]: override for override in reversed(overrides)}
    return tuple(reversed(first.values()))


def product(loader: ConfigLoader, overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each job of a sweep. A key that comes again narrows the axis that a published sweep has."""
    last = {override.partition("=")[0]: override for override in overrides}
    parsed = OverridesParser.create(loader).parse_overrides(list(last.values()))
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]


Composed = tuple[DictConfig, Mapping[str, str]]
"""A composed configuration, and the option that was chosen in each group."""


def compose_each(loader: ConfigLoader, master: DictConfig, jobs: Sequence[Sequence[str]]) -> list[Composed]:
    """The configuration of each job. Composing takes Hydra long: jobs that differ in values alone share it."""
    is_group = cache(lambda key: bool(loader.get_group_options(key)))
    load = cache(lambda options: _composed(loader.load_sweep_config(master, list(options))))
    return [_with_values(load, job, is_group) for job in jobs]


def _with_values(
    load: Callable[[tuple[str, ...]], Composed], job: Sequence[str], is_group: Callable[[str], bool]
) -> Composed:
    parsed = OverridesParser.create().parse_overrides(list(job))
    values = [override for override in parsed if _is_change(override) and not is_group(override.key_or_group)]
    shared, options = load(tuple(line for line, override in zip(job, parsed, strict=True) if override not in values))
    config = deepcopy(shared)
    try:
        for override in values:
            OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
    except OmegaConfBaseException:  # Hydra says better what is wrong
        return load(tuple(job))
    return config, options


def _is_change(override: Override) -> bool:
    return not (override.is_add() or override.is_force_add() or override.is_delete() or override.package)


def _composed(config: DictConfig) -> Composed:
    own = [str(key) for key in config if key != "hydra"]
    return OmegaConf.masked_copy(config, own), dict(config.hydra.runtime.choices)
