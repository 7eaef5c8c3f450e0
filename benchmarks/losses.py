"""The losses of policies, by whatever way a contender has of evaluating a policy."""

from collections.abc import Callable, Iterable

import numpy as np
from jaxtyping import Float, Int

Evaluate = Callable[[np.ndarray], np.ndarray]
"""A function that returns the values of a policy in one model."""


def of_policies(
    evaluations: Iterable[Evaluate], V_star: Float[np.ndarray, "M S"], policies: Int[np.ndarray, "M G S"]
) -> Float[np.ndarray, "M G"]:
    """Return the planning losses; a policy that equals the one before is not evaluated again.

    Args:
        evaluations: The function of each of the M models that evaluates a policy in it.
        V_star: The optimal values.
        policies: The policies of each model, one for each of G discount factors.
    """
    losses = np.empty(policies.shape[:2])
    for i, evaluate in enumerate(evaluations):
        for g, policy in enumerate(policies[i]):
            if g and np.array_equal(policy, policies[i, g - 1]):
                losses[i, g] = losses[i, g - 1]
            else:
                losses[i, g] = np.abs(V_star[i] - evaluate(policy)).max()
    return losses
