"""Runs that undecided claims need: computed within a budget, with a line on what they cost and how far they are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from pomrl.commands.progress import progress_of
from pomrl.commands.terminal import warn
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.wording import number_of
from pomrl.judging import deciding
from pomrl.judging.basis import Basis, Reader
from pomrl.judging.deciding import Spending
from pomrl.running.ensuring import ensure
from pomrl.running.resources import seconds
from pomrl.running.sweeps import Job, Tally, unfinished


def decided(bases: Sequence[Basis], reader: Reader, spending: Spending) -> list[deciding.Case]:
    """Add the runs that undecided claims need, within the budget; return each claim as judged."""
    left = spending.budget - spending.spent
    of = f", variant {bases[0].variant}" if len(bases) == 1 else ""
    warn(f"adding runs until claims are decided{of}; budget: {left:.0f} s of one core, estimated; --budget sets it")
    return deciding.decide(bases, spending, reader, compute)


def compute(experiments: Sequence[Experiment], why: str = "") -> None:
    """Compute what the store lacks of experiments, and say so, and why.

    Raises:
        ConfigError: What is lacking does not fit into the memory or on the disk.
        ExecutionError: A method fails.
    """
    ensure(experiments, partial(_announced, why=why))


@contextmanager
def _announced(jobs: Sequence[Job], why: str) -> Iterator[Callable[[Tally], None]]:
    if lacking := unfinished(jobs).values():
        runs = max(job.experiment.request.runs for job in lacking)
        what = f"up to {number_of(runs, 'run')} of {number_of(len(lacking), 'experiment')}"
        warn(f"{what}{why}: about {sum(map(seconds, lacking)):.0f} s of one core")
    with progress_of(jobs) as advance:
        yield advance
