"""Plans that depart from a log only where it supports that: by brute force, and by closed forms."""

from itertools import product

import numpy as np
import pytest
from test_logs import make_log

from pomrl_logs.safe_improvement import KEEP, TaskModels, estimate_models

S, A, GAMMA = 3, 2, 0.8
VISITS = np.array([[[9, 9], [2, 7], [1, 3]]])
"""Of the only task: with a support of 5, any action in state 0, the second one in state 1, none in state 2."""


@pytest.fixture(scope="module")
def estimate() -> TaskModels:
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(S), (1, S, A))
    R = rng.random((1, S, A))
    chance = VISITS / VISITS.sum(-1, keepdims=True)
    P = np.concatenate([np.einsum("ksa,ksat->kst", chance, P)[:, :, None], P], 2)
    return TaskModels(P, np.concatenate([(chance * R).sum(-1, keepdims=True), R], 2), VISITS, np.full((1, S), 1 / S))


def value(estimate: TaskModels, policy: tuple[int, ...]) -> np.ndarray:
    P = np.stack([estimate.P[0, s, action + 1] for s, action in enumerate(policy)])
    R = np.array([estimate.R[0, s, action + 1] for s, action in enumerate(policy)])
    return np.linalg.solve(np.eye(S) - GAMMA * P, R)


@pytest.mark.parametrize(
    ("support", "choices"),
    [
        (5, [(0, 1), (1,), (KEEP,)]),
        (3, [(0, 1), (1,), (1,)]),
        (9, [(0, 1), (KEEP,), (KEEP,)]),
        (10, [(KEEP,), (KEEP,), (KEEP,)]),
    ],
)
def test_plans_are_the_best_supported_ones(estimate: TaskModels, support: int, choices: list[tuple[int]]):
    best = max(product(*choices), key=lambda policy: value(estimate, policy).mean())
    (plan,) = estimate.plans(support, np.array([GAMMA]))
    assert tuple(plan[0]) == best


def test_values_and_visits_match_the_chain(estimate: TaskModels):
    policies = np.array([[1, KEEP, 0]])
    V = value(estimate, (1, KEEP, 0))
    np.testing.assert_allclose(estimate.values(policies, GAMMA)[0], V)
    _, R = estimate.chain(policies)
    np.testing.assert_allclose((estimate.occupancy(policies, GAMMA) * R).sum(), V.mean())


def test_gains_add_up_to_value_differences(estimate: TaskModels):
    policies = np.array([[1, KEEP, 0]])
    difference = (value(estimate, (1, KEEP, 0)) - value(estimate, (KEEP,) * 3)).mean()
    gains = estimate.gains(policies, GAMMA)
    assert gains.sum() == pytest.approx(difference)
    assert gains[0, 1] == 0.0


def test_kept_decisions_have_their_frequencies():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(4000, rng.dirichlet(np.ones(S), (2, S, A)))
    counts[0, :, 0] *= 3
    log = make_log(counts, np.ones(1))
    frequencies = counts.sum(2) / counts.sum((2, 3))[..., None]
    np.testing.assert_allclose(estimate_models(log).P[:, :, 0], frequencies, atol=0.01)


def test_absorbing_states_pay_nothing():
    counts = np.zeros((1, 2, 1, 2), int)
    counts[0, 0, 0] = [1, 3]
    log = make_log(counts, np.full(1, 2.0))
    actual = estimate_models(log)
    assert actual.P[0, 1].tolist() == [[0.0, 1.0]] * 2
    assert actual.R[0, 1].tolist() == [0.0, 0.0]
    assert (actual.plans(1, np.array([GAMMA]))[0, 0]).tolist() == [0, KEEP]


def test_other_tasks_support_no_departure():
    counts = np.zeros((2, 2, 2, 2), int)
    counts[:, :, 0] = 30
    counts[1, :, 1, 0] = 1000
    R = np.zeros((1, 2, 2, 2))
    R[:, :, 1] = 5.0
    plan = estimate_models(make_log(counts, R)).plans(5, np.array([GAMMA]))[0]
    assert plan.tolist() == [[0, 0], [1, 1]]
