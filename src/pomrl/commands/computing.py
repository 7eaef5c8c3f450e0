"""The work of `pomrl run`: check, compute and report experiments."""

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from itertools import chain
from os import SEEK_END
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import env_override
from hydra.types import RunMode

from pomrl import store
from pomrl.commands.errors import ReportedError
from pomrl.commands.terminal import exit_with, print_frame, printable, progress, warn
from pomrl.configuration.composed import MAX_JOBS, ConfigError, number_of
from pomrl.configuration.importing import add_to_path
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.outputs import outputs
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.selection import load_requested
from pomrl.results.summaries import summarise
from pomrl.running.plan import PlannedExperiment, check_time_limit, estimate, estimate_new, plan
from pomrl.running.work import Failure, work

MEASURES = {
    "variance": "the largest variance of an entry over tasks",
    "std": "the largest standard deviation of an entry over tasks",
    "notebook": "the name of a concentration in the authors' notebook",
}
"""The meaning of sigma, by the setting `task_distribution.measure`."""

JOBS = "jobs.csv"
"""The file name of the table of jobs: number, signature, and overrides."""


MAX_PRINTED_EXPERIMENTS = 100
"""The largest number of experiments in a printed table."""


def print_results(experiments: Sequence[Experiment], have_failed: Sequence[bool]) -> None:
    """Print the mean losses of the requested runs, and the folder of each experiment."""
    pairs = list(zip(experiments, have_failed, strict=True))
    complete = [experiment for experiment, has_failed in pairs if not (has_failed or experiment.request.dry_run)]
    if complete:
        _print_means(complete)
    for experiment, has_failed in pairs:
        print(f"{store.lookup(experiment).folder}{' (failed)' * has_failed}")


def mean_loss(experiment: Experiment, failures: Mapping[str, Failure]) -> float | None:
    """Return the printed mean loss, for sweepers to minimise; None after a dry run.

    ReportedError: the experiment is among the failures, by signature.
    """
    if failure := failures.get(store.signature(experiment)):
        raise ReportedError(failure.reason)
    if experiment.request.dry_run:
        return None
    (result,) = load_requested([experiment]).results
    return float(result.per_run("planning_loss").mean())


@contextmanager
def launch_folder() -> Iterator[None]:
    """Use outputs and modules of the folder of the command despite `hydra.job.chdir`."""
    folder = Path(HydraConfig.get().runtime.cwd)
    if folder.resolve() == Path.cwd().resolve():
        yield
        return
    add_to_path(folder)
    with env_override({"POMRL_OUTPUTS": str(folder / outputs())}):
        yield


def estimate_large(examples: Sequence[Experiment], count: int) -> None:
    """Estimate the cost of a sweep from some of its experiments; ConfigError unless dry_run."""
    expected = estimate_new(examples, count)
    if not examples[0].request.dry_run:
        raise ConfigError(f"{expected}; set yes=true to compute more than {MAX_JOBS:,} experiments")
    warn(f"estimated from {number_of(len(examples), 'experiment')}, stored or not: {expected}")


def _print_means(experiments: Sequence[Experiment]) -> None:
    if len(experiments) <= MAX_PRINTED_EXPERIMENTS:
        print_frame(summarise(load_requested(experiments), statistics=["mean"]))
    interval = f"its {CONFIDENCE_PERCENT} % interval"
    warn(f"mean: planning loss at gamma_eval, with {interval}; see also pomrl table and pomrl plot")
    distributions = [
        experiment.problem.task_distribution for experiment in experiments if experiment.problem.sigma is not None
    ]
    if measures := {getattr(distribution, "measure", "") for distribution in distributions} & {*MEASURES}:
        for measure in sorted(measures):
            name = f"sigma as {measure}" if len(measures) > 1 else "sigma"
            warn(f"{name}: {MEASURES[measure]} (task_distribution.measure)")


def _check_shared_settings(experiments: Sequence[Experiment]) -> None:
    shared = [_shared_settings(experiment) for experiment in experiments]
    for key, value in shared[0].items():
        if other := [settings[key] for settings in shared if settings[key] != value]:
            raise ConfigError(f"{key} must have one value in a sweep, got {value} and {other[0]}")


def _shared_settings(experiment: Experiment) -> dict[str, Any]:
    fields = {f"execution.{name}": value for name, value in vars(experiment.execution).items()}
    request = {key: getattr(experiment.request, key) for key in ("force", "dry_run", "yes")}
    return {"execution": type(experiment.execution).__name__, **fields, **request}


def compute_all(experiments: Sequence[Experiment]) -> None:
    """Compute missing runs; exit with status 1 if an experiment fails."""
    if experiments and (failures := compute(check(experiments))):
        exit_with(f"{number_of(len(failures), 'experiment')} failed")


def check(experiments: Sequence[Experiment]) -> list[PlannedExperiment]:
    """Plan experiments before any is computed; ConfigError if one is invalid, or all take too long."""
    _check_shared_settings(experiments)
    jobs = plan(experiments)
    if not (experiments[0].request.dry_run or experiments[0].request.yes):
        check_time_limit(estimate(jobs))
    return jobs


def compute(jobs: Sequence[PlannedExperiment]) -> Mapping[str, Failure]:
    """Compute missing runs; return failures by signature."""
    request, expected = jobs[0].experiment.request, estimate(jobs)
    for note in dict.fromkeys(chain.from_iterable(job.experiment.notes for job in jobs)):
        warn(note)
    for fault in dict.fromkeys(chain.from_iterable(job.faults for job in jobs)):
        warn(f"{fault.partition('; ')[0]}; pomrl run repairs it")
    if request.dry_run:
        warn(str(expected))
        return {}
    if complete := sum(not job.missing for job in jobs):
        warn(f"{complete} of {number_of(len(jobs), 'experiment')} stored already; set force=true to compute again")
    with progress(expected.runs) as advance:
        failures = work(jobs, advance)
    if expected.runs:
        warn(expected.describe_workers())
    if failures:
        for line in "".join(dict.fromkeys(failure.where for failure in failures.values())).splitlines():
            print(line[: len(line) - len(line.lstrip())] + printable(line), file=sys.stderr)
        for experiment, settings in zip(jobs, _settings(jobs), strict=True):
            if failure := failures.get(experiment.stored.signature):
                what = f"{settings}: {failure.reason}" if settings else failure.reason
                warn(f"failed: {what}; {experiment.stored.folder / 'run.log'} has the traceback")
    return failures


def _settings(jobs: Sequence[PlannedExperiment]) -> list[str]:
    experiments = [job.experiment for job in jobs]
    described = [flat_settings(asked_settings(experiment), experiment.options) for experiment in experiments]
    keys = varying_keys(described)
    return [" ".join(f"{key.rpartition('.')[2]}={flat[key]}" for key in keys if key in flat) for flat in described]


def write_jobs(hydra: Any, jobs: Mapping[int, Sequence[str]], experiments: Sequence[Experiment]) -> None:
    """Append jobs, overrides by number, to `JOBS` of the run or sweep, unless `hydra.output_subdir` is null."""
    if hydra.output_subdir is None:
        return
    folder = hydra.sweep.dir if hydra.mode == RunMode.MULTIRUN else hydra.runtime.output_dir
    with Path(hydra.runtime.cwd, folder, JOBS).open("a", newline="", encoding="utf-8") as file:
        flock(file, LOCK_EX)  # launchers may run several jobs at once
        rows = csv.writer(file, lineterminator="\n")
        if file.seek(0, SEEK_END) == 0:
            rows.writerow(["job", "signature", "overrides"])
        for (number, overrides), experiment in zip(jobs.items(), experiments, strict=True):
            rows.writerow([number, store.signature(experiment), " ".join(overrides)])
