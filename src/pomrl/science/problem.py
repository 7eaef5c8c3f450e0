"""The two parts of an experiment: a problem and a method."""

from dataclasses import fields, is_dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, InstanceOf
from pydantic.dataclasses import dataclass

from pomrl.base import CHECKED
from pomrl.science.agents.agent import Agent, CertaintyEquivalence
from pomrl.science.data import Data, Generative
from pomrl.science.estimators.estimator import Estimator
from pomrl.science.estimators.reward_models import RewardLearning, RewardModel
from pomrl.science.gamma_schedules import GammaSchedule
from pomrl.science.mdp import Criterion, LossNorm
from pomrl.science.meta_batches import MetaBatch, Own
from pomrl.science.metrics.metric import Metric, PlanningLoss
from pomrl.science.planners import Planner
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution
from pomrl.science.tasks.streams import Stationary, TaskStream

Probabilities = Annotated[
    tuple[Annotated[float, Field(ge=0)], ...],
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
]
"""A list of probabilities, kept as a tuple, because problems are hashed."""


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Problem:
    """The settings of an experiment without its method.

    Draws depend only on the problem and the index of the run.
    """

    S: Annotated[int, Field(ge=2)]
    """Number of states."""
    A: Annotated[int, Field(ge=1)]
    """Number of actions."""
    m: Annotated[int, Field(ge=1, le=10**9)]
    """Number of transitions sampled for each (s,a) in each task, or of trajectories."""
    T: Annotated[int, Field(ge=1, le=32767)]
    """Number of tasks."""
    sigma: Annotated[float | None, Field(ge=0)]
    """Similarity of the tasks, as task_distribution.measure says: a variance, say; null: from another key."""
    gamma_eval: Annotated[float, Field(ge=0, le=1)]
    """Discount factor at which policies are evaluated; 1 is allowed with a horizon, or if all policies end."""
    seed: Annotated[int, Field(ge=0)]
    """Seed of all draws."""
    task_distribution: InstanceOf[TaskDistribution]
    """How tasks are drawn."""
    stream: InstanceOf[TaskStream] = Stationary()
    """Whether the mean model of the tasks changes."""
    data: InstanceOf[Data] = Generative()
    """How transitions are sampled."""
    meta_batch: InstanceOf[MetaBatch] = Own()
    """Which transitions later tasks learn from."""
    trials: Annotated[int, Field(ge=1, le=10**6)] = 1
    """Number of batches of each task; losses are averaged over their estimates."""
    reward_model: RewardModel = "known"
    """Rewards to plan with: the true ones; means of the samples of the task, or of all tasks; or a posterior mean
    between the two."""
    reward_noise: Annotated[float, Field(ge=0)] = 0.0
    """Standard deviation of a sampled reward; ignored if reward_model=known."""
    reward_low: float = 0.0
    """Least reward expected before any sample; ignored if reward_model=known."""
    reward_high: float = 1.0
    """Largest reward expected before any sample; ignored if reward_model=known."""
    loss: LossNorm = "max"
    """Norm over states of the planning loss: the worst state, or their mean."""
    start: Annotated[int, Field(ge=0)] | Probabilities | None = None
    """First state, or the probability of each, as weights in loss=mean and metrics; null: as in the task_distribution,
    otherwise uniform."""
    horizon: Annotated[int | None, Field(ge=1, le=10_000)] = None
    """Steps after which a task ends, for policies and losses; null: never."""

    @property
    def criterion(self) -> Criterion:
        start = self.task_distribution.start if self.start is None else self.start
        if isinstance(start, int):
            start = [float(s == start) for s in range(self.S)]
        return Criterion(self.gamma_eval, self.loss, self.horizon, None if start is None else tuple(start))

    def mean(self, run: int) -> MeanModel:
        """Draw the first mean model of a run; ValueError for an impossible sigma."""
        return self.task_distribution.draw_mean(self.seed, run, self.S, self.A, self.sigma)

    @property
    def reward_learning(self) -> RewardLearning:
        return RewardLearning(self.reward_model, self.reward_noise, self.reward_low, self.reward_high)

    @property
    def memories(self) -> int:
        """The number of learners per run: one per trial, or a shared one."""
        return 1 if self.meta_batch.is_shared else self.trials

    @property
    def bytes_of_model(self) -> int:
        return self.S**2 * self.A * np.dtype(float).itemsize

    @property
    def copies(self) -> int:
        """The number of model-sized arrays in the batches of a task."""
        return max(self.trials, self.meta_batch.arrays(self.data))


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Method:
    """An agent with its estimator, schedule and planner, and a metric."""

    estimator: InstanceOf[Estimator[Any]]
    """How a task's model is estimated."""
    gamma_schedule: InstanceOf[GammaSchedule]
    """Which discount factors are planned with."""
    planner: InstanceOf[Planner]
    """How policies are found."""
    agent: InstanceOf[Agent[Any]] = CertaintyEquivalence()
    """How policies are made from the data of a task."""
    metric: InstanceOf[Metric] = PlanningLoss()
    """A number for each policy in addition to its planning loss."""

    @property
    def is_measured(self) -> bool:
        """Return whether tables have a column for the metric."""
        return type(self.metric) is not PlanningLoss


def components(problem: Problem, method: Method) -> dict[str, Any]:
    """Return the components of an experiment by group."""
    attributes = {field.name: getattr(owner, field.name) for owner in (problem, method) for field in fields(owner)}
    return {group: attribute for group, attribute in attributes.items() if is_dataclass(attribute)}
