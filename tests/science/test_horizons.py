"""What a horizon is worth: the equivalent prior, and comparisons of horizons with priors."""

import numpy as np
import pytest

from pomrl.science.mdp import policy_value
from pomrl.science.planners import PolicyIteration

GAMMA_EVAL = 0.99


def equivalent(P: np.ndarray, u: np.ndarray, gamma: float) -> np.ndarray:
    """The model with which planning at `GAMMA_EVAL` is planning with P at gamma (Theorem D)."""
    return gamma / GAMMA_EVAL * P + (1.0 - gamma / GAMMA_EVAL) * u


def models(n: int, S: int = 5, A: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(S, 0.3), (n, S, A))
    return P, rng.random((n, S, A)), rng.dirichlet(np.ones(S))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.98, 0.99])
def test_planning_with_gamma_equals_the_mixed_model(gamma: float):
    P, R, u = models(1000)
    mixed = equivalent(P, u, gamma)
    np.testing.assert_allclose(mixed.sum(-1), 1.0)
    short = PolicyIteration().plan(P, R, np.array([gamma]))[:, 0]
    long = PolicyIteration().plan(mixed, R, np.array([GAMMA_EVAL]))[:, 0]
    for model, discount in ((P, gamma), (mixed, GAMMA_EVAL)):
        values = [policy_value(model, R, policy, discount) for policy in (short, long)]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-8)
    assert (short == long).all(-1).mean() > 0.999
