"""Small models for tests, and their optimal values by brute force."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pomrl.science.mdp import random_chain_mdp


def random_models(rng: np.random.Generator, M: int, S: int, A: int, zeros: int = 0) -> tuple[np.ndarray, np.ndarray]:
    models = [random_chain_mdp(rng, S, A, zeros) for _ in range(M)]
    return np.stack([P for P, _ in models]), np.stack([R for _, R in models])


def sampled_models(rng: np.random.Generator, M: int, S: int, A: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw frequencies of m transitions, and rewards."""
    P, R = random_models(rng, M, S, A)
    return rng.multinomial(m, P) / m, R


def models_with_equal_actions(rng: np.random.Generator, M: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw models whose last action equals the first one."""
    P, R = random_models(rng, M, S, A)
    P[:, :, -1], R[:, :, -1] = P[:, :, 0], R[:, :, 0]
    return P, R


def models_with_twin_states(rng: np.random.Generator, M: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw models with equivalent, equally likely states 2i and 2i + 1."""
    P, R = random_models(rng, M, S // 2, A)
    P = P.repeat(2, axis=1).repeat(2, axis=3) / 2
    P[:, :, -1] = P[:, :, -1].reshape(M, S, S // 2, 2)[..., ::-1].reshape(M, S, S)
    return P, R.repeat(2, axis=1)


def models_with_few_successors(rng: np.random.Generator, M: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw models with one to three successors of each pair; a fifth of the states are never left."""
    successors = rng.integers(0, S, (M, S, A, 3))
    successors = np.where(rng.random((M, S, 1, 1)) < 0.2, np.arange(S)[:, None, None], successors)
    P = np.zeros((M, S, A, S))
    for i in range(3):
        np.put_along_axis(P, successors[..., [i]], np.take_along_axis(P, successors[..., [i]], -1) + 1 / 3, -1)
    return P, rng.random((M, S, A))


def ring(S: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a ring: action 0 stays, 1 moves; only state 0 pays."""
    P, R = np.zeros((1, S, 2, S)), np.zeros((1, S, 2))
    P[0, :, 0], P[0, :, 1] = np.eye(S), np.roll(np.eye(S), 1, axis=1)
    R[0, 0] = 1.0
    return P, R


def grid_world(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid with four moves, each to a side with probability 0.2; the last cell ends all and pays first."""
    S, moves = height * width, np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])
    P, cells = np.zeros((1, S, 4, S)), np.stack(np.divmod(np.arange(S), width), 1)
    for a, move in enumerate(moves):
        for step, chance in ((move, 0.8), (move[::-1], 0.1), (-move[::-1], 0.1)):
            row, column = np.clip(cells + step, 0, [height - 1, width - 1]).T
            P[0, np.arange(S), a, row * width + column] += chance
    P[0, -1], P[0, -1, :, -1] = 0.0, 1.0
    R = np.full((1, S, 4), -0.04)
    R[0, -1], R[0, -2] = 0.0, 1.0
    return P, R


def sparse_queue(S: int, load: float = 0.4) -> tuple[csr_array, np.ndarray]:
    """Return sparse transitions [S A, S] and rewards [S, A] of a queue of at most S - 1 customers."""
    s, leaves = np.indices((S, 3))[0], np.array([0.2, 0.5, 0.8]) * (np.arange(S)[:, None] > 0)
    chances = np.stack([(1 - load) * leaves, load * leaves + (1 - load) * (1 - leaves), load * (1 - leaves)])
    following = np.clip(np.stack([s - 1, s, s + 1]), 0, S - 1)
    pair = np.broadcast_to(np.arange(3 * S).reshape(S, 3), following.shape)
    rows = csr_array((chances.ravel(), (pair.ravel(), following.ravel())), shape=(3 * S, S))
    return rows, -(s + np.array([0.0, 1.0, 4.0]))


def all_policies(S: int, A: int) -> np.ndarray:
    return np.array(list(product(range(A), repeat=S)))


def policy_values(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """Return values [n, S] of policies [n, S], without the library."""
    S = len(P)
    P_pi, R_pi = P[np.arange(S), policy], R[np.arange(S), policy]
    return np.linalg.solve(np.eye(S) - gamma * P_pi, R_pi[..., None])[..., 0]


def brute_force_value(P: np.ndarray, R: np.ndarray, gamma: float) -> np.ndarray:
    """Return V* of one model, the maximum over all A^S policies."""
    return policy_values(P, R, all_policies(*R.shape), gamma).max(0)


def exact_values(P: Any, R: Any, gamma: float, allowed: Any = None) -> list[float]:
    """Optimal values by policy iteration in exact fractions; the rows of P may be any that sum to 1."""
    S, A = len(P), len(P[0])
    options = [[a for a in range(A) if allowed is None or allowed[s][a]] for s in range(S)]
    rows = [[[Fraction(float(p)) for p in P[s][a]] for a in range(A)] for s in range(S)]
    paid = [[Fraction(float(R[s][a])) if a in options[s] else Fraction(0) for a in range(A)] for s in range(S)]
    g, policy = Fraction(gamma), [actions[0] for actions in options]
    while True:
        system = [
            [Fraction(int(s == t)) - g * rows[s][policy[s]][t] for t in range(S)] + [paid[s][policy[s]]]
            for s in range(S)
        ]
        for i in range(S):
            pivot = next(r for r in range(i, S) if system[r][i])
            system[i], system[pivot] = system[pivot], system[i]
            system[i] = [value / system[i][i] for value in system[i]]
            for r in range(S):
                if r != i:
                    system[r] = [x - system[r][i] * y for x, y in zip(system[r], system[i], strict=True)]
        V = [row[S] for row in system]
        Q = [
            [paid[s][a] + g * sum(p * v for p, v in zip(rows[s][a], V, strict=True)) for a in range(A)]
            for s in range(S)
        ]
        better = [max(options[s], key=lambda a, s=s: (Q[s][a], a == policy[s])) for s in range(S)]
        if better == policy:
            return [float(v) for v in V]
        policy = better


def model_with_forbidden_actions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A model of 5 states and 3 actions, of which the best one of some states is not allowed."""
    rng = np.random.default_rng(3)
    P, R = rng.dirichlet(np.ones(5), (5, 3)), rng.normal(size=(5, 3))
    allowed = np.ones((5, 3), bool)
    allowed[0, 0] = allowed[2, 1] = allowed[2, 2] = allowed[4, 0] = False
    R[~allowed] = 50.0
    return P, R, allowed
