"""Estimate the time of work, by measuring a few runs of its largest problem."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from time import thread_time

from pomrl.execution.local import one_thread
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem
from pomrl.small_experiments import SMALL_METHOD, small_problem

PROBE_SECONDS = 0.1
"""The seconds of a sufficient probe."""

PROBES = ((1, 1), (1, 8), (8, 8), (64, 8))
"""The numbers of runs and tasks of successive probes; their tables are dropped."""

MAX_PROBE_TRIALS = 32
"""The largest number of trials of a probe."""


def count_operations(problem: Problem, methods: Sequence[Method]) -> float:
    """Count the entries of models drawn, learned from and planned with, in a run."""
    per_entry = problem.trials + sum(
        method.estimator.relative_time
        + problem.trials * method.gamma_schedule.computed_schedule().gammas_per_task * method.agent.plans_per_gamma
        for method in methods
    )
    return problem.T * problem.S**2 * problem.A * per_entry


def seconds_per_operation(problems: Sequence[tuple[Problem, Sequence[Method]]]) -> float:
    """Measure the problem with most operations in a run; without problems, or if it fails, a small one.

    The work will report the failure.
    """
    if problems:
        with suppress(Exception):
            return _measure_once(*max(problems, key=lambda pair: count_operations(*pair)))
    return _measure_once(small_problem(), [SMALL_METHOD])


_measured: dict[str, float] = {}
"""The seconds of an operation, by the settings of problem and methods."""


def _measure_once(problem: Problem, methods: Sequence[Method]) -> float:
    settings = repr((problem, methods))
    if settings not in _measured:
        _measured[settings] = _measure(problem, methods)
    return _measured[settings]


def _measure(problem: Problem, methods: Sequence[Method]) -> float:
    import pandas as pd  # noqa: F401  # pyright: ignore[reportUnusedImport]  # so that its import is not measured

    seconds, operations = 0.0, 1.0
    with one_thread():
        for runs, T in PROBES:
            probe = replace(problem, T=min(T, problem.T), trials=min(MAX_PROBE_TRIALS, problem.trials))
            start = thread_time()
            tables(probe, methods, range(runs))
            seconds, operations = thread_time() - start, runs * count_operations(probe, methods)
            if seconds > PROBE_SECONDS:
                break
    return seconds / operations
