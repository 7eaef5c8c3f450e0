"""The estimated time of work is what its runs take, by a clock that does not depend on the machine."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.running import cost, plan
from pomrl.running.cost import count_operations
from pomrl.running.plan import PlannedExperiment, estimate
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.problem import Problem

CASES = {
    "runs": ("runs=400",),
    "tasks": ("T=300", "runs=20"),
    "trials": ("trials=500", "runs=10"),
    "large": ("S=200", "runs=50"),
    "sampler": ("estimator=hierarchical_bayes", "runs=200"),
}
"""Experiments whose time has different causes."""


class Clock:
    """A clock that only tables move: by a start, by their tasks, and by the trials of each run."""

    def __init__(self) -> None:
        self.now, self.calls = 0.0, 0
        self.sizes, self.estimators = set[tuple[int, int]](), set[type]()

    def __call__(self) -> float:
        return self.now

    def tables(self, problem: Problem, methods: Sequence[Any], runs: Sequence[int]) -> list[Any]:
        self.calls += 1
        self.sizes.add((problem.S, problem.m))
        self.estimators |= {type(method.estimator) for method in methods}
        self.now += self.seconds(problem, methods, len(runs))
        return []

    def seconds(self, problem: Problem, methods: Sequence[Any], runs: int) -> float:
        draws = 5e-5 + 4e-8 * problem.S**2 * problem.A * (problem.trials + 1)
        learning = sum(3e-7 * method.estimator.relative_time * problem.S**2 * problem.A for method in methods)
        return len(methods) * (2e-3 + 4e-4 * problem.T) + runs * (1e-4 + problem.T * (draws + learning))


class Foreign(RegularisedLeastSquares):
    """An estimator that is not ours."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, empty_outputs: None) -> Clock:
    clock = Clock()
    monkeypatch.setattr(cost, "thread_time", clock)
    monkeypatch.setattr(cost, "tables", clock.tables)
    monkeypatch.setattr(cost, "_measured", {})
    return clock


def job(*overrides: str, estimator: Any = None, **problem_fields: Any) -> PlannedExperiment:
    experiment = composed(*overrides)
    problem = replace(experiment.problem, **problem_fields)
    method = replace(experiment.method, estimator=estimator or experiment.method.estimator)
    return plan.plan([replace(experiment, problem=problem, method=method)])[0]


@cache
def composed(*overrides: str) -> Experiment:
    return sweeps.experiment(PUBLISHED, ["sigma=0.0001", *overrides])


def actual_seconds(clock: Clock, job: PlannedExperiment) -> float:
    problem, methods = job.experiment.problem, [job.experiment.method]
    return sum(clock.seconds(problem, methods, len(block)) for block in job.missing)


def test_estimates_are_within_a_factor_of_two(clock: Clock) -> None:
    """Each problem and method is measured, also after others."""
    for overrides in CASES.values():
        requested = job(*overrides)
        assert 0.5 < estimate([requested]).seconds / actual_seconds(clock, requested) < 2.0


def test_sweep_estimates_are_within_factor_two(clock: Clock) -> None:
    """Its dearest shapes are not measured."""
    jobs = [job(S=S, m=m) for S in range(10, 106, 4) for m in (5, 10, 20)]
    assert 0.5 < estimate(jobs).seconds / sum(actual_seconds(clock, sweep_job) for sweep_job in jobs) < 2.0
    assert len(jobs) > len(clock.sizes)


def test_an_estimate_grows_with_runs(clock: Clock) -> None:
    assert estimate([job("runs=2000")]).seconds == pytest.approx(10 * estimate([job("runs=200")]).seconds)


def test_largest_problem_is_measured_once(clock: Clock) -> None:
    jobs = [job(S=S, seed=seed) for S in (10, 50, 20) for seed in range(4)]
    assert estimate(jobs).seconds == estimate(jobs).seconds
    assert clock.sizes == {(50, 5)}
    assert clock.now < 1.0


def test_estimates_call_no_components_of_users(clock: Clock) -> None:
    """An own experiment beside them, or a small one, is measured in their place."""
    foreign = job(estimator=Foreign(mixing="paper", similarity="welford"))
    for jobs in ([foreign], [foreign, job()]):
        assert 0.0 < estimate(jobs).seconds < 60.0
    assert clock.calls > 0
    assert Foreign not in clock.estimators


def test_operations_grow_with_their_causes() -> None:
    problem, grid = composed().problem, composed("gamma_schedule=grid").method
    fixed, sampler = (
        composed(f"estimator={name}", "gamma_schedule=fixed").method for name in ("pomrl", "hierarchical_bayes")
    )
    operations = [count_operations(problem, methods) for methods in ([fixed], [grid], [grid, grid])]
    assert operations == sorted(set(operations))
    assert count_operations(replace(problem, T=2 * problem.T), [grid]) == 2 * operations[1]
    assert count_operations(replace(problem, trials=2), [grid]) > operations[1]
    assert count_operations(problem, [sampler]) > operations[0]


def test_unmeasurable_problems_are_estimated(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_or_count(problem: Problem, methods: Sequence[Any], runs: Sequence[int]) -> list[Any]:
        if problem.S == 10:
            raise ValueError("sigma is impossible")
        return clock.tables(problem, methods, runs)

    measured_on_small = estimate([job(estimator=Foreign(mixing="paper", similarity="welford"))]).seconds
    monkeypatch.setattr(cost, "tables", fail_or_count)
    assert estimate([job()]).seconds == pytest.approx(measured_on_small)
