"""Launch all jobs of a sweep together, or one at a time if they use features of Hydra for single jobs."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus, configure_log, env_override, filter_overrides, run_job
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
    config: Any
    """The values by key, with the node `hydra`: a DictConfig of Hydra, or a mapping."""
    experiment: Any  # pomrl.configuration.parsing.Experiment


class JointLauncher(Launcher):
    """A launcher with checks of all jobs before any computation.

    Jobs are computed together and share random draws. If they have callbacks, an environment or working folders of
    their own, or use the node `hydra`, Hydra runs them one at a time.
    """

    def __init__(self, job_folders: int) -> None:
        self.job_folders = job_folders

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.context = hydra_context
        self.config: Any = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Compute the jobs; return their mean losses.

        An invalid job of a search fails alone, as a trial. In a sweep it raises a ConfigError before any is computed.
        """
        from pomrl.configuration.composed import ConfigError

        try:
            return self._launch(job_overrides, initial_job_idx)
        except ConfigError as error:
            if not self._is_search:
                raise
            if len(job_overrides) == 1:
                return [JobReturn(overrides=job_overrides[0], status=JobStatus.FAILED, _return_value=error)]
            numbered_jobs = enumerate(job_overrides, initial_job_idx)
            return [returned for number, job in numbered_jobs for returned in self.launch([job], number)]

    def _launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        from pomrl.commands.computing import check, print_results, write_jobs
        from pomrl.configuration.composed import ConfigError
        from pomrl.configuration.composition import Composer

        if not job_overrides:
            raise ConfigError("the sweep has no jobs; each axis must have values")
        hydra = self.config.hydra
        numbered = dict(enumerate(map(list, job_overrides), initial_job_idx))
        self._log(numbered)
        composer = Composer.from_hydra(hydra)
        by_hydra = bool(hydra.callbacks or hydra.job.env_set or hydra.job.chdir)
        sweep_lines: Any = OmegaConf.to_container(hydra.overrides.task)  # unresolved
        by_hydra |= any(composer.depends_on_hydra(job_lines, sweep_lines) for job_lines in numbered.values())
        jobs = [*(self._composed_by_hydra(numbered) if by_hydra else self._composed(composer, numbered))]
        experiments = [job.experiment for job in jobs]
        planned_work = check(experiments)
        folders = self._make_folders(jobs)
        write_jobs(hydra, numbered, experiments)
        try:
            returned = self._run_each(jobs) if by_hydra else self._run_together(jobs, planned_work, folders)
            print_results(experiments, [job.status is JobStatus.FAILED for job in returned])
        finally:
            configure_log(hydra.hydra_logging, hydra.verbose)
        return returned

    @property
    def _is_search(self) -> bool:
        """Return whether another sweeper than ours uses the results."""
        return self.config.hydra.runtime.choices["hydra/sweeper"] != "pomrl"

    def _log(self, jobs: Mapping[int, Sequence[str]]) -> None:
        """Log the jobs as Hydra's basic launcher does; `hydra_logging=brief` omits our sweeper's jobs."""
        log = logging.getLogger(__name__ if self._is_search else "pomrl.sweep")
        log.info("Launching %d jobs locally", len(jobs))
        for number, overrides in jobs.items():
            log.info("\t#%d : %s", number, " ".join(filter_overrides(overrides)))

    def _composed(self, composer: Any, jobs: Mapping[int, list[str]]) -> Iterator[_Job]:
        from pomrl.configuration.parsing import parse

        shared: Any = OmegaConf.to_container(self.config.hydra, enum_to_str=True)
        choices = shared["runtime"]["choices"].items()
        kept_choices = {group: option for group, option in choices if option is None or group.startswith("hydra")}
        for number, overrides in jobs.items():
            composed = composer.compose(overrides)
            dirname = composer.override_dirname(overrides, self.config.hydra.job.config.override_dirname)
            hydra = _updated(
                shared,
                overrides={"task": overrides},
                job={"num": number, "id": str(number), "override_dirname": dirname},
                runtime={"choices": kept_choices | dict(composed.options)},
            )
            yield _Job({**composed.values, "hydra": hydra}, parse(composed))

    def _composed_by_hydra(self, jobs: Mapping[int, list[str]]) -> Iterator[_Job]:
        from pomrl.configuration.composition import to_composed
        from pomrl.configuration.parsing import parse

        for number, overrides in jobs.items():
            config: Any = self.context.config_loader.load_sweep_config(self.config, overrides)
            with open_dict(config):
                config.hydra.job.id = config.hydra.job.num = number
            with _hydra_config(config), env_override(config.hydra.job.env_set):
                yield _Job(config, parse(to_composed(config, config.hydra)))

    def _make_folders(self, jobs: Sequence[_Job]) -> list[Path]:
        """Make the folders of the sweep and its jobs, before anything is computed; none for many jobs."""
        sweep = self.config.hydra.sweep
        Path(sweep.dir).mkdir(parents=True, exist_ok=True)
        if len(jobs) > self.job_folders and cast(Any, OmegaConf.to_container(sweep))["subdir"] == DEFAULT_SUBDIR:
            return []
        folders = [Path(sweep.dir, _subdir(job.config)) for job in jobs]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        return folders

    def _run_together(self, jobs: Sequence[_Job], planned_work: Any, folders: Sequence[Path]) -> list[JobReturn]:
        from pomrl.commands.computing import compute

        hydra = self.config.hydra
        with open_dict(hydra):
            hydra.runtime.output_dir = str(Path(hydra.sweep.dir).absolute())
        configure_log(hydra.job_logging, hydra.verbose)
        if hydra.output_subdir is not None:
            for job, folder in zip(jobs, folders, strict=False):  # many jobs have no folders
                _write_configuration(job.config, folder / str(hydra.output_subdir))
        failures = compute(planned_work)
        return [_job_return(job, failures, has_value=self._is_search) for job in jobs]

    def _run_each(self, jobs: Sequence[_Job]) -> list[JobReturn]:
        return [
            run_job(
                hydra_context=self.context,
                task_function=partial(_compute_alone, job.experiment),
                config=job.config,
                job_dir_key="hydra.sweep.dir",
                job_subdir_key="hydra.sweep.subdir",
            )
            for job in jobs
        ]


def _updated(hydra: Mapping[str, Any], **nodes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy with updated nodes."""
    return {**hydra, **{name: {**hydra[name], **values} for name, values in nodes.items()}}


def _subdir(config: Any) -> str:
    """Return the name of a job's folder; ConfigError if it cannot be resolved."""
    from pomrl.configuration.composition_errors import composing

    if isinstance(config, dict) and config["hydra"]["sweep"]["subdir"] == DEFAULT_SUBDIR:
        return config["hydra"]["job"]["id"]  # fast
    composed = OmegaConf.create(config)
    with _hydra_config(composed), composing():
        return str(OmegaConf.select(composed, "hydra.sweep.subdir"))


@contextmanager
def _hydra_config(config: Any) -> Iterator[None]:
    """Resolve `${hydra:...}` by the node `hydra` of a job."""
    instance = HydraConfig.instance()
    other, instance.cfg = instance.cfg, config
    try:
        yield
    finally:
        instance.cfg = other


def _write_configuration(config: Mapping[str, Any], folder: Path) -> None:
    """Write the files of `.hydra/`, as Hydra does for a single job."""
    hydra = _updated(config["hydra"], runtime={"output_dir": str(folder.parent.absolute())})
    values = {key: value for key, value in config.items() if key != "hydra"}
    folder.mkdir(parents=True, exist_ok=True)
    files = {"config": values, "hydra": {"hydra": hydra}, "overrides": hydra["overrides"]["task"]}
    for name, value in files.items():
        (folder / f"{name}.yaml").write_bytes(_to_yaml(value))


def _to_yaml(value: Any) -> bytes:
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return cast(bytes, yaml.dump(value, Dumper=dumper, encoding="utf-8", sort_keys=False, default_flow_style=False))


def _compute_alone(experiment: Any, _: DictConfig) -> float | None:
    from pomrl.commands.computing import check, compute, launch_folder, mean_loss

    with launch_folder():
        return mean_loss(experiment, compute(check([experiment])))


def _job_return(job: _Job, failures: Mapping[str, Any], *, has_value: bool) -> JobReturn:
    """Describe a finished job; its mean loss takes time to read."""
    from pomrl.commands.computing import mean_loss
    from pomrl.commands.errors import ReportedError

    overrides = job.config["hydra"]["overrides"]["task"]
    try:
        value = mean_loss(job.experiment, failures) if failures or has_value else None
    except ReportedError as error:
        return JobReturn(overrides=overrides, status=JobStatus.FAILED, _return_value=error)
    return JobReturn(overrides=overrides, status=JobStatus.COMPLETED, _return_value=value)
