"""Models as the experiment makes them: random chain MDPs, estimated from few transitions and a prior."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.mdp import optimal_value, random_chain_mdp

GAMMA_EVAL = 0.99

Evaluate = Callable[[np.ndarray], np.ndarray]
"""A function that returns the values of a policy in one model."""


@dataclass(frozen=True)
class Models:
    """M true models, estimates of them, and the optimal values of the true ones at gamma_eval."""

    P: Float[np.ndarray, "M S A S"]
    P_hat: Float[np.ndarray, "M S A S"]
    R: Float[np.ndarray, "M S A"]
    V_star: Float[np.ndarray, "M S"]

    def first(self, count: int) -> "Models":
        """The first models only."""
        return Models(self.P[:count], self.P_hat[:count], self.R[:count], self.V_star[:count])


def draw(M: int, S: int, A: int, seed: int = 0) -> Models:
    """M models; each estimate is half the frequencies of m = 5 transitions and half those of 50."""
    rng = np.random.default_rng(seed)
    pairs = [random_chain_mdp(rng, S, A, S // 2) for _ in range(M)]
    P, R = np.stack([P for P, _ in pairs]), np.stack([R for _, R in pairs])
    P_hat = 0.5 * rng.multinomial(5, P) / 5 + 0.5 * rng.multinomial(50, P) / 50
    return Models(P, P_hat, R, optimal_value(P, R, GAMMA_EVAL))


def grid(G: int) -> Float[np.ndarray, " G"]:
    """G discount factors up to gamma_eval; above 0, which not every competitor takes."""
    return np.linspace(GAMMA_EVAL / G, GAMMA_EVAL, G)


def losses_by(
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
