"""Least-squares policy iteration with an L2 penalty."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Agent, Decision, TaskData, chain_value, expected_rewards


class LeastSquares(Agent[None]):
    """LSTD-Q with an L2 penalty (Lagoudakis and Parr, 2003) and greedy improvement.

    It starts at the uniform policy. With one feature per pair, the equations are (N + l2) Q = N R + gamma C V. Pairs
    have N transitions with counts C, and V(s) = sum_a pi(a|s) Q(s, a). So rows are shrunk by N / (N + l2); rows without
    transitions are 0.
    """

    discounts: ClassVar[bool] = True

    l2: Annotated[float, Field(ge=0)] = 1.0
    """Weight of the squares of action values, in transitions."""
    improvements: Annotated[int, Field(ge=1, le=1000)] = 10
    """Number of rounds of evaluation and improvement."""

    @property
    def plans_per_gamma(self) -> int:
        return 20 * self.improvements

    def act(self, task: TaskData, memory: None) -> Decision:
        P_bar, visits = task.batch.P_bar, task.batch.visits
        N = np.broadcast_to(visits, P_bar.shape[:-1])
        shrinkage = np.divide(N, N + self.l2, out=np.zeros(N.shape), where=N > 0)
        P, R = shrinkage[..., None] * P_bar, shrinkage * expected_rewards(task.R, P_bar)
        pi = np.full((*task.gammas.shape, *N.shape[1:]), 1.0 / N.shape[-1])
        for _ in range(self.improvements):
            Q = action_values(P, R, pi, task.gammas)
            pi = np.eye(N.shape[-1])[Q.argmax(-1)]
        return Decision(pi.argmax(-1), task.gammas)


def action_values(
    P: Float[np.ndarray, "n S A S"],
    R: Float[np.ndarray, "n S A"],
    pi: Float[np.ndarray, "n G S A"],
    gammas: Float[np.ndarray, "n G"],
) -> Float[np.ndarray, "n G S A"]:
    """Return Q = R + gamma P V for stochastic policies pi."""
    chain = (pi[..., None, :] @ P[:, None])[..., 0, :]
    V = chain_value(chain, (pi * R[:, None]).sum(-1), gammas)
    return R[:, None] + gammas[..., None, None] * (P[:, None] @ V[:, :, None, :, None])[..., 0]
