"""Metrics: a number for each policy, in addition to its planning loss."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pomrl.base import Component
from pomrl.science.data import Counts
from pomrl.science.mdp import Criterion, Rewards


@dataclass(frozen=True, eq=False)
class MetricInput:
    """The input of a metric: M tasks with model, data and G policies."""

    P: Float[np.ndarray, "M S A S"]
    """The true models."""
    R: Rewards
    """The true rewards R(s, a)."""
    P_hat: Float[np.ndarray, "M S A S"]
    """The models estimated by the estimator."""
    R_hat: Rewards
    """The rewards R(s, a) to plan with."""
    counts: Counts
    """The numbers of transitions N(s, a, s') sampled in the tasks."""
    policy: Int[np.ndarray, "M G *S"]
    """Action in each state; over a horizon also by steps to go, [M, G, h, S]."""
    gamma: Float[np.ndarray, "M G"]
    V_star: Float[np.ndarray, "M S"]
    criterion: Criterion

    @property
    def gamma_eval(self) -> float:
        return self.criterion.gamma_eval

    @cached_property
    def V(self) -> Float[np.ndarray, "M G S"]:
        """The values of the policies at gamma_eval."""
        V, _, index = self.criterion.distinct_values(self.P, self.R, self.policy)
        return V[index]


class Metric(Component):
    """Base class of metrics; tasks must not influence one another."""

    @abstractmethod
    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        """Return a finite number for each policy of each task."""


class PlanningLoss(Metric):
    """The planning loss, a column of every table; the default."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.planning_loss(tasks.P, tasks.R, tasks.policy, tasks.V_star)
