"""A sweeper for Hydra that treats a sweep as a whole.

It hands all jobs to the task function at once, as one list: every job can be checked before the first one starts, and
jobs that share a problem can share its draws. It writes no file. Hydra imports every plugin in each of its
applications; so that this one costs them nothing, all of ours is imported inside functions.
"""

from collections.abc import Mapping
from typing import Any

from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class WholeSweepSweeper(Sweeper):
    """Calls the task function once, with all combinations of the values of the axes.

    Args:
        params: The axes of a published sweep: for each key its values, separated by commas.
    """

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Take from Hydra what `sweep` needs; Hydra calls it first."""
        from pomrl.configuration.composition import Composer

        search_path = hydra_context.config_loader.get_search_path()
        self.composer = Composer(search_path, config.hydra.job.config_name)
        self.task_function = task_function

    def sweep(self, arguments: list[str]) -> None:
        """Compose the jobs that the command line and the published sweep describe, and hand them over together."""
        from pomrl.configuration.jobs import sweep

        self.task_function(sweep(self.composer, self.params, arguments))  # type: ignore[arg-type]
