"""Experiments that somebody asks for are looked up, checked and computed here, whoever asks."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from pomrl.configuration.parsing import Experiment
from pomrl.execution import ExecutionError
from pomrl.running.sweeps import Job, Tally, check_jobs, compute, looked_up

Reporting = Callable[[Sequence[Job]], AbstractContextManager[Callable[[Tally], None]]]
"""A function that says what is to be computed, and gives the function that is called after each block of runs."""


def checked_jobs(experiments: Sequence[Experiment]) -> list[Job]:
    """Look up what each experiment lacks, and check that it can be computed. Nothing is computed or written.

    Raises:
        ConfigError: An experiment cannot be computed.
    """
    jobs = looked_up(experiments)
    check_jobs(jobs)
    return jobs


def ensure(experiments: Sequence[Experiment], reporting: Reporting) -> None:
    """Compute and store what the store lacks of experiments, all with the execution of the first.

    Raises:
        ConfigError: An experiment cannot be computed.
        ExecutionError: Experiments failed; the others are stored.
    """
    jobs = checked_jobs(experiments)
    with reporting(jobs) as advance:
        failures = compute(jobs, advance)
    if failures:
        raise ExecutionError("; ".join(dict.fromkeys(failure.reason for failure in failures.values())))
