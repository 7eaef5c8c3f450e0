"""The work of `pomrl run`: check, compute and report experiments."""

import csv
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pomrl import store
from pomrl.commands.terminal import exit_with, print_frame, printable, progress, warn
from pomrl.configuration.composed import MAX_JOBS, ConfigError, number_of
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.selection import load_requested
from pomrl.results.summaries import summarise
from pomrl.running.plan import PlannedExperiment, check_time_limit, estimate, plan
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


def print_results(experiments: Sequence[Experiment], *, are_complete: bool) -> None:
    """Print the folders of experiments, and mean losses if complete."""
    if are_complete and not experiments[0].request.dry_run:
        _print_means(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)


def objective(experiment: Experiment) -> float:
    """Return the mean loss of an experiment at its largest gamma."""
    at_largest_gamma, _, _ = store.lookup(experiment).mean_losses(experiment.request.runs)
    return float(at_largest_gamma.mean())


def estimate_large(first: Experiment, count: int) -> None:
    """Estimate the cost of a sweep from its first experiment; ConfigError unless dry_run."""
    expected = estimate(plan([first]), count)
    if not first.request.dry_run:
        raise ConfigError(f"{expected}; set yes=true to compute more than {MAX_JOBS:,} experiments")
    warn(f"estimated from the first experiment: {expected}")


def _print_means(experiments: Sequence[Experiment]) -> None:
    if len(experiments) <= MAX_PRINTED_EXPERIMENTS:
        print_frame(summarise(load_requested(experiments), statistics=["mean"]), stderr=True)
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
    if experiments and (failures := compute(experiments)):
        exit_with(f"{number_of(len(failures), 'experiment')} failed")


def compute(experiments: Sequence[Experiment]) -> Mapping[str, Failure]:
    """Compute missing runs; return failures by signature."""
    _check_shared_settings(experiments)
    jobs = plan(experiments)
    request, expected = experiments[0].request, estimate(jobs)
    for note in dict.fromkeys(chain.from_iterable(experiment.notes for experiment in experiments)):
        warn(note)
    for fault in dict.fromkeys(chain.from_iterable(job.faults for job in jobs)):
        warn(f"{fault.partition('; ')[0]}; pomrl run repairs it")
    if request.dry_run:
        warn(str(expected))
        return {}
    if not request.yes:
        check_time_limit(expected)
    if complete := sum(not job.missing for job in jobs):
        warn(f"{complete} of {number_of(len(jobs), 'experiment')} stored already; set force=true to compute again")
    with progress(expected.runs) as advance:
        failures = work(jobs, advance)
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


def write_jobs(
    hydra: Any, folder: Path, jobs: Sequence[Sequence[str]], experiments: Sequence[Experiment], first: int = 0
) -> None:
    """Append jobs to `JOBS`, unless `hydra.output_subdir` is null.

    Job i has the overrides `jobs[i]`, and the number `first` + i.
    """
    if hydra.output_subdir is None:
        return
    is_new = not (folder / JOBS).exists()
    with (folder / JOBS).open("a", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        if is_new:
            rows.writerow(["job", "signature", "overrides"])
        for number, (overrides, experiment) in enumerate(zip(jobs, experiments, strict=True), first):
            rows.writerow([number, store.signature(experiment), " ".join(overrides)])
