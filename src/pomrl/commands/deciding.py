"""Runs that undecided claims need: computed within a budget, with a line on what they cost and how far they are."""

from collections.abc import Sequence

from pomrl.commands.progress import progress
from pomrl.commands.terminal import warn
from pomrl.configuration.parsing import Experiment
from pomrl.execution import ExecutionError
from pomrl.judging import deciding
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.deciding import Spending
from pomrl.running import estimates, sweeps


def decided(bases: Sequence[Basis], reader: Reader, spending: Spending) -> list[deciding.Case]:
    """Add the runs that undecided claims need, within the budget; return each claim as judged."""
    left = spending.budget - spending.spent
    of = f", variant {bases[0].variant}" if len(bases) == 1 else ""
    warn(f"adding runs until claims are decided{of}; budget: {left:.0f} s of one core, estimated; --budget sets it")
    return deciding.decide(bases, spending, reader, compute)


def compute(experiments: Sequence[Experiment]) -> None:
    """Compute what the store lacks of experiments, and say so.

    Raises:
        ExecutionError: A method fails.
    """
    jobs = sweeps.checked_jobs(experiments)
    lacking = sweeps.unfinished(jobs)
    if not lacking:
        return
    seconds = sum(estimates.seconds(job) for job in lacking.values())
    runs = max(job.experiment.request.runs for job in lacking.values())
    warn(f"up to {runs} runs of {len(lacking)} experiments: about {seconds:.0f} s of one core")
    with progress(sum(job.runs_missing for job in lacking.values())) as advance:
        failures = sweeps.compute(jobs, advance)
    if failures:
        raise ExecutionError("; ".join(dict.fromkeys(failure.reason for failure in failures.values())))
