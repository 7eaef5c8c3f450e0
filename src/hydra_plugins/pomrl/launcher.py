"""Launch all jobs of a sweep together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus, configure_log, run_job
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict

DEFAULT_SUBDIR = "${hydra.job.num}"
"""The default of `hydra.sweep.subdir`, the name of a job's folder in a sweep's folder."""


@dataclass
class LauncherConfig:
    """The parameters of the launcher."""

    _target_: str = "hydra_plugins.pomrl.launcher.JointLauncher"
    job_folders: int = 200
    """The largest number of jobs with separate folders for `.hydra/`; `jobs.csv` always lists all jobs."""


ConfigStore.instance().store(group="hydra/launcher", name="pomrl", node=LauncherConfig, provider="pomrl")


class _Job(NamedTuple):  # no dataclass, because Hydra executes this module before it registers it
    number: int
    overrides: Sequence[str]
    composed: Any  # pomrl.configuration.composed.Composed
    experiment: Any  # pomrl.configuration.parsing.Experiment


class JointLauncher(Launcher):
    """A launcher with checks of all jobs before any computation.

    Experiments share random draws. If callbacks or folder names require it, Hydra then runs each job, which reads its
    stored runs.
    """

    def __init__(self, job_folders: int) -> None:
        self.job_folders = job_folders

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.context = hydra_context
        self.config: Any = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Compute the jobs; return their mean losses to an optimising sweeper."""
        from pomrl.commands.computing import compute, print_results, write_jobs
        from pomrl.configuration.composition import Composer
        from pomrl.configuration.parsing import parse
        from pomrl.store import signature

        composed = list(map(Composer.from_hydra(self.config.hydra).compose, job_overrides))
        experiments = [parse(job) for job in composed]
        numbers = range(initial_job_idx, initial_job_idx + len(composed))
        jobs = [*map(_Job, numbers, job_overrides, composed, experiments)]
        write_jobs(self.config.hydra, self._open_folder(), job_overrides, experiments, initial_job_idx)
        if len(jobs) <= self.job_folders and not self._needs_hydra:
            self._write_configurations(jobs)
        failures = compute(experiments)
        print_results(experiments, are_complete=not failures)
        return [self._finish(job, failures.get(signature(job.experiment))) for job in jobs]

    def _open_folder(self) -> Path:
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        with open_dict(self.config.hydra):
            self.config.hydra.runtime.output_dir = str(folder.absolute())
        configure_log(self.config.hydra.job_logging, self.config.hydra.verbose)
        return folder

    @property
    def _needs_hydra(self) -> bool:
        """Return whether Hydra must run jobs, for callbacks or folder names."""
        sweep = OmegaConf.to_container(self.config.hydra.sweep)
        return bool(self.config.hydra.callbacks) or cast(dict[str, Any], sweep)["subdir"] != DEFAULT_SUBDIR

    def _write_configurations(self, jobs: Sequence[_Job]) -> None:
        hydra = self.config.hydra
        for job in jobs if hydra.output_subdir is not None else ():
            folder = Path(hydra.sweep.dir, str(job.number), str(hydra.output_subdir))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "config.yaml").write_bytes(_to_yaml(dict(job.composed.values)))
            (folder / "overrides.yaml").write_bytes(_to_yaml(list(job.overrides)))

    def _finish(self, job: _Job, failure: Any) -> JobReturn:
        from pomrl.commands.computing import objective
        from pomrl.commands.errors import ReportedError

        if self._needs_hydra and not failure:
            return self._run_by_hydra(job)
        done = JobReturn(overrides=job.overrides, status=JobStatus.FAILED if failure else JobStatus.COMPLETED)
        is_searched = self.config.hydra.runtime.choices["hydra/sweeper"] != "pomrl"
        if failure:
            done.return_value = ReportedError(failure.reason)
        elif is_searched and not job.experiment.request.dry_run:
            done.return_value = objective(job.experiment)
        return done

    def _run_by_hydra(self, job: _Job) -> JobReturn:
        from pomrl.commands.computing import objective

        config = self.context.config_loader.load_sweep_config(self.config, list(job.overrides))
        with open_dict(config):
            config.hydra.job.id = config.hydra.job.num = job.number
        return run_job(
            hydra_context=self.context,
            task_function=lambda _: None if job.experiment.request.dry_run else objective(job.experiment),
            config=config,
            job_dir_key="hydra.sweep.dir",
            job_subdir_key="hydra.sweep.subdir",
        )


def _to_yaml(value: Any) -> bytes:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return cast(bytes, yaml.dump(value, Dumper=dumper, encoding="utf-8", sort_keys=False, default_flow_style=False))
