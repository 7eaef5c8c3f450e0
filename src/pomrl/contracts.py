"""Contracts of components, as tests: a base class of tests for each kind of component.

To test a component, subclass the contract of its kind in a test file. The name of the subclass begins with Test, and
its fixture `component` returns the component:

    class TestMine(EstimatorContract):
        @pytest.fixture
        def component(self) -> Estimator:
            return Mine(...)

The options of `conf/` are tested by the same classes.
"""

import dataclasses
import json
import pickle
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pomrl.checks import read_only
from pomrl.science.agents.agent import Agent
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.data import Batch, Batches, Data, Trajectories
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import Fixed, GammaSchedule, Grid, TaskState
from pomrl.science.mdp import policy_value, random_chain_mdp
from pomrl.science.meta_batches import Separate
from pomrl.science.planners import Planner, PolicyIteration
from pomrl.science.problem import Method, Problem, check
from pomrl.science.solvers import finite_horizon
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, RandomChains
from pomrl.science.tasks.streams import TaskStream
from pomrl.store.code_digest import code_digest

RUNS = 3


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
"""A method of which contracts replace one part. Its estimator has a similarity, which some schedules need."""


def assert_experiment_runs(of_problem: Problem, of_method: Method) -> None:
    """Assert that the experiment has finite losses, which are the same for runs alone and together."""
    check(of_problem, of_method, range(RUNS))
    (together,) = tables(of_problem, [of_method], range(RUNS))
    alone = pd.concat([tables(of_problem, [of_method], [run])[0] for run in range(RUNS)], ignore_index=True)
    pd.testing.assert_frame_equal(together, alone, check_exact=True)
    gammas = 1 if of_method.agent.chooses_gamma else of_method.gamma_schedule.gammas_per_task
    assert len(together) == RUNS * of_problem.T * gammas
    assert together["planning_loss"].between(0, np.inf, inclusive="left").all()
    assert together["gamma"].between(0, of_problem.gamma_eval).all()
    assert (together["alpha"].between(0, 1) | together["alpha"].isna()).all()


def assert_models(P: np.ndarray) -> None:
    """Assert that all rows of P are probability distributions."""
    assert np.isfinite(P).all()
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(-1), 1.0, rtol=0, atol=1e-12)


class EstimatorContract(ComponentContract):
    """Tests of an estimator, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Estimator) -> Sequence[tuple[Problem, Method]]:
        unequal = replace(problem(), data=Trajectories(length=3), meta_batch=Separate(batches=2), trials=2)
        return [(each, replace(METHOD, estimator=component)) for each in (problem(), problem(sigma=0.0), unequal)]

    def test_estimates_are_models(self, component: Estimator) -> None:
        for seed, (m, equal) in enumerate(((2, True), (5, False), (100, True))):
            for task in learned(component, seed, m, equal=equal):
                assert_models(task.P_hat)
                assert ((task.alpha >= 0) & (task.alpha <= 1)).all()
                assert ((task.sigma >= 0) | np.isnan(task.sigma)).all()


def learned(estimator: Estimator, seed: int, m: int, *, equal: bool) -> Iterator[PlanningInput]:
    """Yield what the loop over tasks yields for each of five Dirichlet tasks.

    In the first run some rows of the mean model have a single state, so that nothing varies there. Each pair (s, a) has
    m transitions, or a random number up to 2 m, which may be 0, where they are not equal.
    """
    rng = np.random.default_rng(seed)
    n, S, A = RUNS, 4, 2
    P_o = rng.dirichlet(np.ones(S), (n, S, A))
    P_o[0, :, 0] = np.eye(S)
    batches = []
    for _ in range(5):
        weight = np.where(P_o > 0, rng.standard_gamma(8.0 * P_o), 0.0)
        visits = m if equal else rng.integers(0, 2 * m, (n, S, A), endpoint=True)
        counts = rng.multinomial(visits, weight / weight.sum(-1, keepdims=True))
        batches.append(Batches.same(Batch.of_counts(counts, m, equal=equal)))
    truth = Truth(P_o, P_o * (1 - P_o) / 9.0)
    read_only(truth.P_o, truth.variance)
    return pomrl(iter(batches), m, truth, estimator, Fixed(gamma=0.5), 0.5)


ALPHAS = np.array([0.5, 1.0, 0.2, 0.0, 1.0, 0.7])
SIGMAS = np.array([0.0, 0.3, 0.1, 0.5, 0.0, 1e-9])
read_only(ALPHAS, SIGMAS)


class GammaScheduleContract(ComponentContract):
    """Tests of a schedule that can be used with gamma_eval = 0.9; the fixture `component` of a subclass returns it."""

    def experiments(self, component: GammaSchedule) -> Sequence[tuple[Problem, Method]]:
        return [(problem(), replace(METHOD, gamma_schedule=component.computed()))]

    def test_gammas_lie_between_zero_and_gamma_eval(self, component: GammaSchedule) -> None:
        for t in (1, 2, 15, 1000):
            gamma = component.select(task_state(t))
            assert gamma.shape == (len(ALPHAS), component.gammas_per_task)
            assert ((gamma >= 0) & (gamma <= 0.9)).all()


def task_state(t: int) -> TaskState:
    """Return the state of task t in runs with all kinds of mixing rates and similarities."""
    return TaskState(t=t, m=5, S=10, A=2, gamma_eval=0.9, alpha=ALPHAS, sigma=SIGMAS)


GAMMAS = np.array([0.0, 0.3, 0.9, 0.99])


class PlannerContract(ComponentContract):
    """Tests of a planner, which the fixture `component` of a subclass returns."""

    tolerance: ClassVar[float] = 1e-9
    """Largest loss of optimal value that is accepted, in units of max(1, max |R|) / (1 - gamma)."""

    def experiments(self, component: Planner) -> Sequence[tuple[Problem, Method]]:
        return [(replace(problem(), horizon=component.looks_ahead), replace(METHOD, planner=component))]

    def test_policies_are_the_best_of_all(self, component: Planner) -> None:
        """Each model has the discount factors in an order of its own."""
        for P, R in small_models():
            gammas = np.stack([np.roll(GAMMAS, shift) for shift in range(len(P))])
            policies = component.plan(P, R, gammas)
            steps = () if component.looks_ahead is None else (component.looks_ahead,)
            assert policies.shape == (*gammas.shape, *steps, R.shape[1])
            for i, g in np.ndindex(gammas.shape):
                loss = lost(component, P[[i]], R[[i]], policies[[i], g], float(gammas[i, g]))
                assert loss.max() * (1 - gammas[i, g]) <= self.tolerance * max(1.0, np.abs(R).max())

    def test_what_is_no_model_is_refused(self, component: Planner) -> None:
        P, R = small_models()[0]
        with pytest.raises(ValueError, match=r"sum"):
            component.plan(P * 1.1, R, GAMMAS)
        with pytest.raises(ValueError, match=r"gamma"):
            component.plan(P, R, np.array([1.0 if component.looks_ahead is None else 1.1]))


def small_models(S: int = 4, A: int = 2) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return small models of several kinds: random ones, frequencies of few samples, ones with ties, and a ring."""
    rng = np.random.default_rng(0)
    drawn = [random_chain_mdp(rng, S, A, 1) for _ in range(RUNS)]
    P, R = np.stack([P for P, _ in drawn]), np.stack([R for _, R in drawn])
    sampled = rng.multinomial(2, P) / 2
    tied = P[:, :, :1].repeat(A, axis=2), R[:, :, :1].repeat(A, axis=2)
    ring_P, ring_R = np.zeros((1, S, A, S)), np.zeros((1, S, A))
    ring_P[0, :, 0], ring_P[0, :, 1:], ring_R[0, 0] = np.eye(S), np.roll(np.eye(S), 1, axis=1)[:, None], 1.0
    models = [(P, R), (sampled, R), tied, (ring_P, ring_R), (P, -R), (P, 0 * R)]
    read_only(*(array for pair in models for array in pair))
    return models


def lost(planner: Planner, P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """Return what a policy of each model loses in each state, over as many steps as the planner looks ahead."""
    steps = planner.looks_ahead
    if steps is None:
        return best_value(P, R, gamma) - policy_value(P, R, policy, gamma)
    V = np.zeros(R.shape[:2])
    for _ in range(steps):
        V = (R + gamma * (P @ V[:, None, :, None])[..., 0]).max(-1)
    return V - finite_horizon.policy_values(P, R, policy[:, None], gamma, steps)[:, 0]


def best_value(P: np.ndarray, R: np.ndarray, gamma: float) -> np.ndarray:
    """Return V* of each model as the largest value in each state over all deterministic policies."""
    _, S, A, _ = P.shape
    policies = np.array(list(product(range(A), repeat=S)))
    return policy_value(P[:, None], R[:, None], policies[None], gamma).max(1)


UNEQUAL = {"data": Trajectories(length=3), "meta_batch": Separate(batches=2), "trials": 2}
ONLINE = {"data": Trajectories(length=3, behaviour="epsilon_greedy")}
SAMPLED = {"reward_model": "own", "reward_noise": 0.1}


class AgentContract(ComponentContract):
    """Tests of an agent, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Agent[Any]) -> Sequence[tuple[Problem, Method]]:
        method = replace(METHOD, agent=component)
        of_problems = [replace(problem(), **changes) for changes in ({}, UNEQUAL, ONLINE, SAMPLED)]
        return [
            *((each, method) for each in of_problems),
            (problem(), replace(method, gamma_schedule=Fixed(gamma=0.5))),
        ]


SIGMA = 0.002
DRAWS = 4000


class TaskDistributionContract(ComponentContract):
    """Tests of a distribution on random chains that can have sigma = 0.002; the fixture `component` returns it."""

    has_the_moments_it_says: ClassVar[bool] = True
    """Whether the mean of tasks is exactly P_o and their variance exactly `RandomChains.variance`."""

    def experiments(self, component: RandomChains) -> Sequence[tuple[Problem, Method]]:
        return [(problem(component, SIGMA), METHOD)]

    def test_mean_models_are_models_with_the_zeros_asked_for(self, component: RandomChains) -> None:
        for run in range(RUNS):
            mean = drawn_mean(component, run=run)
            assert_models(mean.P_o)
            assert ((mean.P_o == 0).sum(-1) == component.zeros).all()
            assert mean.sigma == pytest.approx(SIGMA if component.measure == "std" else np.sqrt(SIGMA), abs=1e-15)

    def test_tasks_are_models_on_the_support_of_the_mean(self, component: RandomChains) -> None:
        mean = drawn_mean(component)
        tasks = drawn_tasks(component, mean, 50)
        assert_models(tasks)
        assert (tasks[:, mean.P_o == 0] == 0).all()
        assert (tasks[0] != tasks[1]).any()

    def test_pairs_that_do_not_vary_have_the_mean_model(self, component: RandomChains) -> None:
        some = replace(component, varying=0.5)
        mean = drawn_mean(some)
        assert mean.varying.sum() == mean.varying.size // 2
        for task in drawn_tasks(some, mean, 5):
            assert_array_equal(task[~mean.varying], mean.P_o[~mean.varying])
        assert (some.variance(mean)[~mean.varying] == 0).all()

    def test_sigma_zero_gives_the_mean_model(self, component: RandomChains) -> None:
        mean = drawn_mean(component, sigma=0.0)
        assert_array_equal(drawn_tasks(component, mean, 1)[0], mean.P_o)

    def test_sigma_is_the_largest_deviation(self, component: RandomChains) -> None:
        mean = drawn_mean(component)
        variance = component.variance(mean)
        assert variance.min() >= 0
        assert variance.max() == pytest.approx(mean.sigma**2)

    def test_a_sigma_that_is_too_large_is_refused(self, component: RandomChains) -> None:
        limit = drawn_mean(component).largest_sigma
        if np.isfinite(limit):
            too_large = limit * 1.001 if component.measure == "std" else (limit * 1.001) ** 2
            with pytest.raises(ValueError, match="sigma"):
                drawn_mean(component, sigma=too_large)

    def test_tasks_have_the_moments_that_are_said(self, component: RandomChains) -> None:
        if not self.has_the_moments_it_says:
            return
        mean = drawn_mean(component)
        tasks, variance = drawn_tasks(component, mean, DRAWS), component.variance(mean)
        squares = (tasks - mean.P_o) ** 2
        assert (np.abs(tasks.mean(0) - mean.P_o) <= 5 * np.sqrt(variance / DRAWS) + 1e-12).all()
        assert (np.abs(squares.mean(0) - variance) <= 5 * squares.std(0) / np.sqrt(DRAWS) + 1e-12).all()


def drawn_mean(component: RandomChains, run: int = 0, sigma: float = SIGMA) -> MeanModel:
    """Draw the mean model of a run, with four states more than there are zeros in a row."""
    return component.draw_mean(0, run, component.zeros + 4, 2, sigma)


def drawn_tasks(component: RandomChains, mean: MeanModel, tasks: int) -> np.ndarray:
    """Draw the models of several tasks from a new generator with a fixed seed."""
    rng = np.random.default_rng(1)
    return component.draw_tasks(rng, mean, tasks)


TASKS = 12
DISTRIBUTION = Dirichlet(zeros=2)


class TaskStreamContract(ComponentContract):
    """Tests of a stream that goes with twelve tasks, which the fixture `component` of a subclass returns."""

    def experiments(self, component: TaskStream) -> Sequence[tuple[Problem, Method]]:
        of_problem = replace(problem(), stream=component, T=TASKS)
        forgetting = replace(METHOD, estimator=replace(METHOD.estimator, forgetting="learned"))
        return [(of_problem, METHOD), (of_problem, forgetting)]

    def test_it_begins_with_the_mean_model_of_the_run(self, component: TaskStream) -> None:
        mean = DISTRIBUTION.draw_mean(0, 0, 6, 2, 0.01)
        assert next(component.means(np.random.default_rng(0), mean, DISTRIBUTION)) is mean

    def test_mean_models_are_models_with_room_for_the_same_sigma_and_the_same_rewards(
        self, component: TaskStream
    ) -> None:
        first, *others = means_of_tasks(component)
        for mean in others:
            assert_models(mean.P_o)
            assert mean.sigma == first.sigma
            assert mean.has_room
            assert mean.largest_sigma == np.sqrt((mean.P_o * (1.0 - mean.P_o)).max())
            assert_array_equal(mean.R, first.R)
            assert_array_equal(mean.varying, first.varying)


def means_of_tasks(stream: TaskStream, run: int = 0) -> list[MeanModel]:
    """Draw the mean models of twelve tasks of a run from a new generator with a fixed seed."""
    mean = DISTRIBUTION.draw_mean(0, run, 6, 2, 0.01)
    return list(islice(stream.means(np.random.default_rng(run), mean, DISTRIBUTION), TASKS))


TRANSITIONS, BATCHES = 4, 3


def generators() -> list[np.random.Generator]:
    """Return new generators of the runs, with fixed seeds."""
    return [np.random.default_rng(run) for run in range(RUNS)]


class DataContract(ComponentContract):
    """Tests of a way to sample transitions, which the fixture `component` of a subclass returns."""

    def experiments(self, component: Data) -> Sequence[tuple[Problem, Method]]:
        of_problem = replace(problem(), data=component)
        forgetting = replace(METHOD.estimator, forgetting="learned", weights="transitions")
        return [
            (of_problem, METHOD),
            (replace(of_problem, trials=2), METHOD),
            (of_problem, replace(METHOD, estimator=forgetting)),
        ]

    def test_batches_consist_of_possible_transitions(self, component: Data) -> None:
        P = true_models()
        counts = drawn_counts(component, P)
        assert counts.shape == (*P.shape[:2], BATCHES, *P.shape[2:])
        assert counts.min() >= 0
        assert_array_equal(counts, np.round(counts))
        assert (counts.sum(2)[P == 0] == 0).all()
        assert counts.sum(-1).max() <= component.most_visits(TRANSITIONS)

    def test_tasks_are_drawn_in_their_order(self, component: Data) -> None:
        P, rngs = true_models(), generators()
        parts = [component.draw(rngs, P[:1], TRANSITIONS, BATCHES), component.draw(rngs, P[1:], TRANSITIONS, BATCHES)]
        assert_array_equal(np.concatenate(parts), drawn_counts(component, P))

    def test_batches_are_independent_draws(self, component: Data) -> None:
        counts = drawn_counts(component, true_models())
        assert (counts[:, :, 0] != counts[:, :, 1]).any()
        assert (counts[0] != counts[1]).any()

    def test_frequencies_approach_the_model(self, component: Data) -> None:
        P = true_models()[:1]
        counts = component.draw(generators(), P, 20, 2000).sum(2)
        visits = counts.sum(-1, keepdims=True)
        error = np.sqrt(P * (1.0 - P) / visits)
        assert (np.abs(counts / visits - P) <= 5 * error + 1e-12).all()


def true_models(T: int = 3, S: int = 4, A: int = 2) -> np.ndarray:
    """Draw models in which some next states are impossible, and one row has a single next state."""
    weight = np.random.default_rng(5).random((T, RUNS, S, A, S))
    weight[..., 0, 0, 1:3] = 0.0
    weight[..., 1, 1, :] = np.eye(S)[2]
    return weight / weight.sum(-1, keepdims=True)


def drawn_counts(data: Data, P: np.ndarray) -> np.ndarray:
    """Draw batches from new generators with fixed seeds."""
    return data.draw(generators(), P, TRANSITIONS, BATCHES)
