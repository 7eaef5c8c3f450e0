"""Agents: maps from data, memory and random numbers to policies.

The default is `CertaintyEquivalence`.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float, Int

from pomrl.base import Component
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Belief
from pomrl.science.gamma_star import best_index
from pomrl.science.mdp import Criterion, Rewards, expected_rewards
from pomrl.science.planners import Planner
from pomrl.science.randomness import Generators

MemoryT = TypeVar("MemoryT")
"""An agent's memory of earlier tasks: any immutable value."""

Policy = Int[np.ndarray, "*policies S"]
"""Action in each state, [n, G, S]; over a horizon also by steps to go, [n, G, h, S]."""


@dataclass(frozen=True, eq=False)
class TaskData:
    """The read-only input of an agent: a task in n runs."""

    t: int
    criterion: Criterion
    batch: Batch
    """The transitions sampled in the task."""
    R: Rewards
    """Rewards R(s, a) or R(s, a, s'): known, or estimated as set by reward_model; for `own`, means of the task's
    samples."""
    P_hat: Float[np.ndarray, "*n S A S"]
    """The models estimated by the estimator."""
    gammas: Float[np.ndarray, "*n G"]
    """The discount factors of the schedule, ascending."""
    planner: Planner
    believe: Callable[[Batch], Belief]
    """The estimator's belief about the task after other data, such as a part of the batch."""
    rngs: Generators
    """The generator of each run, for this agent alone."""

    @property
    def gamma_eval(self) -> float:
        return self.criterion.gamma_eval

    def plan(self, P: Float[np.ndarray, "*n S A S"], gammas: Float[np.ndarray, "*n G"]) -> Policy:
        """Return optimal policies of models with the rewards of the task."""
        leading, model = P.shape[:-3], P.shape[-3:]
        R = expected_rewards(self.R, P)
        stack = P.reshape(-1, *model), R.reshape(-1, *model[:-1]), gammas.reshape(-1, gammas.shape[-1])
        policy = self.planner.plan(*stack)
        return policy.reshape(*leading, *policy.shape[1:])

    def losses(self, P: Float[np.ndarray, "*n S A S"], policy: Policy) -> Float[np.ndarray, "*n G"]:
        """Return the planning losses of policies as if the models P were true."""
        R, model = expected_rewards(self.R, P), P.shape[-3:]
        policies = policy.reshape(-1, *policy.shape[P.ndim - 3 :])
        losses = self.criterion.planning_loss(P.reshape(-1, *model), R.reshape(-1, *model[:-1]), policies)
        return losses.reshape(*P.shape[:-3], -1)


class Decision(NamedTuple):
    """The output of an agent: policies and their discount factors."""

    policy: Policy
    gamma: Float[np.ndarray, "*n G"]
    """Discount factor of each policy, from the schedule or the agent."""

    @staticmethod
    def best(task: TaskData, expected: Float[np.ndarray, "*n G"]) -> "Decision":
        """Plan at the discount factor with the smallest expected loss, in each run.

        `expected` has the loss at each of `task.gammas`.
        """
        gamma = np.take_along_axis(task.gammas, best_index(expected)[..., None], axis=-1)
        return Decision(task.plan(task.P_hat, gamma), gamma)


class Agent(Component, Generic[MemoryT]):
    """Base class of agents.

    Agents are stateless. All methods work on n runs, which must not influence one another.
    """

    chooses_gamma: ClassVar[bool] = False
    """Whether the agent returns one policy, not one for each discount factor."""

    discounts: ClassVar[bool] = False
    """Whether discount factors must be below 1."""

    @property
    def plans_per_gamma(self) -> int:
        """The number of plans per discount factor on a small model, for time estimates."""
        return 1

    def initial_memory(self, n: int, S: int, A: int) -> Any:
        """Return the memory of n runs before the first task; default None."""
        return None

    @abstractmethod
    def act(self, task: TaskData, memory: MemoryT) -> Decision:
        """Return policies for a task, and their discount factors in [0, gamma_eval]."""

    def learn(self, memory: MemoryT, batch: Batch, R: Rewards) -> MemoryT:
        """Return the next memory, by default unchanged; `batch` is for later tasks."""
        return memory


class CertaintyEquivalence(Agent[None]):
    """The default agent: it plans on the estimated model (Algorithms 1 and 2)."""

    def act(self, task: TaskData, memory: None) -> Decision:
        return Decision(task.plan(task.P_hat, task.gammas), task.gammas)
