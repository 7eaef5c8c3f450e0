"""Metrics of values and policies."""

import numpy as np
from jaxtyping import Float

from pomrl.science.metrics.metric import Metric, MetricInput


class Value(Metric):
    """The value of a policy at gamma_eval, a mean over the state in which a task starts."""

    def measure(self, outcome: MetricInput) -> Float[np.ndarray, "M G"]:
        return outcome.criterion.mean(outcome.V)


class DistinctPolicies(Metric):
    """The number of different policies among those of the discount factors up to the one of the row (Jiang, 2015)."""

    def measure(self, outcome: MetricInput) -> Float[np.ndarray, "M G"]:
        policy = outcome.policy
        policy = policy.reshape(*policy.shape[:2], -1)
        same = (policy[:, :, None] == policy[:, None]).all(-1)
        return np.cumsum(same.argmax(-1) == np.arange(policy.shape[1]), axis=1).astype(float)


class TrainingLoss(Metric):
    """What a policy loses at gamma_eval in the estimated model, in the norm over states of the planning loss."""

    def measure(self, outcome: MetricInput) -> Float[np.ndarray, "M G"]:
        return outcome.criterion.planning_loss(outcome.P_hat, outcome.R_hat, outcome.policy)
