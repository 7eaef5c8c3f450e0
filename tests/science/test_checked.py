"""Components are strangers: they cannot change what others see, and what they return is checked in every task."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import pytest

from pomrl.science.agents.agent import CertaintyEquivalence
from pomrl.science.data import Generative
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.meta_batches import Own
from pomrl.science.metrics.shipped import Value
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.science.tasks.streams import Drift
from pomrl_studies.beyond.estimators.james_stein import JamesStein

PROBLEM = Problem(S=4, A=2, m=5, T=3, sigma=0.01, gamma_eval=0.9, seed=0, task_distribution=Dirichlet(zeros=1))
METHOD = Method(
    estimator=RegularisedLeastSquares(mixing="paper", similarity="welford"),
    gamma_schedule=Grid(gammas=[0.0, 0.9]),
    planner=PolicyIteration(),
)
OPTIONS: dict[type, dict[str, Any]] = {
    Dirichlet: {"zeros": 1},
    Drift: {"speed": 0.1},
    RegularisedLeastSquares: {"mixing": "paper", "similarity": "welford"},
    Grid: {"gammas": [0.0, 0.9]},
}


def stranger(cls: type, **results: Callable[[Any], Any]) -> Any:
    """Return a component of a subclass whose methods return a function of what those of the class return."""

    class Stranger(cls):
        pass

    for name, change in results.items():
        ours = getattr(cls, name)
        setattr(Stranger, name, lambda self, *arguments, ours=ours, change=change: change(ours(self, *arguments)))
    return Stranger(**OPTIONS.get(cls, {}))


def edit(name: str, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that changes a field of a result, past the checks that only tests have."""

    def changed(result: Any) -> Any:
        if hasattr(result, "_replace"):
            return result._replace(**{name: change(getattr(result, name))})
        other = copy(result)
        object.__setattr__(other, name, change(getattr(result, name)))
        return other

    return changed


def with_nan(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array[(2, 0, 0)[: array.ndim]] = np.nan
    return array


def one_more(counts: np.ndarray) -> np.ndarray:
    counts[0, 1, 0, 2, 1, 0] += 1
    return counts


def afterwards(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of the mean models of a stream that changes all but the first."""
    return lambda means: chain([mean := next(means)], repeat(change(mean)))


ESTIMATOR, SCHEDULE, TASKS, AGENT = RegularisedLeastSquares, Grid, Dirichlet, CertaintyEquivalence
MODEL = JamesStein
GROUPS = {
    TASKS: "task_distribution",
    Drift: "stream",
    Generative: "data",
    Own: "meta_batch",
    ESTIMATOR: "estimator",
    MODEL: "estimator",
}
GROUPS |= {SCHEDULE: "gamma_schedule", PolicyIteration: "planner", AGENT: "agent", Value: "metric"}


@pytest.mark.parametrize(
    ("cls", "method", "change", "message"),
    [
        (ESTIMATOR, "prior_model", lambda h: h[:, :1], r"in task 1 must return an array .* as h, got \[4, 1, 2, 4\]"),
        (ESTIMATOR, "prior_model", lambda h: 1.5 * h, r"the sum of the row h\[0, 0, 0\] = 1\.[45]\d* is not 1"),
        (ESTIMATOR, "learn", edit("P_o_hat", with_nan), r"in task 1: h\[2, 0, 0, 0\] = nan"),
        (ESTIMATOR, "mixing_rate", with_nan, r"in task 1: alpha\[2, 0, 0\] = nan is not between 0 and 1"),
        (ESTIMATOR, "similarity_estimate", lambda deviation: -deviation, r"deviation\[0, 0, 0\] = -0\.5 is not finite"),
        (ESTIMATOR, "assess", lambda estimate: estimate[:2], "in task 1 must return Estimate, got tuple"),
        (MODEL, "estimate", lambda P: P[:, :1], r"estimate in task 1 must return .*, got \[4, 1, 2, 4\]"),
        (MODEL, "estimate", lambda P: 1.5 * P, r"estimate in task 1: the sum of the row \[0, 0, 0\] = 1\.[45]"),
        (SCHEDULE, "select", lambda gamma: gamma + 0.05, r"in task 1: \[0, 1\] = 0\.95\d* is not between 0 and 0.9"),
        (TASKS, "draw", edit("R", lambda R: (R > 0.5).astype(np.int64)), "float64 as R, got array of int64"),
        (TASKS, "draw", lambda tasks: tasks.P, "must return Tasks, got ndarray"),
        (TASKS, "draw_mean", edit("deviation", lambda deviation: -deviation), r"in run 0: deviation = -0\.1"),
        (TASKS, "draw_mean", edit("P_o", lambda P_o: P_o - 0.1), r"P_o\[0, 0, 0, \d\] = -0\.\d+ is not"),
        (TASKS, "variance", lambda variance: -variance, r"variance: \[0, 0, 0, \d\] = -"),
        (Drift, "means", afterwards(edit("P_o", lambda P_o: 2 * P_o)), r"in run 0: the sum of the row P_o\[0, 0\] = 2"),
        (Drift, "means", lambda means: islice(means, 2), "in run 0 must yield"),
        (Generative, "draw", lambda counts: counts + 0.0, "must return an array of int64, got array of float64"),
        (Generative, "draw", lambda counts: counts - 1, r"\[\S.*\] = -1\.0 is not"),
        (Generative, "draw", one_more, r"is_equal: divided by .*\[0, 1, 0, 2, 1\] = 1\.(2|19)"),
        (PolicyIteration, "_plan", lambda policy: policy + 2, r"policy\[0, 0, 0\] = [23] is not one of the 2 actions"),
        (AGENT, "act", edit("policy", lambda policy: policy - 1), r"in task 1: policy\[\d, \d, \d\] = -1 is not"),
        (AGENT, "act", edit("gamma", lambda gamma: gamma + 0.05), r"in task 1: gamma\[0, 1\] = 0\.95\d* is not"),
        (Value, "measure", lambda values: values * np.inf, r"measure: \[0, 0\] = inf is not finite"),
        (Own, "of_tasks", edit("P_bar", lambda P_bar: P_bar.astype(np.float32)), "as P_bar, got array of float32"),
    ],
)  # fmt: skip
def test_bad_results_of_components_are_named(
    cls: type, method: str, change: Callable[[Any], Any], message: str
) -> None:
    strange = {GROUPS[cls]: stranger(cls, **{method: change})}
    problem, method_fields = (PROBLEM, strange) if hasattr(METHOD, GROUPS[cls]) else (replace(PROBLEM, **strange), {})
    with pytest.raises(ValueError, match=message) as raised:
        tables(problem, [replace(METHOD, **method_fields)], range(4))
    assert "stranger.<locals>.Stranger." in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("what", ["batch.P_bar", "truth.P_o", "before.squares", "after.P_o_hat"])
def test_components_cannot_write_to_inputs(what: str) -> None:
    class Writer(RegularisedLeastSquares):
        def assess(self, t: int, batch: Any, before: Any, after: Any, truth: Any) -> Any:
            name, field = what.split(".")
            getattr({"batch": batch, "before": before, "after": after, "truth": truth}[name], field)[...] = 0.25
            return super().assess(t, batch, before, after, truth)

    with pytest.raises(ValueError, match="read-only"):
        tables(PROBLEM, [replace(METHOD, estimator=Writer(mixing=0.5))], range(2))


@pytest.mark.parametrize("kind", ["i1", ">i4", "u8"])
def test_counts_may_be_integers_of_every_kind(kind: str) -> None:
    data = stranger(Generative, draw=lambda counts: counts.astype(kind))
    (actual,), (expected,) = (tables(replace(PROBLEM, data=way), [METHOD], range(2)) for way in (data, Generative()))
    np.testing.assert_array_equal(actual["planning_loss"], expected["planning_loss"])
