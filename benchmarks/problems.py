"""Models as the experiment makes them: random chain MDPs, estimated from few transitions and a prior."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pomrl.science.mdp import optimal_value, random_chain_mdp

GAMMA_EVAL = 0.99


@dataclass(frozen=True)
class Models:
    """M true models, estimates of them, and the optimal values of the true ones at gamma_eval."""

    P: Float[np.ndarray, "M S A S"]
    P_hat: Float[np.ndarray, "M S A S"]
    R: Float[np.ndarray, "M S A"]
    V_star: Float[np.ndarray, "M S"]

    def first(self, count: int) -> "Models":
        """Return the first models."""
        return Models(self.P[:count], self.P_hat[:count], self.R[:count], self.V_star[:count])


def draw(M: int, S: int, A: int, seed: int = 0) -> Models:
    """M models; each estimate is half the frequencies of m = 5 transitions and half those of 50."""
    rng = np.random.default_rng(seed)
    pairs = [random_chain_mdp(rng, S, A, S // 2) for _ in range(M)]
    P, R = np.stack([P for P, _ in pairs]), np.stack([R for _, R in pairs])
    P_hat = 0.5 * rng.multinomial(5, P) / 5 + 0.5 * rng.multinomial(50, P) / 50
    return Models(P, P_hat, R, optimal_value(P, R, GAMMA_EVAL))


def random_models(M: int, S: int, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Draw models with 2 actions, with Dirichlet rows and uniform rewards."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(S, 0.3), (M, S, 2)), rng.random((M, S, 2))


def grid_worlds(M: int, S: int, seed: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Draw costs of cells of a grid with four moves, each to a side with probability 0.2; the last cell ends all."""
    height = next(side for side in range(int(S**0.5), 0, -1) if S % side == 0)
    P, cells = np.zeros((S, 4, S)), np.stack(np.divmod(np.arange(S), S // height), 1)
    for action, move in enumerate(np.array([[0, 1], [1, 0], [0, -1], [-1, 0]])):
        for step, chance in ((move, 0.8), (move[::-1], 0.1), (-move[::-1], 0.1)):
            row, column = np.clip(cells + step, 0, [height - 1, S // height - 1]).T
            P[np.arange(S), action, row * (S // height) + column] += chance
    P[-1], P[-1, :, -1] = 0.0, 1.0
    R = np.repeat(np.random.default_rng(seed).uniform(-0.05, -0.04, (M, S, 1)), 4, -1)
    R[:, -1], R[:, -2] = 0.0, 1.0
    return np.tile(P, (M, 1, 1, 1)), R


def grid(G: int) -> Float[np.ndarray, " G"]:
    """G discount factors up to gamma_eval; above 0, which not every competitor takes."""
    return np.linspace(GAMMA_EVAL / G, GAMMA_EVAL, G)


Plan = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function of (P, R, gammas) that returns the policy of each model and gamma."""


def one_by_one(plan: Callable[[np.ndarray, np.ndarray, np.ndarray], Iterator[Sequence[int] | np.ndarray]]) -> Plan:
    """Plan many models by a function of (P, R, gammas) that yields the policies of one."""
    return lambda P, R, gammas: np.array([list(plan(*model, gammas)) for model in zip(P, R, strict=True)], np.int16)
