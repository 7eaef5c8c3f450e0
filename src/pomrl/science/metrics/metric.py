"""What a metric is: a number for each policy of a task, in the place of its planning loss or beside it."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pomrl.checks import Component
from pomrl.science.data import Counts
from pomrl.science.mdp import LossNorm, Rewards, planning_loss
from pomrl.science.solvers.policy_values import distinct_policy_values


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a metric may read of M tasks, each with its true model, its data, and G policies."""

    P: Float[np.ndarray, "M S A S"]
    """The true models."""
    R: Rewards
    """The true rewards R(s, a)."""
    P_hat: Float[np.ndarray, "M S A S"]
    """The estimates of the estimator."""
    R_hat: Rewards
    """The rewards R(s, a) that are planned with."""
    counts: Counts
    """The transitions that were sampled in the tasks."""
    policy: Int[np.ndarray, "M G S"]
    gamma: Float[np.ndarray, "M G"]
    """The discount factor of each policy."""
    V_star: Float[np.ndarray, "M S"]
    """The values of optimal policies at gamma_eval."""
    gamma_eval: float
    """Discount factor at which policies are judged."""
    loss: LossNorm
    """The norm over states of the planning loss."""

    @cached_property
    def V(self) -> Float[np.ndarray, "M G S"]:
        """The values of the policies at gamma_eval."""
        V, _, index = distinct_policy_values(self.P, self.R, self.policy, self.gamma_eval)
        return V[index]


class Metric(Component):
    """Base class of metrics. They work on many tasks at once, which must not influence one another."""

    def check(self, S: int) -> None:
        """Raise a ValueError if the metric cannot be used with so many states."""

    @abstractmethod
    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        """Return a finite number for each policy of each task."""


class PlanningLoss(Metric):
    """The planning loss, the default, which is in every table."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        judged = outcome.P, outcome.R, outcome.policy, outcome.gamma_eval, outcome.V_star
        return planning_loss(*judged, outcome.loss)
