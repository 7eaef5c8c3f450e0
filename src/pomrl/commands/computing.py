"""The work of `src.run` after its command line has been composed: parse, check, compute, and report."""

from collections.abc import Sequence

from pomrl import store
from pomrl.commands import tables
from pomrl.commands.progress import progress
from pomrl.commands.terminal import console
from pomrl.configuration.composed import Composed
from pomrl.configuration.parsing import Experiment, parse
from pomrl.running import sweeps


def run(jobs: Sequence[Composed]) -> bool:
    """Compute the experiments of these jobs, print the folder of each; return whether all of them succeeded."""
    experiments = [parse(composed) for composed in jobs]
    succeeded = not experiments or compute(experiments)
    for experiment in experiments:
        print(store.lookup(experiment).folder)
    return succeeded


def compute(experiments: Sequence[Experiment]) -> bool:
    """Compute the runs that are not stored yet, and report on standard error; return whether nothing failed."""
    terminal = console(stderr=True)
    jobs = sweeps.checked_jobs(experiments)
    for fault in dict.fromkeys(fault for job in jobs for fault in job.faults):
        terminal.print(fault, soft_wrap=True)
    if experiments[0].request.dry_run:
        terminal.print(tables.plan(jobs))
        return True
    if complete := sum(not job.missing for job in jobs):
        terminal.print(f"{complete} of {len(jobs)} stored already, not computed again (force=true would)")
    with progress(sum(job.runs_missing for job in sweeps.unfinished(jobs).values())) as advance:
        failures = sweeps.compute(jobs, advance)
    terminal.print(tables.results(jobs) if len(jobs) <= tables.MOST_ROWS else f"{len(jobs)} jobs are done")
    if failures:
        terminal.print(tables.failed(jobs, failures))
    return not failures
