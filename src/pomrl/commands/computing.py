"""The work of `src.run` after its command line has been composed: parse, check, compute, and report."""

import shlex
from collections.abc import Sequence

from pomrl import store
from pomrl.commands import tables
from pomrl.commands.progress import progress
from pomrl.commands.terminal import console, warn
from pomrl.configuration.composed import ConfigError, Sweep
from pomrl.configuration.jobs import MOST_JOBS
from pomrl.configuration.parsing import Experiment, parse
from pomrl.results.chosen_runs import filter_of
from pomrl.running import sweeps
from pomrl.running.estimates import estimate, refuse_what_does_not_fit, refuse_what_takes_long


def run(sweep: Sweep) -> bool:
    """Compute the experiments of a sweep, print the folder of each; return whether all of them succeeded.

    Raises:
        ConfigError: An experiment cannot be computed, or the sweep is too large.
    """
    experiments = [parse(composed) for composed in sweep.jobs]
    if len(experiments) < sweep.count:
        return _estimate_from_first(experiments[0], sweep.count)
    succeeded = compute(experiments)
    if len(experiments) > 1 and succeeded and not experiments[0].request.dry_run:
        _offer(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return succeeded


def _offer(experiments: Sequence[Experiment]) -> None:
    """Print the commands that plot and tabulate a sweep that is stored."""
    everything = [stored.flat_settings() for stored in store.all_experiments()]
    signatures = {store.lookup(experiment).signature for experiment in experiments}
    chosen = [stored.flat_settings() for stored in store.all_experiments() if stored.signature in signatures]
    words = [f"{key}={','.join(map(str, values))}" for key, values in filter_of(chosen, everything).items()]
    what = shlex.join(words)
    warn(f"to plot it: python -m src.plot {what}; as a table: python -m src.table {what}")


def _estimate_from_first(first: Experiment, count: int) -> bool:
    """Refuse a sweep of which the first job alone was composed; where a dry run is asked for, print an estimate."""
    jobs = sweeps.looked_up([first])
    of_sweep = estimate(jobs).times(count)
    if not first.request.dry_run:
        raise ConfigError(f"{of_sweep}; more than {MOST_JOBS:,} jobs are computed with yes=true")
    console(stderr=True).print(f"estimated from the first job: {of_sweep}", soft_wrap=True)
    return True


def compute(experiments: Sequence[Experiment]) -> bool:
    """Compute the runs that are not stored yet, and report on standard error; return whether nothing failed."""
    terminal = console(stderr=True)
    request, execution = experiments[0].request, experiments[0].execution
    jobs = sweeps.looked_up(experiments)
    wanted = estimate(jobs)
    refuse_what_does_not_fit(wanted, execution)
    sweeps.check_jobs(jobs)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        warn(fault)
    if request.dry_run:
        if len(jobs) <= tables.MOST_ROWS:
            terminal.print(tables.plan(jobs))
        terminal.print(str(wanted), soft_wrap=True)
        return True
    if not request.yes:
        refuse_what_takes_long(wanted)
    if complete := sum(not job.missing for job in jobs):
        terminal.print(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress(sum(job.runs_missing for job in sweeps.unfinished(jobs).values())) as advance:
        failures = sweeps.compute(jobs, advance)
    terminal.print(tables.results(jobs) if len(jobs) <= tables.MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        terminal.print(tables.failed(jobs, failures))
    return not failures
