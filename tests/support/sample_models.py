"""Models that several tests use, and their optimal values by brute force."""

from itertools import product

import numpy as np
from scipy.sparse import csr_array

from pomrl.science.mdp import random_chain_mdp


def random_models(rng: np.random.Generator, M: int, S: int, A: int, zeros: int = 0) -> tuple[np.ndarray, np.ndarray]:
    models = [random_chain_mdp(rng, S, A, zeros) for _ in range(M)]
    return np.stack([P for P, _ in models]), np.stack([R for _, R in models])


def sampled_models(rng: np.random.Generator, M: int, S: int, A: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of m transitions; with m = 1 every row has a single 1."""
    P, R = random_models(rng, M, S, A)
    return rng.multinomial(m, P) / m, R


def models_with_equal_actions(rng: np.random.Generator, M: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """The last action is the first one again, in transitions and rewards."""
    P, R = random_models(rng, M, S, A)
    P[:, :, -1], R[:, :, -1] = P[:, :, 0], R[:, :, 0]
    return P, R


def models_with_twin_states(rng: np.random.Generator, M: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """States 2i and 2i + 1 look alike and are equally likely, so that it does not matter which one is reached."""
    P, R = random_models(rng, M, S // 2, A)
    P = P.repeat(2, axis=1).repeat(2, axis=3) / 2
    P[:, :, -1] = P[:, :, -1].reshape(M, S, S // 2, 2)[..., ::-1].reshape(M, S, S)
    return P, R.repeat(2, axis=1)


def ring(S: int) -> tuple[np.ndarray, np.ndarray]:
    """Action 0 stays, action 1 goes to the next state; only state 0 pays."""
    P, R = np.zeros((1, S, 2, S)), np.zeros((1, S, 2))
    P[0, :, 0], P[0, :, 1] = np.eye(S), np.roll(np.eye(S), 1, axis=1)
    R[0, 0] = 1.0
    return P, R


def sparse_queue(S: int, load: float = 0.4) -> tuple[csr_array, np.ndarray]:
    """The rows s A + a and the rewards of a queue of at most S - 1 customers, without an array of S² entries."""
    s, leaves = np.indices((S, 3))[0], np.array([0.2, 0.5, 0.8]) * (np.arange(S)[:, None] > 0)
    chances = np.stack([(1 - load) * leaves, load * leaves + (1 - load) * (1 - leaves), load * (1 - leaves)])
    following = np.clip(np.stack([s - 1, s, s + 1]), 0, S - 1)
    pair = np.broadcast_to(np.arange(3 * S).reshape(S, 3), following.shape)
    rows = csr_array((chances.ravel(), (pair.ravel(), following.ravel())), shape=(3 * S, S))
    return rows, -(s + np.array([0.0, 1.0, 4.0]))


def all_policies(S: int, A: int) -> np.ndarray:
    return np.array(list(product(range(A), repeat=S)))


def value_of(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """The value of policies [n, S] on one model [S, A, S], written without the library."""
    S = len(P)
    P_pi, R_pi = P[np.arange(S), policy], R[np.arange(S), policy]
    return np.linalg.solve(np.eye(S) - gamma * P_pi, R_pi[..., None])[..., 0]


def brute_force_value(P: np.ndarray, R: np.ndarray, gamma: float) -> np.ndarray:
    """V* of one model: the largest value in each state over all A^S policies."""
    return value_of(P, R, all_policies(*R.shape), gamma).max(0)
