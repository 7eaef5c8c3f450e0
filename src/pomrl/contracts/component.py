"""What is tested of components of every kind, in small experiments."""

import dataclasses
import json
import pickle
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pomrl.science.data import Trajectories
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Grid
from pomrl.science.meta_batches import Separate
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import Dirichlet, RandomChains
from pomrl.science.validation import check_experiment
from pomrl.store.code_digest import code_digest

RUNS = 3

UNEQUAL = {"data": Trajectories(length=3), "meta_batch": Separate(batches=2), "trials": 2}
"""Settings of a problem in which pairs have different numbers of transitions, and a task has several trials."""


class ComponentContract:
    """Tests that fields describe a component, and that its numbers depend on its arguments and on their own run alone.

    They are those of experiments, which each kind of component has some of.
    """

    @abstractmethod
    def experiments(self, component: Any) -> Sequence[tuple[Problem, Method]]:
        """Return small experiments with the component."""

    def test_experiments_run(self, component: Any) -> None:
        for of_problem, of_method in self.experiments(component):
            assert_experiment_runs(of_problem, of_method)

    def test_its_fields_describe_it(self, component: Any) -> None:
        described = json.loads(json.dumps(dataclasses.asdict(component)))
        assert type(component)(**described) == component

    def test_it_travels_to_another_process(self, component: Any) -> None:
        assert pickle.loads(pickle.dumps(component)) == component

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
"""A method; contracts replace one part of it. Its estimator has a similarity, which some schedules need."""


def assert_experiment_runs(of_problem: Problem, of_method: Method) -> None:
    """Assert that the experiment has finite losses, which are the same for runs alone and together."""
    check_experiment(of_problem, of_method, range(RUNS))
    (together,) = tables(of_problem, [of_method], range(RUNS))
    alone = pd.concat([tables(of_problem, [of_method], [run])[0] for run in range(RUNS)], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone, check_exact=True)
    gammas = 1 if of_method.agent.chooses_gamma else of_method.gamma_schedule.gammas_per_task
    assert len(together) == RUNS * of_problem.T * gammas
    assert together["planning_loss"].between(0, np.inf, inclusive="left").all()


def assert_models(P: np.ndarray) -> None:
    """Assert that all rows of P are probability distributions."""
    assert np.isfinite(P).all()
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(-1), 1.0, rtol=0, atol=1e-12)
