import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.support.sample_models import (
    brute_force_value,
    models_with_equal_actions,
    models_with_twin_states,
    policy_values,
    random_models,
    sampled_models,
)

from pomrl.science import planners
from pomrl.science.mdp import planning_loss
from pomrl.science.planners import Planner, PolicyIteration, ValueIteration
from pomrl.science.solvers import action_ties, compiled, relative_values
from pomrl.science.solvers.input_checks import check_models

every_planner = pytest.mark.parametrize("planner", [PolicyIteration(), ValueIteration()], ids=["policy", "value"])
GAMMAS = np.array([0.0, 0.5, 0.99, 0.9999])
FAMILIES = {
    "random": lambda rng: random_models(rng, 12, 6, 3),
    "random, one action": lambda rng: random_models(rng, 12, 5, 1),
    "random with zeros": lambda rng: random_models(rng, 12, 6, 2, 3),
    "one-hot rows": lambda rng: sampled_models(rng, 24, 6, 3, 1),
    "sampled": lambda rng: sampled_models(rng, 24, 6, 2, 5),
    "equal actions": lambda rng: models_with_equal_actions(rng, 12, 5, 3),
    "twin states": lambda rng: models_with_twin_states(rng, 12, 6, 3),
}


def scaled_error(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float, V_star: np.ndarray) -> float:
    """Return (1 - gamma) |V_pi - V*| of a policy in one model."""
    return (1 - gamma) * np.abs(policy_values(P, R, policy, gamma) - V_star).max()


@every_planner
@pytest.mark.parametrize("family", FAMILIES)
def test_plans_have_the_best_policys_value(planner: Planner, family: str):
    P, R = FAMILIES[family](np.random.default_rng(1))
    gammas = GAMMAS[:-1] if isinstance(planner, ValueIteration) else GAMMAS  # which sweeps for long near 1
    policy = planner.plan(P, R, gammas)
    assert policy.shape == (len(P), len(gammas), P.shape[1])
    for i in range(len(P)):
        for g, gamma in enumerate(gammas):
            assert scaled_error(P[i], R[i], policy[i, g], gamma, brute_force_value(P[i], R[i], gamma)) <= 1e-12


@every_planner
@pytest.mark.parametrize("gamma", [0.5, 0.95])
def test_value_is_that_of_the_linear_program(planner: Planner, gamma: float):
    S, A = 20, 4
    P, R = random_models(np.random.default_rng(S), 2, S, A, S // 2)
    policy = planner.plan(P, R, np.array([gamma]))[:, 0]
    for i in range(len(P)):
        # minimise the sum of V subject to V >= R + gamma P V
        constraints = gamma * P[i].reshape(S * A, S) - np.eye(S).repeat(A, axis=0)
        program = linprog(np.ones(S), A_ub=constraints, b_ub=-R[i].ravel(), bounds=(None, None), method="highs")
        assert program.success
        assert scaled_error(P[i], R[i], policy[i], gamma, program.x) <= 1e-8


def test_value_iteration_refuses_to_stop_early():
    P, R = models_with_equal_actions(np.random.default_rng(9), 3, 5, 2)  # equal actions are never eliminated
    with pytest.raises(ArithmeticError, match=r"model [012] at gamma = 0\.9: .* in 10 sweeps"):
        ValueIteration(max_sweeps=10).plan(P, R, np.array([0.0, 0.9]))
    assert ValueIteration(max_sweeps=300).plan(P, R, np.array([0.0, 0.9])).shape == (3, 2, 5)


def test_value_iteration_keeps_its_tolerance():
    P, R = random_models(np.random.default_rng(10), 20, 6, 3)
    rough = ValueIteration(tolerance=0.05).plan(P, R, np.array([0.9]))[:, 0]
    loss = [scaled_error(P[i], R[i], rough[i], 0.9, brute_force_value(P[i], R[i], 0.9)) for i in range(20)]
    assert max(loss) <= 0.05


@pytest.mark.parametrize(
    ("plan", "tolerance"),
    [
        (ValueIteration(tolerance=1e-6).plan, 1e-6),
        (ValueIteration().plan, 1e-12),
        (lambda P, R, gammas: relative_values.solve_grid(P[0], R[0], gammas, 100)[0][None], 1e-12),
    ],
)
def test_a_late_reward_is_worth_more_sweeps(plan: Callable[..., np.ndarray], tolerance: float):
    """State 0 goes to a reward of 1, or through state 2 to one above 2, which sweeps with gamma = 0.5 show late."""
    P, R = np.zeros((1, 4, 2, 4)), np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, -1.0], [2.0 + 20.0 * tolerance, 0.0]]])
    P[0, 0, [0, 1], [1, 2]] = P[0, 1, :, 1] = P[0, 2, :, 3] = P[0, 3, :, 3] = 1.0
    assert plan(P, R, np.array([0.5]))[0, 0, 0] == 1


@pytest.mark.parametrize(("S", "without_engine"), [(3, False), (3, True), (40, True)])
def test_endless_policy_iteration_is_an_error(S: int, without_engine: bool, monkeypatch: pytest.MonkeyPatch):
    """Policy iteration does not end with a negative tolerance, because a worse action may then replace a better one."""
    monkeypatch.setattr(planners, "_STEPS_PER_PAIR", 5)
    if without_engine:
        monkeypatch.setattr(compiled, "is_built", lambda: False)
    monkeypatch.setattr(action_ties, "ROUNDING_SHARE", -1.0)
    P, R = random_models(np.random.default_rng(11), 2, S, 2)
    with pytest.raises(ArithmeticError, match="model 0"):
        PolicyIteration().plan(P, R, np.array([0.5]))


# The unit of rewards

LONG = np.array([0.0, 0.3, 0.6, 0.9, 0.99])


@every_planner
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-10])
def test_small_rewards_are_planned_as_large_ones(planner: Planner, unit: float) -> None:
    P, R = random_models(np.random.default_rng(1), 6, 6, 3)
    policies = planner.plan(P, R * unit, LONG)
    np.testing.assert_array_equal(policies, planner.plan(P, R, LONG))
    loss, losses = planning_loss(P, R * unit, policies, 0.99), planning_loss(P, R, policies, 0.99)
    assert losses.max() > 0.1
    np.testing.assert_array_equal(loss, losses * unit)


# What is refused


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("P", np.s_[2, 1, 0, 3], np.nan, r"P\[2, 1, 0, 3\] = nan is not a probability"),
        ("P", np.s_[2, 1, 0, :2], [-1.0, 2.0], r"P\[2, 1, 0, 0\] = -1\.0 is not a probability"),
        ("P", np.s_[2, 1, 0], [0.25, 0.25, 0.25, 0.25 + 1e-9], r"the row P\[2, 1, 0\] = 1\.000000001\d* is not 1"),
        ("R", np.s_[2, 1, 0], np.inf, r"R\[2, 1, 0\] = inf is not finite"),
    ],
)
def test_bad_models_are_named_by_index(name: str, index: Any, value: Any, message: str):
    P, R = random_models(np.random.default_rng(12), 4, 4, 2)
    {"P": P, "R": R}[name][index] = value
    with pytest.raises(ValueError, match=message):
        PolicyIteration().plan(P, R, np.array([0.5]))


def test_mismatched_shapes_are_refused():
    check = inspect.unwrap(check_models)  # as it is without run-time checks of shapes
    with pytest.raises(ValueError, match=r"got \[4, 3, 2, 3\] and \[4, 3, 3\]"):
        check(np.full((4, 3, 2, 3), 1 / 3), np.zeros((4, 3, 3)))
    with pytest.raises(ValueError, match=r"got \[3, 2, 4\] and \[3, 2\]"):
        check(np.full((3, 2, 4), 0.25), np.zeros((3, 2)))
