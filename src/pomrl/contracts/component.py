"""The contract of components of every kind: they are immutable values that a configuration can describe."""

import dataclasses
import json
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem, check
from pomrl.science.tasks.random_chains import Dirichlet, RandomChains
from pomrl.store.code_digest import code_digest


class ComponentContract:
    """Tests that a component is a frozen dataclass whose fields determine it completely."""

    def test_it_is_frozen(self, component: Any) -> None:
        for field in dataclasses.fields(component):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(component, field.name, getattr(component, field.name))

    def test_its_fields_describe_it(self, component: Any) -> None:
        described = json.loads(json.dumps(dataclasses.asdict(component)))
        assert type(component)(**described) == component

    def test_it_travels_to_another_process(self, component: Any) -> None:
        assert pickle.loads(pickle.dumps(component)) == component

    def test_unknown_keys_are_refused(self, component: Any) -> None:
        with pytest.raises(ValueError, match="no_such_key"):
            type(component)(**dataclasses.asdict(component), no_such_key=1)

    def test_its_code_has_a_digest(self, component: Any) -> None:
        assert code_digest([f"{type(component).__module__}.{type(component).__qualname__}"])


def problem(task_distribution: RandomChains | None = None, sigma: float = 0.01) -> Problem:
    """Return a small problem."""
    tasks = task_distribution or Dirichlet(zeros=2)
    return Problem(S=tasks.zeros + 4, A=2, m=5, T=4, sigma=sigma, gamma_eval=0.9, seed=0, task_distribution=tasks)


METHOD = Method(
    estimator=RegularisedLeastSquares(mixing="paper", similarity="welford"),
    gamma_schedule=Grid(gammas=[0.0, 0.5, 0.9]),
    planner=PolicyIteration(),
)
"""A method of which contracts replace one part. Its estimator has a similarity, which some schedules need."""


def assert_experiment_runs(of_problem: Problem, of_method: Method) -> None:
    """Assert that the experiment has finite losses, which are the same for runs alone and together."""
    check(of_problem, of_method, range(3))
    (together,) = tables(of_problem, [of_method], range(3))
    alone = pd.concat([tables(of_problem, [of_method], [run])[0] for run in range(3)], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone, check_exact=True)
    assert together["planning_loss"].between(0, np.inf, inclusive="left").all()
    assert together["alpha"].between(0, 1).all()


def assert_models(P: np.ndarray) -> None:
    """Assert that all rows of P are probability distributions."""
    assert np.isfinite(P).all()
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(-1), 1.0, rtol=0, atol=1e-12)
