"""Action values of policies that take each action with a probability."""

import numpy as np
from jaxtyping import Float

from pomrl.science.solvers.evaluation import chain_value


def action_values(
    P: Float[np.ndarray, "n S A S"],
    R: Float[np.ndarray, "n S A"],
    pi: Float[np.ndarray, "n G S A"],
    gammas: Float[np.ndarray, "n G"],
    penalty: Float[np.ndarray, "n G S"] | float = 0.0,
) -> Float[np.ndarray, "n G S A"]:
    """Return Q = R + gamma P V with the values V of policies that pay a penalty in each state.

    Args:
        P: Transition probabilities, whose rows may sum to less than 1.
        R: Rewards of pairs.
        pi: The probability of each action in each state, at each discount factor.
        gammas: Discount factors.
        penalty: What a policy pays in each step that starts in a state.
    """
    chain = (pi[..., None, :] @ P[:, None])[..., 0, :]
    V = chain_value(chain, (pi * R[:, None]).sum(-1) - penalty, gammas)
    return R[:, None] + gammas[..., None, None] * (P[:, None] @ V[:, :, None, :, None])[..., 0]
