"""When two actions are tied: rounding errors of their values do not make one of them better than the other."""

import numpy as np
from jaxtyping import Float

ACTION_TIE_TOLERANCE = 1e-12
"""Two actions are tied if their values differ by at most this, times max(1, max |R|) / (1 - gamma)."""


def action_tie_tolerance(
    scale: Float[np.ndarray, "*#n"], gamma: Float[np.ndarray, "*#n"] | float
) -> Float[np.ndarray, "*n"]:
    """Return by how much the value of an action has to exceed that of another to count as better.

    This is `ACTION_TIE_TOLERANCE` scale / (1 - gamma), where `scale` is the `evaluation.reward_scale` of each MDP.
    Differences of values below it are rounding errors.
    """
    return ACTION_TIE_TOLERANCE * scale / (1.0 - gamma)
