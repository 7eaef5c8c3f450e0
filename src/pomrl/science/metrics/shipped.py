"""Metrics of values and policies."""

import numpy as np
from jaxtyping import Float

from pomrl.science.metrics.metric import Metric, MetricInput


class Value(Metric):
    """The value of a policy at gamma_eval, a mean over first states."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.mean(tasks.V)


class DistinctPolicies(Metric):
    """Number of distinct policies up to the row's discount factor (Jiang, 2015)."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        policy = tasks.policy
        policy = policy.reshape(*policy.shape[:2], -1)
        same = (policy[:, :, None] == policy[:, None]).all(-1)
        return np.cumsum(same.argmax(-1) == np.arange(policy.shape[1]), axis=1).astype(float)


class TrainingLoss(Metric):
    """The loss of a policy at gamma_eval in the estimated model."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.planning_loss(tasks.P_hat, tasks.R_hat, tasks.policy)
