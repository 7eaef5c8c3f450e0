"""Metrics of values and policies."""

import numpy as np
from jaxtyping import Float

from pomrl.science.metrics.metric import Metric, MetricInput


class Value(Metric):
    """The value of a policy at gamma_eval, a mean over the state in which a task starts."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.mean(tasks.V)


class DistinctPolicies(Metric):
    """The number of different policies among those of the discount factors up to the one of the row (Jiang, 2015)."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        policy = tasks.policy
        policy = policy.reshape(*policy.shape[:2], -1)
        same = (policy[:, :, None] == policy[:, None]).all(-1)
        return np.cumsum(same.argmax(-1) == np.arange(policy.shape[1]), axis=1).astype(float)


class TrainingLoss(Metric):
    """What a policy loses at gamma_eval in the estimated model, in the norm over states of the planning loss."""

    def measure(self, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
        return tasks.criterion.planning_loss(tasks.P_hat, tasks.R_hat, tasks.policy)
