"""Backward induction over finitely many steps (Puterman 1994, ch. 4).

Policies over h steps are arrays [M, G, h, S], with index k for k + 1 steps to go. The last index serves all larger
numbers of steps.
"""

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.solvers import GammaGrid, ModelStack, PolicyGrid, RewardStack
from pomrl.science.solvers.evaluation import action_values


def plan(
    P: ModelStack, R: RewardStack, gammas: GammaGrid, steps: int
) -> tuple[Int[np.ndarray, "M G h S"], Float[np.ndarray, "M G S"]]:
    """Return the optimal policies over `steps` steps, and their values."""
    V = np.zeros((*gammas.shape, R.shape[1]))
    policies = np.empty((*gammas.shape, steps, R.shape[1]), np.int16)
    for k in range(steps):
        Q = action_values(P, R, V, gammas)
        policies[:, :, k], V = Q.argmax(-1), Q.max(-1)
    return policies, V


def policy_values(
    P: ModelStack, R: RewardStack, policies: PolicyGrid | Int[np.ndarray, "M G h S"], gamma: float, horizon: int
) -> Float[np.ndarray, "M G S"]:
    """Return the values of policies over `horizon` steps."""
    by_steps = policies if policies.ndim == 4 else policies[:, :, None]
    V, last = np.zeros((*policies.shape[:2], R.shape[1])), by_steps.shape[2] - 1
    gammas = np.full(policies.shape[:2], gamma)
    for k in range(horizon):
        action = by_steps[:, :, min(k, last), :, None].astype(np.intp)
        V = np.take_along_axis(action_values(P, R, V, gammas), action, axis=-1)[..., 0]
    return V
