"""The work of `pomrl run` after its command line has been composed: parse, check, compute, and report."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pandas as pd
from rich.table import Table

from pomrl import store
from pomrl.commands.progress import progress_of
from pomrl.commands.tables import of_frame
from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import ConfigError, Sweep
from pomrl.configuration.jobs import MOST_JOBS
from pomrl.configuration.parsing import Experiment, parse
from pomrl.configuration.settings import asked_settings, flat_settings, varying_keys
from pomrl.results.losses import Losses
from pomrl.running.plan import Job, estimate, plan, refuse_what_takes_long
from pomrl.running.work import work
from pomrl.store import StoreError

MOST_ROWS = 100
"""The most rows of a table that is printed; with more, people no longer read it."""


def run(sweep: Sweep) -> bool:
    """Compute the experiments of a sweep, print the folder of each; return whether all of them succeeded.

    Of a sweep of which the first job alone was composed, because it is large, only an estimate is printed.

    Raises:
        ConfigError: An experiment cannot be computed, or the sweep is too large.
    """
    experiments = [parse(composed) for composed in sweep.jobs]
    if len(experiments) < sweep.count:
        of_sweep = estimate(plan(experiments), sweep.count)
        if not experiments[0].request.dry_run:
            raise ConfigError(f"{of_sweep}; more than {MOST_JOBS:,} jobs are computed with yes=true")
        warn(f"estimated from the first job: {of_sweep}")
        return True
    succeeded = compute(experiments)
    if len(experiments) > 1 and succeeded and not experiments[0].request.dry_run:
        warn("pomrl plot and pomrl table with the same words, or tag=NAME, show it; --y NAME shows a metric")
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return succeeded


def _refuse_what_is_ignored(experiments: Sequence[Experiment]) -> None:
    """Refuse a sweep over settings that hold for all of its experiments together, with a ConfigError."""
    for key in ("execution", "force", "dry_run", "yes"):
        values = [each.execution if key == "execution" else getattr(each.request, key) for each in experiments]
        if any(value != values[0] for value in values):
            raise ConfigError(f"{key}: it holds for a sweep as a whole; give it one value")


def compute(experiments: Sequence[Experiment]) -> bool:
    """Compute the runs that are not stored yet, and report on standard error; return whether nothing failed."""
    terminal = console(stderr=True)
    _refuse_what_is_ignored(experiments)
    jobs = plan(experiments)
    request, wanted = experiments[0].request, estimate(jobs)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        warn(f"{fault}; it is computed again")
    if request.dry_run:
        if len(jobs) <= MOST_ROWS:
            terminal.print(table("to compute", jobs, _work))
        warn(str(wanted))
        return True
    if not request.yes:
        refuse_what_takes_long(wanted)
    if complete := sum(not job.missing for job in jobs):
        terminal.print(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress_of(jobs) as advance:
        failures = work(jobs, advance)
    or_metric = ", or metric," if any(job.experiment.method.is_measured for job in jobs) else ""
    title = f"mean planning loss{or_metric} over runs"
    terminal.print(table(title, jobs, _results) if len(jobs) <= MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        for line in "".join(dict.fromkeys(failure.traceback for failure in failures.values())).splitlines():
            warn(line)
        for job, settings in zip(jobs, _settings(jobs), strict=True):
            if failure := failures.get(job.stored.signature):
                warn(f"failed: {settings}: {failure.reason}; {job.stored.folder / 'run.log'} has the traceback")
    return not failures


def table(title: str, jobs: Sequence[Job], numbers: Callable[[Job], Mapping[str, str]]) -> Table:
    """Return a table of numbers of jobs, of which none is broken, by the settings in which the jobs differ."""
    rows = [{"settings": words, **numbers(job)} for words, job in zip(_settings(jobs), jobs, strict=True)]
    return of_frame(title, pd.DataFrame(rows), wraps="settings")


def _settings(jobs: Sequence[Job]) -> list[str]:
    """Return in words the settings of each job in which the jobs differ."""
    described = [flat_settings(asked_settings(job.experiment), job.experiment.options) for job in jobs]
    keys = varying_keys(described)
    return [" ".join(f"{key.rpartition('.')[2]}={each[key]}" for key in keys if key in each) for each in described]


def _work(job: Job) -> Mapping[str, str]:
    """Return the runs that are stored and missing, and the work to do."""
    return {
        "signature": job.stored.signature,
        "stored": str(job.experiment.request.runs - job.runs_missing),
        "missing": str(job.runs_missing),
        "plans": f"{job.plans:,}",
        "seconds": f"{job.seconds:.1f}",
    }


def _results(job: Job) -> Mapping[str, str]:
    """Return the runs requested and computed now, and mean planning losses over runs.

    These are those of the first and the last task at the largest gamma, and the smallest of the last, which is at
    gamma*. A schedule that chose the discount factor has no such minimum, and of a metric, less may not be better.
    """
    runs, method = job.experiment.request.runs, job.experiment.method
    numbers = {"runs": str(runs), "new": str(job.runs_missing - max(0, runs - job.stored.complete()))}
    shown = dict.fromkeys(("first", "last", "minimum", "gamma*"), "")
    with suppress(StoreError):
        losses = Losses.of_experiment(job.experiment, runs)
        mean = losses.loss.mean(0)
        shown |= {"first": f"{mean[0, -1]:.3f}", "last": f"{mean[-1, -1]:.3f}"}
        if len(losses.gammas) > 1 and not method.is_measured:
            shown |= {"minimum": f"{mean[-1].min():.3f}", "gamma*": f"{losses.best(mean[-1:])[0]:g}"}
    return numbers | shown
