"""The options of `conf/` keep to the contracts, as components of one's own have to."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float, Int

from pomrl.configuration import sweeps
from pomrl.configuration.composed import PROBLEM_GROUPS
from pomrl.configuration.sources import PUBLISHED
from pomrl.contracts import (
    METHOD,
    ComponentContract,
    DataContract,
    EstimatorContract,
    GammaScheduleContract,
    PlannerContract,
    TaskDistributionContract,
    TaskStreamContract,
    problem,
)
from pomrl.science.data import Data, Generative, Trajectories
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.memory import Memory, PerPair
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.meta_batches import MetaBatch
from pomrl.science.planners import Planner
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, Gaussian
from pomrl.science.tasks.streams import TaskStream
from pomrl.science.validation import ComponentError


def options(group: str) -> list[str]:
    return [path.stem for path in PUBLISHED.options(group)]


def component_of(group: str, option: str, *words: str) -> Any:
    experiment = sweeps.experiment(PUBLISHED, [f"{group}={option}", "gamma_eval=0.9", *words])
    return getattr(experiment.problem if group in PROBLEM_GROUPS else experiment.method, group)


FINITE = "exact_posterior"
"""The estimator that needs tasks with one of finitely many models; tests/science/test_exact_posterior.py tests it."""

FEW_SAMPLES = {"hierarchical_bayes": ("estimator.sweeps=8", "estimator.burn_in=2")}
"""Words with which what the contracts ask takes less time."""


@pytest.mark.slow
class TestEstimators(EstimatorContract):
    @pytest.fixture(params=[option for option in options("estimator") if option != FINITE])
    def component(self, request: pytest.FixtureRequest) -> Estimator:
        return component_of("estimator", request.param, *FEW_SAMPLES.get(request.param, ()))


class TestTaskStreams(TaskStreamContract):
    @pytest.fixture(params=options("stream"))
    def component(self, request: pytest.FixtureRequest) -> TaskStream:
        return component_of("stream", request.param)


class TestData(DataContract):
    @pytest.fixture(params=options("data"))
    def component(self, request: pytest.FixtureRequest) -> Data:
        return component_of("data", request.param)


class TestMetaBatches(ComponentContract):
    @pytest.fixture(params=options("meta_batch"))
    def component(self, request: pytest.FixtureRequest) -> MetaBatch:
        return component_of("meta_batch", request.param)

    def experiments(self, component: MetaBatch) -> Sequence[tuple[Problem, Method]]:
        data = Generative(), Trajectories(length=3)
        return [(replace(problem(), data=way, meta_batch=component, trials=2), METHOD) for way in data]


@pytest.mark.slow
class TestGammaSchedules(GammaScheduleContract):
    @pytest.fixture(params=options("gamma_schedule"))
    def component(self, request: pytest.FixtureRequest) -> Any:
        return component_of("gamma_schedule", request.param)


class TestPlanners(PlannerContract):
    @pytest.fixture(params=options("planner"))
    def component(self, request: pytest.FixtureRequest) -> Any:
        return component_of("planner", request.param, "horizon=3")


class TestTaskDistributions(TaskDistributionContract):
    @pytest.fixture(params=["dirichlet", "uniform_ball"])
    def component(self, request: pytest.FixtureRequest) -> Any:
        return component_of("task_distribution", request.param)


class TestGaussian(TaskDistributionContract):
    has_the_moments_it_says = False

    @pytest.fixture
    def component(self) -> Any:
        gaussian = component_of("task_distribution", "gaussian")
        assert isinstance(gaussian, Gaussian)
        return gaussian


class Leaking(RegularisedLeastSquares):
    """The rate of a run depends on the other runs."""

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        return np.full_like(deviation, memory.P_o_hat.var())


class Overweight(RegularisedLeastSquares):
    """The rate is above 1."""

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        return np.full_like(deviation, 1.5)


class Greedy(Planner):
    """Plans as if gamma were 0."""

    def _plan(
        self, P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, "M G"]
    ) -> Int[np.ndarray, "M G S"]:
        return R.argmax(-1)[:, None].repeat(gammas.shape[1], axis=1)


class Beyond(GammaSchedule):
    """Takes no notice of gamma_eval."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        return np.full((len(state.alpha), 1), 0.95)


class Global(Dirichlet):
    """Draws from a generator of its own."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return super()._draw(np.random.default_rng(), mean, tasks)


class Biased(Dirichlet):
    """Tasks are nearer to their mean than is said."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return (super()._draw(rng, mean, tasks) + mean.P_o) / 2


class Repeating(Generative):
    """The transitions of the first batch stand in all batches."""

    def draw(self, rngs, P, m: int, batches: int) -> np.ndarray:
        return np.repeat(super().draw(rngs, P, m, 1), batches, axis=2)


@pytest.mark.parametrize(
    ("contract", "test", "component"),
    [
        (EstimatorContract, "test_experiments_run", Leaking(mixing=0.0)),
        (EstimatorContract, "test_estimates_are_models", Overweight(mixing=0.0)),
        (PlannerContract, "test_policies_are_the_best_of_all", Greedy()),
        (GammaScheduleContract, "test_gammas_lie_between_zero_and_gamma_eval", Beyond()),
        (DataContract, "test_batches_are_independent_draws", Repeating()),
        (DataContract, "test_frequencies_approach_the_model", Repeating()),
        (TaskDistributionContract, "test_experiments_run", Global(zeros=3)),
        (TaskDistributionContract, "test_tasks_have_the_moments_that_are_said", Biased(zeros=3)),
    ],
)
def test_a_component_that_breaks_a_contract_fails_it(contract: type, test: str, component: Any) -> None:
    with pytest.raises((AssertionError, ComponentError)):
        getattr(contract(), test)(component)
