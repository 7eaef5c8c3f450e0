"""What an agent is: it maps the data of a task, a memory of earlier tasks and a generator to policies.

The estimator, the schedule and the planner of an experiment are the default agent (`CertaintyEquivalence`). Other
agents may ask them: each task comes with the estimate, with the discount factors of the schedule and with the planner.
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
"""What an agent keeps of earlier tasks: any immutable value, which only the agent itself looks into."""

Policy = Int[np.ndarray, "*policies S"]
"""The action in each state, [n, G, S], for each of G discount factors; over a horizon it may depend on the steps to go,
[n, G, h, S] (`solvers.finite_horizon`)."""


@dataclass(frozen=True, eq=False)
class TaskData:
    """What is known of a task when an agent acts, in each of n runs; all arrays are read-only."""

    t: int
    """Number of the task, from 1."""
    criterion: Criterion
    """How policies are judged."""
    batch: Batch
    """The transitions that were sampled in the task, with their counts, frequencies and numbers of visits."""
    R: Rewards
    """Rewards R(s, a) or R(s, a, s'): the known ones, or what the key reward_model makes of samples; the means of the
    task's own samples if it is `own`."""
    P_hat: Float[np.ndarray, "*n S A S"]
    """The estimate of the estimator."""
    gammas: Float[np.ndarray, "*n G"]
    """The discount factors of the schedule, ascending."""
    planner: Planner
    believe: Callable[[Batch], Belief]
    """What the estimator believes of the task after other data than the batch, such as a part of it."""
    rngs: Generators
    """The generator of each run, which is the agent's own."""

    @property
    def gamma_eval(self) -> float:
        """Discount factor at which policies are judged."""
        return self.criterion.gamma_eval

    def plan(self, P: Float[np.ndarray, "*n S A S"], gammas: Float[np.ndarray, "*n G"]) -> Policy:
        """Return the planner's policies on these models, with the task's rewards, at each model's discount factors."""
        front, model = P.shape[:-3], P.shape[-3:]
        R = expected_rewards(self.R, P)
        stack = P.reshape(-1, *model), R.reshape(-1, *model[:-1]), gammas.reshape(-1, gammas.shape[-1])
        policy = self.planner.plan(*stack)
        return policy.reshape(*front, *policy.shape[1:])

    def losses(self, P: Float[np.ndarray, "*n S A S"], policy: Policy) -> Float[np.ndarray, "*n G"]:
        """Return what policies lose if these are the models of the runs, with the task's rewards."""
        R, model = expected_rewards(self.R, P), P.shape[-3:]
        of_models = policy.reshape(-1, *policy.shape[P.ndim - 3 :])
        losses = self.criterion.planning_loss(P.reshape(-1, *model), R.reshape(-1, *model[:-1]), of_models)
        return losses.reshape(*P.shape[:-3], -1)


class Decision(NamedTuple):
    """What an agent returns for a task."""

    policy: Policy
    gamma: Float[np.ndarray, "*n G"]
    """The discount factor of each policy: those of the schedule, or the one that the agent has chosen."""

    @staticmethod
    def best(task: TaskData, expected: Float[np.ndarray, "*n G"]) -> "Decision":
        """Return the policies that are planned at the discount factors with the smallest of these losses (gamma*)."""
        gamma = np.take_along_axis(task.gammas, best_index(expected)[..., None], axis=-1)
        return Decision(task.plan(task.P_hat, gamma), gamma)


class Agent(Component, Generic[MemoryT]):
    """Base class of agents. Its type parameter says what an agent keeps from task to task.

    An agent has no state. All methods work on n independent runs at once, which must not influence one another.
    """

    chooses_gamma: ClassVar[bool] = False
    """Whether the agent returns one policy, and not one for each discount factor of the schedule."""

    discounts: ClassVar[bool] = False
    """Whether the agent divides by 1 - gamma, so that discount factors have to be below 1."""

    @property
    def plans_per_gamma(self) -> int:
        """How many plans of a small model a discount factor costs, roughly, for estimates of time."""
        return 1

    def initial_memory(self, n: int, S: int, A: int) -> Any:
        """Return the memory before the first task, for n runs; by default, there is none."""
        return None

    @abstractmethod
    def act(self, task: TaskData, memory: MemoryT) -> Decision:
        """Return policies for a task, and their discount factors, which are in [0, gamma_eval]."""

    def learn(self, memory: MemoryT, batch: Batch, R: Rewards) -> MemoryT:
        """Return the memory after one more task.

        Args:
            memory: The tasks before.
            batch: The transitions that later tasks learn from: the task's own, unless `meta_batch` says otherwise.
            R: The rewards, as `TaskData.R` has them.
        """
        return memory


class CertaintyEquivalence(Agent[None]):
    """The default agent, which plans on the estimated model as if it were the true one (Algorithms 1 and 2)."""

    def act(self, task: TaskData, memory: None) -> Decision:
        return Decision(task.plan(task.P_hat, task.gammas), task.gammas)
