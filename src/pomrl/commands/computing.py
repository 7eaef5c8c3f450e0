"""The work of `pomrl run` after its command line has been composed: parse, check, compute, and report."""

import sys
from collections.abc import Mapping, Sequence

from pomrl import store
from pomrl.commands.errors import ReportedError
from pomrl.commands.progress import progress
from pomrl.commands.terminal import exit_with, print_frame, printable, warn
from pomrl.configuration.composed import MOST_JOBS, ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.results.chosen_runs import choose
from pomrl.results.summary_tables import summarise
from pomrl.running.plan import Job, estimate, plan, refuse_what_takes_long
from pomrl.running.work import Failure, work

MEASURES = {"variance": "variance", "std": "standard deviation"}
"""What sigma is of an entry over tasks, by the key `task_distribution.measure`."""

MOST_ROWS = 100
"""The most experiments whose mean losses a sweep prints, because nobody reads a longer table."""


def run(experiments: Sequence[Experiment]) -> Mapping[str, Failure]:
    """Compute experiments, and print the mean loss and the folder of each.

    Returns:
        The failures, by the signature of their experiment.

    Raises:
        ConfigError: An experiment cannot be computed.
    """
    failures = compute(experiments)
    if not failures and not experiments[0].request.dry_run:
        _print_means(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return failures


def run_one(experiment: Experiment) -> float | None:
    """Compute an experiment as `run` does, and return its `objective`; ReportedError if it fails."""
    for failure in run([experiment]).values():
        raise ReportedError(failure.reason)
    return None if experiment.request.dry_run else objective(experiment)


def objective(experiment: Experiment) -> float:
    """Return the mean loss of a stored experiment at gamma_eval, or at its largest gamma, over tasks and runs."""
    at_largest_gamma, _, _ = store.lookup(experiment).mean_losses(experiment.request.runs)
    return float(at_largest_gamma.mean())


def estimate_large(first: Experiment, count: int) -> None:
    """Print what a sweep takes by its first experiment; ConfigError unless that is all that is asked for."""
    of_sweep = estimate(plan([first]), count)
    if not first.request.dry_run:
        raise ConfigError(f"{of_sweep}; more than {MOST_JOBS:,} experiments are computed with yes=true")
    warn(f"estimated from the first experiment: {of_sweep}")


def _print_means(experiments: Sequence[Experiment]) -> None:
    if len(experiments) <= MOST_ROWS:
        of_sweep = choose([*dict.fromkeys(str(store.lookup(experiment).folder) for experiment in experiments)])
        print_frame(summarise(of_sweep, statistics=["mean"]), stderr=True)
    warn("mean: planning loss at gamma_eval, with its 95 % interval; pomrl table and pomrl plot show more")
    given = [of.problem.task_distribution for of in experiments if of.problem.sigma is not None]
    if measures := {getattr(distribution, "measure", "") for distribution in given} & {*MEASURES}:
        what = " or ".join(MEASURES[measure] for measure in sorted(measures))
        warn(f"sigma: the largest {what} of an entry over tasks, as task_distribution.measure says")


def _refuse_what_is_ignored(experiments: Sequence[Experiment]) -> None:
    """Refuse a sweep over settings that hold for all of its experiments together, with a ConfigError."""
    for key in ("execution", "force", "dry_run", "yes"):
        values = [of.execution if key == "execution" else getattr(of.request, key) for of in experiments]
        if any(value != values[0] for value in values):
            raise ConfigError(f"{key}: it holds for a sweep as a whole; give it one value")


def compute_all(experiments: Sequence[Experiment]) -> None:
    """Compute what the store lacks of experiments, which may be none, and exit with status 1 if one fails."""
    if experiments and compute(experiments):
        exit_with("not all experiments were computed")


def compute(experiments: Sequence[Experiment]) -> Mapping[str, Failure]:
    """Compute the runs that are not stored yet, and report on standard error; return the failures by signature."""
    _refuse_what_is_ignored(experiments)
    jobs = plan(experiments)
    request, wanted = experiments[0].request, estimate(jobs)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        warn(f"{fault.partition('; ')[0]}; pomrl run repairs it")
    if request.dry_run:
        warn(str(wanted))
        return {}
    if not request.yes:
        refuse_what_takes_long(wanted)
    if complete := sum(not job.missing for job in jobs):
        warn(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress(wanted.runs) as advance:
        failures = work(jobs, advance)
    if failures:
        for line in "".join(dict.fromkeys(failure.where for failure in failures.values())).splitlines():
            print(line[: len(line) - len(line.lstrip())] + printable(line), file=sys.stderr)
        for job, settings in zip(jobs, _settings(jobs), strict=True):
            if failure := failures.get(job.stored.signature):
                what = f"{settings}: {failure.reason}" if settings else failure.reason
                warn(f"failed: {what}; {job.stored.folder / 'run.log'} has the traceback")
    return failures


def _settings(jobs: Sequence[Job]) -> list[str]:
    """Return in words the settings of each job in which the jobs differ."""
    described = [flat_settings(asked_settings(job.experiment), job.experiment.options) for job in jobs]
    keys = varying_keys(described)
    return [" ".join(f"{key.rpartition('.')[2]}={job[key]}" for key in keys if key in job) for job in described]
