"""The options of `conf/` and of studies keep to the contracts, and each contract finds a component that breaks it."""

import re
import sys
from dataclasses import replace
from itertools import islice
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from jaxtyping import Float, Int

from pomrl.components import ComponentError, check_component
from pomrl.configuration import sweeps
from pomrl.configuration.composed import PROBLEM_GROUPS
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.agents.agent import CertaintyEquivalence, Decision
from pomrl.science.data import Batch, Generative, Trajectories
from pomrl.science.estimators.estimator import ModelEstimator, Truth
from pomrl.science.estimators.memory import Memory, PerPair
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.gamma_schedules import Fixed, GammaSchedule, TaskState
from pomrl.science.meta_batches import Own
from pomrl.science.metrics.metric import MetricInput
from pomrl.science.metrics.shipped import Value
from pomrl.science.planners import Planner, PolicyIteration
from pomrl.science.tasks.distribution import FiniteTasks, MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, Gaussian
from pomrl.science.tasks.streams import Drift
from pomrl.small_experiments import TwoModels

GROUPS = (
    "estimator", "agent", "gamma_schedule", "planner", "task_distribution", "stream", "data", "meta_batch", "metric",
)  # fmt: skip

SLOW = {("task_distribution", "taxi"), ("agent", "td_5000"), ("agent", "sarsa"), ("agent", "q_learning")}
"""Options whose checks take seconds."""

WORDS = {("planner", "backward_induction"): ["horizon=3"]}

OF_716_STATES = {("task_distribution", "icu_sepsis"), ("estimator", "action_prior")}
"""Options of ICU-Sepsis: 4,000 of its tasks take 122 GiB, and the prior is for its states alone. Those of a small
hospital are checked in tests/studies/test_board.py."""

OPTIONS = [
    pytest.param(group, path.stem, marks=[pytest.mark.slow] * ((group, path.stem) in SLOW))
    for group in GROUPS
    for path in PUBLISHED.options(group)
    if (group, path.stem) not in OF_716_STATES
]


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_an_option_keeps_to_its_contracts(group: str, option: str) -> None:
    experiment = sweeps.experiment(PUBLISHED, [f"{group}={option}", *WORDS.get((group, option), [])])
    check_component(getattr(experiment.problem if group in PROBLEM_GROUPS else experiment.method, group))


@pytest.mark.parametrize(
    "component",
    [
        Trajectories(length=3, behaviour="epsilon_greedy"),
        Dirichlet(zeros=2, concentration_over_S=1.5, smoothing=0.1),
        Dirichlet(zeros=1, measure="std", reward_spread=0.2, varying=0.5),
    ],
    ids=repr,
)
def test_so_does_a_component_with_other_keys(component: Any) -> None:
    check_component(component)


CALLS: list[int] = []


class Mixed(RegularisedLeastSquares):
    """The rate of a run depends on the other runs."""

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        return np.full_like(deviation, memory.P_o_hat.var())


class Overweight(RegularisedLeastSquares):
    """The rate is above 1."""

    def mixing_rate(self, t: int, m: int | PerPair, deviation: PerPair, memory: Memory, truth: Truth) -> PerPair:
        return np.full_like(deviation, 1.5)


class Undefined(ModelEstimator):
    """Estimates are NaN."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> np.ndarray:
        return batch.P_bar * np.nan


class UndefinedWhenMany(ModelEstimator):
    """Estimates are NaN where a pair has more transitions than in small experiments."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> np.ndarray:
        return np.where(batch.visits[..., None] > 90, np.nan, batch.P_bar)


class Overwriting(ModelEstimator):
    """It writes into the frequencies that it is given."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> np.ndarray:
        batch.P_bar[:] = truth.P_o
        return batch.P_bar


class Remembering(ModelEstimator):
    """It depends on how often it has been asked."""

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> np.ndarray:
        CALLS.append(1)
        weight = 1.0 / len(CALLS)
        return weight * memory.P_o_hat + (1.0 - weight) * batch.P_bar


class Stateful(RegularisedLeastSquares):
    """It is set up by what is no field."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


class Greedy(Planner):
    """Plans as if gamma were 0."""

    def _plan(
        self, P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, "M G"]
    ) -> Int[np.ndarray, "M G S"]:
        return R.argmax(-1)[:, None].repeat(gammas.shape[1], axis=1)


class Trusting(PolicyIteration):
    """Takes every array for a model."""

    def plan(self, P: Any, R: Any, gammas: Any) -> Int[np.ndarray, "M G S"]:
        P = np.asarray(P) / np.sum(P, -1, keepdims=True)
        return super().plan(P, R, np.minimum(gammas, 0.99))


class Beyond(GammaSchedule):
    """Takes no notice of gamma_eval where the rate is 0, which it never is in small experiments."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        return np.where(state.alpha == 0.0, 0.95, 0.5)[:, None] if state.t > 1 else np.full((len(state.alpha), 1), 0.5)


class Global(Dirichlet):
    """Draws from a generator of its own."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return super()._draw(np.random.default_rng(), mean, tasks)


class Biased(Dirichlet):
    """Tasks are nearer to their mean than is said."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return (super()._draw(rng, mean, tasks) + mean.P_o) / 2


class Leaking(Gaussian):
    """Each state is possible in a task."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return (super()._draw(rng, mean, tasks) + 1e-3) / (1.0 + 1e-3 * mean.P_o.shape[-1])


class Reversed(Dirichlet):
    """Tasks of one call are in another order than those of two."""

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return super()._draw(rng, mean, tasks)[::-1]


class Everywhere(Dirichlet):
    """All pairs vary, whatever is asked."""

    def draw_tasks(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return super().draw_tasks(rng, replace(mean, varying=np.ones_like(mean.varying)), tasks)


class Misjudged(TwoModels):
    """The variance is not that of its models."""

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        largest = super().variance(mean).max()
        return np.full_like(mean.P_o, largest)


class Starting(Drift):
    """The first mean model is not that of the run."""

    def means(self, rng: np.random.Generator, mean: MeanModel, distribution: Any) -> Any:
        return islice(super().means(rng, mean, distribution), 1, None)


class Repeating(Generative):
    """The transitions of the first batch stand in all batches."""

    def draw(self, rngs: Any, P: np.ndarray, m: int, batches: int) -> np.ndarray:
        return np.repeat(super().draw(rngs, P, m, 1), batches, axis=2)


class Uniform(Trajectories):
    """Next states come from the model of the first task."""

    def draw(self, rngs: Any, P: np.ndarray, m: int, batches: int) -> np.ndarray:
        return super().draw(rngs, 0.9 * P + 0.1 * (P > 0) / (P > 0).sum(-1, keepdims=True), m, batches)


class Counting(Generative):
    """Says that pairs have fewer transitions than they have."""

    def most_visits(self, m: int) -> int:
        return 1


class Ranked(Value):
    """Values are compared with those of other tasks."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return super().measure(tasks) - super().measure(tasks).mean()


class Placed(Value):
    """The number of a task depends on its place among the others."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        M = len(tasks.P)
        return super().measure(tasks) + np.arange(M)[:, None] // max(M // 4, 1)


class Unready(CertaintyEquivalence):
    """Policies of some tasks have actions that do not exist."""

    def act(self, task: Any, memory: None) -> Decision:
        decision = super().act(task, memory)
        return decision._replace(policy=decision.policy + (task.t == 3))


class Discarding(Own):
    """Batches of the meta-learner have no frequencies where there are transitions."""

    def of_tasks(self, own: Batch, data: Any, rngs: Any, P: np.ndarray) -> Batch:
        batch = super().of_tasks(own, data, rngs, P)
        return replace(batch, P_bar=np.zeros_like(batch.P_bar))


def local_component() -> Any:
    class Local(Fixed):
        """Its class is not at the top of a module."""

    return Local(gamma=0.5)


def component_without_source() -> Any:
    module = ModuleType("module_without_source")
    module.Made = type("Made", (Fixed,), {"__module__": module.__name__})  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    return module.Made(gamma=0.5)


@pytest.mark.parametrize(
    ("component", "statement", "reason", "remedy"),
    [
        (Mixed(mixing=0.0), "experiments", "a run computed alone gives different numbers", "first axis"),
        (Overweight(mixing=0.0), "experiments", "alpha[0, 0, 0] = 1.5 is not between 0 and 1", "range"),
        (Undefined(), "experiments", "is not between 0 and 1", "return new arrays"),
        (UndefinedWhenMany(), "estimates are models", "nan is not", "return new arrays"),
        (Overwriting(), "experiments", "read-only", "arguments are read-only"),
        (Remembering(), "experiments", "different numbers when it is repeated", "keep no state between calls"),
        (
            Stateful(mixing=0.0),
            "fields determine it",
            "a copy made from its fields differs: Stateful(",
            "declare fields",
        ),
        (local_component(), "can be pickled", "local", "at the top of a module"),
        (Greedy(), "policies are optimal", "a policy is worse than the optimal one by", "Bellman"),
        (Trusting(), "rejects invalid models", "an invalid sum must raise a ValueError", "leave plan as it is"),
        (Beyond(), "gammas are in range", "is not between 0 and 0.9", "state.gamma_eval"),
        (Global(zeros=3), "experiments", "different numbers when it is repeated", "only from the given generators"),
        (Biased(zeros=3), "moments are exact", "the variance of 4000 tasks", "has_exact_moments"),
        (Leaking(zeros=3), "models around a mean", "probability 0 in the mean model", "given generator"),
        (Reversed(zeros=3), "models around a mean", "two calls", "given generator"),
        (Everywhere(zeros=3), "zeros, varying, sigma", "a pair outside the mask varying differs", "override"),
        (Misjudged(), "moments are exact", "variance is not the variance of the candidates", "has_exact_moments"),
        (Starting(speed=0.1), "mean models keep sigma", "first mean model must be the given one", "recentre"),
        (Repeating(), "independent draws", "all batches of a task are equal", "task after task"),
        (Uniform(length=3), "independent draws", "frequencies of many transitions differ", "task after task"),
        (Counting(), "independent draws", "more transitions than most_visits", "task after task"),
        (Ranked(), "experiments", "a run computed alone gives different numbers", "first axis"),
        (Placed(), "measures each task separately", "task 1 measured alone gives different numbers", "first axis"),
        (component_without_source(), "source code can be found", "module_without_source", "in a file with source"),
        (Unready(), "experiments", "is not one of the 2 actions", "return new arrays"),
        (Discarding(), "experiments", "the sum of the row", "return new arrays"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value[:20],
)
def test_errors_name_component_check_and_remedy(component: Any, statement: str, reason: str, remedy: str) -> None:
    with pytest.raises(ComponentError) as caught:
        check_component(component)
    message = str(caught.value)
    name, actual = re.fullmatch(r"(\S+) fails the check that (.*)\. Remedy: .*", message).groups()  # type: ignore[union-attr]
    assert name.rpartition(".")[2] == type(component).__name__
    assert statement in actual
    assert reason in actual, message
    assert remedy in message.rpartition("Remedy: ")[2]
    assert "\n" not in message


@pytest.mark.parametrize("other", [RegularisedLeastSquares, 3, None, FiniteTasks])
def test_what_is_no_component_is_refused(other: Any) -> None:
    with pytest.raises(TypeError, match=r"component must be an instance of a base class in pomrl\.components, got"):
        check_component(other)
