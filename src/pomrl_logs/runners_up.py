"""What an action is compared with in a state: the runner-up, and how likely it is that the action is better.

Only actions that a task has tried often enough are compared, with the values that the recommended plan goes on with.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr

from pomrl_logs.departures import KEEP, Estimate, Policies
from pomrl_logs.logs import Log

SMALLEST = 1e-300
"""Least variance, so that a difference without errors is certain."""


@dataclass(frozen=True, eq=False)
class RunnersUp:
    """The best other action of each task in each state, and what the action of the policy is worth more."""

    action: Int[np.ndarray, "K S"]
    """Its number, or `KEEP` where no other action was tried often enough."""
    difference: Float[np.ndarray, "K S"]
    """The value of the policy's action less that of the runner-up; NaN where there is none."""
    probability: Float[np.ndarray, "K S"]
    """The probability that this difference is above 0, if errors are normal; NaN where there is no runner-up."""


def runners_up(log: Log, estimate: Estimate, policies: Policies, support: int, gamma: float) -> RunnersUp:
    """Return the runners-up among the actions that a task has tried as often as `support` says."""
    V = estimate.values(policies, gamma)
    Q = estimate.action_values(V, gamma)
    own = np.maximum(policies, 0)[..., None]
    rivals = np.where((log.visits >= support) & (np.arange(Q.shape[-1]) != own), Q, -np.inf)
    action = rivals.argmax(-1)[..., None]
    errors = _squared_errors(log, V, gamma)
    (value, error), (of_rival, error_of_rival) = (
        [np.take_along_axis(values, which, -1)[..., 0] for values in (Q, errors)] for which in (own, action)
    )
    difference = value - of_rival
    probability = ndtr(difference / np.sqrt(np.maximum(error + error_of_rival, SMALLEST)))
    there = np.isfinite(rivals).any(-1) & (policies != KEEP)
    return RunnersUp(
        np.where(there, action[..., 0], KEEP), *(np.where(there, of, np.nan) for of in (difference, probability))
    )


def _squared_errors(log: Log, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
    """Return the squared standard errors of action values; a pair has the same variance in all tasks."""
    task, _, _, following = log.places
    found = log.paid + gamma * V[task, following]
    n = np.maximum(log.visits, 1)
    total, squares = (log.sums_of_pairs(powers) for powers in (found, found**2))
    variance = (squares - total**2 / n).clip(0).sum(0) / np.maximum((n - 1).sum(0), 1)
    return variance / n
