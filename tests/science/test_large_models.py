"""Planning and evaluation of models that are too large for elimination, by LAPACK and as sparse matrices."""

import numpy as np
import pytest
from tests.support.sample_models import (
    grid_world,
    models_with_equal_actions,
    models_with_twin_states,
    policy_values,
    random_models,
    ring,
    sampled_models,
)

from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import compiled
from pomrl.science.solvers.action_ties import signed_and_absolute
from pomrl.science.solvers.evaluation import distinct_policy_values, policy_value

LONG_GRID = np.linspace(0.0, 0.99, 12)


KINDS = {
    "dense": lambda rng, M: random_models(rng, M, 100, 2),
    "one transition": lambda rng, M: sampled_models(rng, M, 100, 2, 1),
    "ties": lambda rng, M: models_with_equal_actions(rng, M, 100, 2),
    "twins": lambda rng, M: models_with_twin_states(rng, M, 100, 2),
    "ring": lambda rng, M: ring(80),
    "dense, fewer states": lambda rng, M: random_models(rng, M, 70, 2),
    "long ring": lambda rng, M: ring(150),
    "grid": lambda rng, M: grid_world(7, 10),
    "wide grid": lambda rng, M: grid_world(10, 15),
}


@pytest.mark.parametrize("kind", KINDS)
def test_large_models_satisfy_the_bellman_equation(kind: str):
    """At an optimal policy no action gains anything."""
    P, R = KINDS[kind](np.random.default_rng(30), 3)
    policy = PolicyIteration().plan(P, R, LONG_GRID)
    for g, gamma in enumerate(LONG_GRID):
        V = policy_value(P, R, policy[:, g], gamma)
        gain = (R + gamma * np.einsum("isat,it->isa", P, V)).max(-1) - V
        assert (gain <= 1.01e-12 / (1 - gamma)).all()
    loss = planning_loss(P, R, policy, 0.99)
    assert (loss >= 0).all()
    assert (loss[:, -1] == 0).all()


@pytest.mark.parametrize("kind", ["dense", "one transition", "twins", "long ring"])
@pytest.mark.parametrize("gamma", [0.0, 0.9, 0.999])
def test_large_models_value_policies_separately(kind: str, gamma: float):
    rng = np.random.default_rng(33)
    P, R = KINDS[kind](rng, 1)
    like, unlike = np.zeros((2, 9, P.shape[1]), np.int16)
    like[:, :12], unlike[:] = rng.integers(0, 2, (9, 12)), rng.integers(0, 2, unlike.shape)
    for policies in (like, unlike):
        V, model, index = distinct_policy_values(P, R, policies[None], gamma)
        assert (model == 0).all()
        for g in range(9):
            expected = policy_value(P[0], R[0], policies[g], gamma)
            assert (1 - gamma) * np.abs(V[index[0, g]] - expected).max() <= 5e-13


def remaining(rng: np.random.Generator, M: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw dense models in which states are seldom left, so that iterations take long."""
    P, R = random_models(rng, M, 100, 2)
    return 0.01 * P + 0.99 * np.eye(100)[:, None], R


@pytest.mark.parametrize("kind", ["dense", "ties", "twins", "ring", "long ring", "grid", "wide grid", "remaining"])
@pytest.mark.parametrize("offset", [0.0, -0.5])
@pytest.mark.parametrize("is_built", [True, False])
def test_large_plans_have_their_policies_values(
    kind: str, offset: float, is_built: bool, monkeypatch: pytest.MonkeyPatch
):
    if not is_built:
        monkeypatch.setattr(compiled, "is_built", lambda: False)
    P, R = {**KINDS, "remaining": remaining}[kind](np.random.default_rng(32), 2)
    R = R + offset
    policies, values = PolicyIteration().plan_and_evaluate(P, R, LONG_GRID)
    sides = signed_and_absolute(R)
    for i, g in np.ndindex(policies.shape[:2]):
        V = np.stack([policy_values(P[i], side, policies[i, g], float(LONG_GRID[g])) for side in sides[:, i]])
        assert (np.abs(values[0, i, g] - V[0]) <= 2e-13 * V[-1].max()).all()
        np.testing.assert_allclose(np.abs(values[-1, i, g]), np.abs(V[-1]), rtol=1e-5)
        gain = R[i] + LONG_GRID[g] * P[i] @ V[0] - V[0][:, None]
        assert gain.max() <= 1e-12 * V[-1].max() * (1 + LONG_GRID[g])
