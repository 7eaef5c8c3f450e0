"""A Hydra launcher that hands all jobs of a sweep to the task function at once, as a list of configurations.

So every job can be checked before the first starts, and jobs that share a problem can share its draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


@dataclass
class WholeSweepConf:
    """The launcher's entry in Hydra's configuration."""

    _target_: str = "hydra_plugins.whole_sweep_launcher.WholeSweepLauncher"


ConfigStore.instance().store(group="hydra/launcher", name="whole_sweep", node=WholeSweepConf, provider="pomrl")


class WholeSweepLauncher(Launcher):
    """Composes all jobs, and calls the task function once."""

    hydra_context: HydraContext
    task_function: TaskFunction
    config: DictConfig

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        self._remove_what_the_sweeper_wrote()
        loader = self.hydra_context.config_loader
        configs: Any = [loader.load_sweep_config(self.config, list(overrides)) for overrides in job_overrides]
        result = JobReturn(overrides=[override for overrides in job_overrides for override in overrides])
        result.return_value = self.task_function(configs)
        result.status = JobStatus.COMPLETED
        return [result]

    def _remove_what_the_sweeper_wrote(self) -> None:
        folder = Path(self.config.hydra.sweep.dir)
        (folder / "multirun.yaml").unlink(missing_ok=True)
        for empty in (folder, folder.parent):
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
