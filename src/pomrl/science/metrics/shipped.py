"""Metrics of values, actions and models."""

from dataclasses import replace
from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.science.mdp import Criterion
from pomrl.science.metrics.metric import Metric, Outcome


class OfStarts(Metric):
    """A metric that is a mean over the state in which a task starts."""

    start: Annotated[list[Annotated[float, Field(ge=0)]], Field(min_length=1)] | None = None
    """Probability of each state to be the first; null: that of the problem."""

    def check(self, S: int, horizon: int | None) -> None:
        if self.start is not None and (len(self.start) != S or abs(sum(self.start) - 1.0) > 1e-9):
            raise ValueError(f"metric.start={self.start}: it has to be {S} probabilities that sum to 1")

    def mean(self, of_states: Float[np.ndarray, "M G S"], criterion: Criterion) -> Float[np.ndarray, "M G"]:
        """Return the mean over the first state."""
        return (criterion if self.start is None else replace(criterion, start=tuple(self.start))).mean(of_states)


class StartLoss(OfStarts):
    """What a policy loses at gamma_eval from the first state on."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        return self.mean(np.maximum(outcome.V_star[:, None] - outcome.V, 0.0), outcome.criterion)


class Value(OfStarts):
    """The value of a policy at gamma_eval from the first state on."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        return self.mean(outcome.V, outcome.criterion)


class DistinctPolicies(Metric):
    """The number of different policies among those of the discount factors up to the one of the row (Jiang, 2015)."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        policy = outcome.policy
        policy = policy.reshape(*policy.shape[:2], -1)
        same = (policy[:, :, None] == policy[:, None]).all(-1)
        return np.cumsum(same.argmax(-1) == np.arange(policy.shape[1]), axis=1).astype(float)


class TrainingLoss(Metric):
    """What a policy loses at gamma_eval in the estimated model, in the norm over states of the planning loss."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        return outcome.criterion.planning_loss(outcome.P_hat, outcome.R_hat, outcome.policy)


class WrongActions(Metric):
    """The share of states in which the action is not one of an optimal policy at gamma_eval."""

    def check(self, S: int, horizon: int | None) -> None:
        if horizon is not None:
            raise ValueError(f"horizon={horizon}: metric wrong_actions compares actions that do not depend on the step")

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        Q = outcome.R + outcome.gamma_eval * (outcome.P @ outcome.V_star[:, None, :, None])[..., 0]
        taken = np.take_along_axis(Q[:, None], outcome.policy[..., None].astype(np.intp), axis=-1)[..., 0]
        *_, index, tolerance = outcome.criterion.distinct_values(outcome.P, outcome.R, outcome.policy)
        return (Q.max(-1)[:, None] - taken > 10.0 * tolerance[index][..., None]).mean(-1)


class ModelErrorL1(Metric):
    """The largest error of the estimated model over pairs, as the sum over next states of absolute differences."""

    def measure(self, outcome: Outcome) -> Float[np.ndarray, "M G"]:
        error = np.abs(outcome.P_hat - outcome.P).sum(-1).max((1, 2))
        return np.repeat(error[:, None], outcome.policy.shape[1], axis=1)
