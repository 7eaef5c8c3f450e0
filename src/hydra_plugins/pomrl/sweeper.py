"""Sweep a product of axes for each experiment of `experiment=a,b`."""

from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf


@dataclass
class SweeperConfig:
    """The parameters of the sweeper."""

    _target_: str = "hydra_plugins.pomrl.sweeper.ProductSweeper"
    params: dict[str, str] | None = None
    """The axes: the values of each key, separated by commas."""


MAX_EXAMPLES = 20
"""The largest number of jobs from which the work of many is estimated."""

ConfigStore.instance().store(group="hydra/sweeper", name="pomrl", node=SweeperConfig, provider="pomrl")


class ProductSweeper(Sweeper):
    """A sweeper with a single launch for all jobs."""

    def __init__(self, params: dict[str, str] | None = None) -> None:
        self.params = params

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.config: Any = config
        self.launcher: Any = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Sequence[JobReturn]:
        """Launch the jobs; if there are too many, only print an estimate."""
        from pomrl.commands.errors import JobError

        try:
            jobs = self._jobs(arguments)
            self._write_configuration()
            returned = self.launcher.launch(jobs, initial_job_idx=0) if jobs else []
            with redirect_stderr(StringIO()):  # hides a message of Hydra
                for job in returned:
                    _ = job.return_value  # raises the error of the job
        except Exception as error:
            raise JobError from error
        return returned

    def _jobs(self, overrides: list[str]) -> list[list[str]]:
        """Return each job's overrides; none if an estimate is printed."""
        from pomrl.commands.computing import estimate_large
        from pomrl.configuration.composed import MAX_JOBS
        from pomrl.configuration.composition import Composer
        from pomrl.configuration.parsing import parse
        from pomrl.configuration.sweeps import expand

        composer = Composer.from_hydra(self.config.hydra)
        choices = expand(composer, overrides, self.params)
        count = sum(prod(map(len, axes)) for axes in choices)
        if count > MAX_JOBS:
            examples = [parse(composer.compose(job)) for job in _spread(choices, count)]
            if not examples[0].request.yes:
                estimate_large(examples, count)
                return []
        return [list(job) for job in chain.from_iterable(product(*axes) for axes in choices)]

    def _write_configuration(self) -> None:
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")


def _spread(choices: Sequence[Sequence[Sequence[str]]], count: int) -> list[list[str]]:
    """Return the overrides of evenly spaced jobs, of `count` products of axes."""
    n_examples = min(MAX_EXAMPLES, count)
    return [_job_at(choices, index * count // n_examples) for index in range(n_examples)]


def _job_at(choices: Sequence[Sequence[Sequence[str]]], index: int) -> list[str]:
    """Return the overrides of a job, by its position in the products of axes."""
    overrides: list[str] = []
    for axes in choices:
        size = prod(map(len, axes))
        if index < size:
            for axis in reversed(axes):
                index, digit = divmod(index, len(axis))
                overrides.insert(0, axis[digit])
            return overrides
        index -= size
    raise IndexError(index)
