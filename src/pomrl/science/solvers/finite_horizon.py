"""Plans and values over finitely many steps, by backward induction (Puterman 1994, ch. 4).

The best action depends on the steps to go. Policies over h steps are arrays [M, G, h, S], whose index k is for k + 1
steps to go; with more steps to go than h, the last one is followed.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.solvers.evaluation import action_values


def plan(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gammas: Float[np.ndarray, "M G"], steps: int
) -> tuple[Int[np.ndarray, "M G h S"], Float[np.ndarray, "M G S"]]:
    """Return the optimal policies over `steps` steps at discount factors in [0, 1], and their values."""
    V = np.zeros((*gammas.shape, R.shape[1]))
    policies = np.empty((*gammas.shape, steps, R.shape[1]), np.int16)
    for k in range(steps):
        Q = action_values(P, R, V, gammas)
        policies[:, :, k], V = Q.argmax(-1), Q.max(-1)
    return policies, V


def policy_values(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policies: Int[np.ndarray, "M G S"] | Int[np.ndarray, "M G h S"],
    gamma: float,
    horizon: int,
) -> Float[np.ndarray, "M G S"]:
    """Return the values over `horizon` steps of policies, stationary ones or such with actions by steps to go."""
    by_steps = policies if policies.ndim == 4 else policies[:, :, None]
    V, last = np.zeros((*policies.shape[:2], R.shape[1])), by_steps.shape[2] - 1
    gammas = np.full(policies.shape[:2], gamma)
    for k in range(horizon):
        action = by_steps[:, :, min(k, last), :, None].astype(np.intp)
        V = np.take_along_axis(action_values(P, R, V, gammas), action, axis=-1)[..., 0]
    return V
