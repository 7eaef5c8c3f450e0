"""Hydra's part in a sweep: a launcher that hands all jobs to the task function at once, as a list of configurations,
so that every job can be checked before the first starts and jobs that share a problem can share its draws.

With it goes a sweeper that is Hydra's basic one, but writes no file and composes each job once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


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
        loader = self.hydra_context.config_loader
        configs: Any = [loader.load_sweep_config(self.config, list(overrides)) for overrides in job_overrides]
        result = JobReturn()
        result.return_value = self.task_function(configs)
        result.status = JobStatus.COMPLETED
        return [result]


class WholeSweepSweeper(BasicSweeper):
    """The product of all axes, in one batch."""

    def __init__(self, params: dict[str, Any]) -> None:
        super().__init__(max_batch_size=None, params=params)

    def sweep(self, arguments: list[str]) -> Any:
        assert self.launcher is not None
        jobs = product([*(f"{key}={values}" for key, values in (self.params or {}).items()), *arguments])
        return self.launcher.launch(jobs, initial_job_idx=0)


def product(overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each job of a sweep. A key that comes again narrows the axis that a published sweep has."""
    last = {override.partition("=")[0]: override for override in overrides}
    parsed = OverridesParser.create().parse_overrides(list(last.values()))
    return [list(job) for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]
