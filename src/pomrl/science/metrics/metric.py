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
    """The M tasks of a metric, each with model, data and G policies."""

    P: Float[np.ndarray, "M S A S"]
    """The true models."""
    R: Rewards
    """The true rewards R(s, a)."""
    P_hat: Float[np.ndarray, "M S A S"]
    """The estimates of the estimator."""
    R_hat: Rewards
    """The rewards R(s, a) to plan with."""
    counts: Counts
    """The transitions sampled in the tasks."""
    policy: Int[np.ndarray, "M G *S"]
    """Action in each state; over a horizon by steps to go, from 1 to h."""
    gamma: Float[np.ndarray, "M G"]
    V_star: Float[np.ndarray, "M S"]
    criterion: Criterion

    @property
    def gamma_eval(self) -> float:
        """The discount factor of losses."""
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
    """The planning loss, the default, in every table."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.planning_loss(tasks.P, tasks.R, tasks.policy, tasks.V_star)
