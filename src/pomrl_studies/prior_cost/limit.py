"""Compute the limit of (t - 1) times the excess with equal tasks (theory.md, Proposition 2)."""

from functools import cache

import numpy as np
from jaxtyping import Float

from pomrl.components import Rewards
from pomrl.study import Dirichlet, PolicyIteration

SEED = 0
"""The seed of the draws of the formula's mean, apart from all sweeps."""


@cache
def limits(n: int, S: int, A: int, m: int, gamma: float) -> Float[np.ndarray, " n"]:
    """Return the limit given the mean model and the other rewards, for n random chains without zeros."""
    means = [Dirichlet(zeros=0).draw_mean(SEED, run, S, A, 0.0) for run in range(n)]
    P, R = np.stack([mean.P_o for mean in means]), np.stack([mean.R for mean in means])
    return sum((_pair_term(P, R, s, a, m, gamma) for s in range(S) for a in range(A)), start=np.zeros(n))


def _pair_term(
    P: Float[np.ndarray, "n S A S"], R: Rewards, s: int, a: int, m: int, gamma: float
) -> Float[np.ndarray, " n"]:
    """Return the term of a pair: 1/4 E[Var(b'), 0 < b < 1] N(s, s), with the density 1 of its reward.

    b is the reward from which the action is optimal, and b' its derivative towards the frequencies of one task.
    """
    S = P.shape[1]
    without = R.copy()
    without[:, s, a] = -2.0 / (1.0 - gamma)  # so the action is never optimal
    policy = PolicyIteration().plan(P, without, np.array([gamma]))[:, 0, :, None]
    chain = np.take_along_axis(P, policy[..., None], 2)[:, :, 0]
    visits = np.linalg.inv(np.eye(S) - gamma * chain)
    value = np.einsum("nst,nt->ns", visits, np.take_along_axis(R, policy, 2)[..., 0])
    row = P[:, s, a]
    threshold = value[:, s] - gamma * np.einsum("nt,nt->n", row, value)
    influence = gamma * (visits[:, s] - gamma * np.einsum("nu,nut->nt", row, visits))
    variance = np.einsum("nt,nt->n", influence**2, _variance(chain, value)) + gamma**2 * _variance(row, value)
    taken = chain.copy()
    taken[:, s] = row
    returns = np.linalg.inv(np.eye(S) - gamma * taken)[:, s, s]
    return 0.25 * ((threshold > 0.0) & (threshold < 1.0)) * variance / m * returns


def _variance(P: Float[np.ndarray, "n ... S"], value: Float[np.ndarray, "n S"]) -> Float[np.ndarray, "n ..."]:
    return np.einsum("n...t,nt->n...", P, value**2) - np.einsum("n...t,nt->n...", P, value) ** 2
