"""Ties between actions: against exact policy iteration in fractions, in every way of planning."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.sample_models import models_with_equal_actions, models_with_twin_states, sampled_models

from pomrl.models import sparse_models
from pomrl.models.planning import from_arrays
from pomrl.science import planners
from pomrl.science.mdp import MAX_GAMMA_EVAL, Criterion, LossNorm, loss_error, optimal_value, planning_loss
from pomrl.science.planners import BackwardInduction, PolicyIteration, ValueIteration
from pomrl.science.solvers import action_ties, compiled, evaluation, policy_stacks, relative_values, sparse
from pomrl.science.solvers.evaluation import distinct_policy_values

GAMMAS = (0.5, 0.9, 0.99)


@contextmanager
def patched(*changes: tuple[object, str, object]) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, value in changes:
            stack.enter_context(patch.object(module, name, value))
        yield


WITHOUT_ELIMINATION = [(module, "ELIMINATED_STATES", 0) for module in (planners, policy_stacks, evaluation)]
WAYS: dict[str, list[tuple[object, str, object]]] = {
    "as it chooses itself": [],
    "NumPy": [(compiled, "is_built", lambda: False)],
    "two sides": [(action_ties, "have_both_signs", lambda R: True)],
    "LAPACK": [*WITHOUT_ELIMINATION, (sparse, "has_few_successors", lambda P: True)],
    "relative values, then LAPACK": [*WITHOUT_ELIMINATION, (relative_values, "SWEPT_STATES", 0)],
    "sparse": [*WITHOUT_ELIMINATION, (relative_values, "SWEPT_STATES", 0), (sparse, "is_sparse", lambda P: True)],
    "factorised": [
        *WITHOUT_ELIMINATION,
        (relative_values, "SWEPT_STATES", 0),
        (sparse, "is_sparse", lambda P: True),
        (sparse, "MAX_ENTRIES", 0),
    ],
    "BiCGSTAB": [
        *WITHOUT_ELIMINATION,
        (relative_values, "SWEPT_STATES", 0),
        (sparse, "is_sparse", lambda P: True),
        (sparse, "MAX_ENTRIES", 0),
        (sparse, "BICGSTAB_STATES", 0),
    ],
    "value iteration": [],
}  # fmt: skip
every_way = pytest.mark.parametrize("way", WAYS)


def plan(way: str, P: np.ndarray, R: np.ndarray, gammas: tuple[float, ...]) -> np.ndarray:
    """Return the policies [M, G, S] that a way of planning finds."""
    planner = ValueIteration() if way == "value iteration" else PolicyIteration()
    with patched(*WAYS[way]):
        return planner.plan(P, R, gammas)


def fractions(numbers: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(numbers)


def exact_value(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """The value of a policy in fractions, by the elimination of Gauss and Jordan."""
    states = np.arange(len(R))
    matrix = fractions(np.eye(len(R))) - Fraction(gamma) * fractions(P[states, policy])
    right = fractions(R[states, policy])
    for k in states:
        factor = matrix[:, k] / matrix[k, k]
        factor[k] = Fraction(0)
        matrix, right = matrix - factor[:, None] * matrix[k], right - factor * right[k]
    return right / matrix[states, states]


def exact_best_value(P: np.ndarray, R: np.ndarray, gamma: float) -> np.ndarray:
    """V* in fractions, by policy iteration."""
    policy, states = R.argmax(1), np.arange(len(R))
    while True:
        V = exact_value(P, R, policy, gamma)
        Q = fractions(R) + Fraction(gamma) * fractions(P).dot(V)
        better = Q.max(1) > Q[states, policy]
        if not better.any():
            return V
        policy = np.where(better, Q.argmax(1), policy)


def lost(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float, best: np.ndarray) -> float:
    """What a policy loses in the worst state, exactly."""
    return float(max(best - exact_value(P, R, policy, gamma)))


def draw_model(seed: int, S: int, A: int) -> tuple[np.ndarray, np.ndarray]:
    """A model whose probabilities are multiples of 1/8, with rewards of one sign or of both."""
    rng = np.random.default_rng(seed)
    P = rng.multinomial(8, rng.dirichlet(np.full(S, 0.4), (S, A))) / 8.0
    return P, rng.random((S, A)) - float(rng.choice([0.0, 0.0, 0.5, 1.0]))


seeds = pytest.mark.parametrize("seed", range(4))


@every_way
@seeds
@pytest.mark.parametrize("gamma", GAMMAS)
def test_unpaid_penalties_change_no_value(way: str, gamma: float, seed: int) -> None:
    """One action of some states costs up to 10^12."""
    S, rng = 2 + seed % 4, np.random.default_rng(seed)
    P, R = draw_model(seed, S, 3)
    fined = R.copy()
    fined[rng.random(S) < 0.7, 2] = -200.0 - 10.0 ** rng.choice([3.0, 6.0, 9.0, 12.0])
    reachable = np.where((fined[:, 2] == R[:, 2])[:, None, None], P, np.concatenate([P[:, :2], P[:, :1]], 1))
    R_kept = np.where((fined[:, 2] == R[:, 2])[:, None], R, np.concatenate([R[:, :2], R[:, :1]], 1))
    best = exact_best_value(reachable, R_kept, gamma)
    (policy,) = plan(way, P[None], fined[None], (gamma,))[0]
    assert lost(P, fined, policy, gamma, best) <= 1e-9
    with patched(*WAYS[way]):
        np.testing.assert_allclose(optimal_value(P[None], fined[None], gamma)[0], best.astype(float), rtol=0, atol=1e-9)
        policies = np.random.default_rng(seed).integers(0, 2, (1, 4, S))
        losses = [planning_loss(P[None], rewards[None], policies, gamma) for rewards in (fined, R_kept)]
        if (reachable == P).all():
            np.testing.assert_allclose(*losses, rtol=0, atol=1e-9)


@every_way
@seeds
@pytest.mark.parametrize("power", [-300, -40, -1, 7, 300])
def test_a_power_of_2_changes_no_bit(way: str, power: int, seed: int) -> None:
    P, R = (array[None] for array in draw_model(seed, 2 + seed % 4, 3))
    unit = 2.0**power
    policies = plan(way, P, R, GAMMAS)
    np.testing.assert_array_equal(plan(way, P, R * unit, GAMMAS), policies)
    with patched(*WAYS[way]):
        np.testing.assert_array_equal(optimal_value(P, R * unit, 0.99), optimal_value(P, R, 0.99) * unit)
        losses = planning_loss(P, R, policies, 0.99)
        np.testing.assert_array_equal(planning_loss(P, R * unit, policies, 0.99), losses * unit)


@every_way
@seeds
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("prize", [1e6, 1e12, -1e12])
def test_a_prize_that_nothing_reaches_changes_nothing(way: str, gamma: float, prize: float, seed: int) -> None:
    """A state that is added pays the prize for ever, or once and goes on to one of the others."""
    S, rng = 2 + seed % 4, np.random.default_rng(seed)
    (P, R), extra = draw_model(seed, S, 2), rng.integers(S + 1)
    ordinary = np.delete(np.arange(S + 1), extra)
    large_P, large_R = np.zeros((S + 1, 2, S + 1)), np.full((S + 1, 2), prize)
    large_P[np.ix_(ordinary, np.arange(2), ordinary)], large_R[ordinary] = P, R
    large_P[extra, 0, rng.integers(S + 1)] = large_P[extra, 1, extra] = 1.0
    policy, large_policy = (
        plan(way, P[None], R[None], (gamma,))[0, 0],
        plan(way, large_P[None], large_R[None], (gamma,))[0, 0],
    )
    best = exact_best_value(P, R, gamma)
    assert lost(P, R, large_policy[ordinary], gamma, best) <= 1e-12 / (1.0 - gamma) ** 2
    assert lost(P, R, policy, gamma, best) <= 1e-12 / (1.0 - gamma) ** 2
    with patched(*WAYS[way]):
        actual = optimal_value(large_P[None], large_R[None], gamma)[0, ordinary]
        np.testing.assert_allclose(actual, best.astype(float), rtol=0, atol=1e-9)
        if way in ("as it chooses itself", "NumPy", "two sides"):
            np.testing.assert_array_equal(large_policy[ordinary], policy)
            np.testing.assert_array_equal(actual, optimal_value(P[None], R[None], gamma)[0])


@every_way
@seeds
@pytest.mark.parametrize("unit", [1e-300, 1e-10, 1e-3, 1e10])
def test_the_unit_of_rewards_changes_no_decision(way: str, unit: float, seed: int) -> None:
    P, R = draw_model(seed, 2 + seed % 4, 3)
    for gamma, policy in zip(GAMMAS, plan(way, P[None], R[None] * unit, GAMMAS)[0], strict=True):
        assert lost(P, R, policy, gamma, exact_best_value(P, R, gamma)) <= 1e-9


TIED: dict[str, Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]] = {
    "equal actions": lambda rng: models_with_equal_actions(rng, 4, 6, 3),
    "twin states": lambda rng: models_with_twin_states(rng, 4, 6, 3),
    "twin states of one transition": lambda rng: sampled_models(rng, 4, 6, 3, 1),
}


@pytest.mark.parametrize("kind", TIED)
@every_way
@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_plans_of_tied_models_have_best_values(kind: str, way: str, shift: float) -> None:
    """The error, times 1 - gamma, is below 1e-12 of the largest value."""
    P, R = TIED[kind](np.random.default_rng(3))
    R = R.round(2) - shift
    factors = (*GAMMAS, *((0.999, MAX_GAMMA_EVAL) if way != "value iteration" else ()))
    for P_i, R_i, policies in zip(P, R, plan(way, P, R, factors), strict=True):
        for gamma, policy in zip(factors, policies, strict=True):
            best = exact_best_value(P_i, R_i, gamma)
            assert (1.0 - gamma) * lost(P_i, R_i, policy, gamma, best) <= 1e-12 * float(np.abs(best).max())


@pytest.mark.parametrize("way", ["as it chooses itself", "NumPy", "LAPACK", "factorised", "BiCGSTAB"])
@pytest.mark.parametrize(("gain", "is_better"), [(0.9e-12, False), (1.1e-12, True)])
def test_ties_end_at_one_part_in_1e12(way: str, gain: float, is_better: bool) -> None:
    """State 0 goes to a reward of 1 or of 1 + gain, for ever."""
    P, R = np.zeros((1, 3, 2, 3)), np.array([[[0.0, 0.0], [1.0, 1.0], [1.0 + gain, 1.0 + gain]]])
    P[0, 0, [0, 1], [1, 2]] = P[0, 1, :, 1] = P[0, 2, :, 2] = 1.0
    policy = plan(way, P, R, (0.9,))
    assert policy[0, 0, 0] == is_better
    with patched(*WAYS[way]):
        V = optimal_value(P, R, 0.9)
        assert (planning_loss(P, R, policy, 0.9, (1.0 + gain) * V).item() > 0.0) == is_better
    assert loss_error(0.9) == pytest.approx(1e-12 / (1.0 - 0.9) ** 2)


@every_way
@pytest.mark.parametrize("share", [3.0, 7.0, 11.0])
def test_actions_whose_large_rewards_cancel_are_tied(way: str, share: float) -> None:
    """State 0 goes to 1 or to 2, which gain and lose 1e9 in two orders but for one ulp, and 3 ends."""
    gamma, gain = 0.83, 1e9 / share
    later = np.nextafter(gain / gamma, np.inf)
    policies = np.zeros((1, 2, 6), int)
    policies[0, 1, 0] = 1
    for first in ((1, 2), (2, 1)):
        P, R = np.zeros((1, 6, 2, 6)), np.zeros((1, 6, 2))
        for s, following in enumerate([first, (4, 4), (5, 5), (3, 3), (3, 3), (3, 3)]):
            P[0, s, [0, 1], following] = 1.0
        R[0, [1, 2, 4, 5]] = np.array([gain, -gain, -later, later])[:, None]
        if way != "value iteration":  # which takes the first of the best
            assert plan(way, P, R, (gamma,))[0, 0, 0] == 0
        with patched(*WAYS[way]):
            np.testing.assert_array_equal(planning_loss(P, R, policies, gamma), 0.0)


@seeds
@pytest.mark.parametrize(("M", "power"), [(1e3, 3), (1e9, -200), (1e12, 100)])
def test_undiscounted_plans_ignore_units_and_penalties(M: float, power: int, seed: int) -> None:
    """State 3 is the end, which each action reaches from each state with probability 1/8 or more."""
    P, R = draw_model(seed, 4, 3)
    P = 0.875 * P + 0.125 * np.eye(4)[3]
    P[3], R[3], R[:3, 2] = np.eye(4)[3], 0.0, -M
    ways = ((Criterion(1.0), PolicyIteration()), (Criterion(1.0, horizon=5), BackwardInduction(steps=5)))
    for criterion, planner in ways:
        fined, free = ((P[None], R[None]), (P[None, :, :2], R[None, :, :2]))
        policies = planner.plan(*fined, [1.0])
        best = criterion.optimal_value(*free)
        np.testing.assert_allclose(criterion.optimal_value(*fined), best, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(planner.plan(fined[0], fined[1] * 2.0**power, [1.0]), policies)
        zeros = np.zeros((1, 1, 4), int)
        losses = criterion.planning_loss(*free, zeros)
        np.testing.assert_allclose(criterion.planning_loss(*fined, zeros), losses, rtol=0, atol=1e-9)
        scaled = criterion.planning_loss(fined[0], fined[1] * 2.0**power, zeros)
        np.testing.assert_array_equal(scaled, criterion.planning_loss(*fined, zeros) * 2.0**power)


@pytest.mark.parametrize("norm", ["max", "mean"])
def test_sparse_losses_ignore_units_and_penalties(norm: LossNorm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_models, "is_small", lambda _: False)
    P, R = draw_model(1, 5, 3)
    rows = csr_array(P.reshape(-1, 5))
    policies = np.random.default_rng(0).integers(0, 2, (6, 5))
    losses = from_arrays(rows, np.c_[R[:, :2], R[:, :1] - 100.0]).planning_loss(policies, 0.99, norm)
    for fine, unit in ((1e12, 1.0), (1e12, 2.0**-60), (100.0, 1e-10)):
        model = from_arrays(rows, np.c_[R[:, :2], R[:, :1] - fine] * unit)
        np.testing.assert_allclose(model.planning_loss(policies, 0.99, norm) / unit, losses, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("S", "sparse_rows"), [(70, False), (200, False), (200, True)])
@pytest.mark.parametrize("prize", [1e12, -1e12])
def test_unreachable_prizes_change_no_large_model(S: int, sparse_rows: bool, prize: float) -> None:
    """The last state pays the prize and goes to state 0, whose own entry there is smaller, for it stays."""
    rng = np.random.default_rng(S)
    P, R = np.zeros((S, 2, S)), rng.random((S, 2))
    for action in range(2):
        following = np.roll(np.eye(S - 1), 1 + action, 1) if sparse_rows else rng.dirichlet(np.ones(S - 1), S - 1)
        P[:-1, action, :-1] = 0.95 * np.eye(S - 1) + 0.05 * following
    P[-1, :, 0], R[-1] = 1.0, prize
    smaller = P[None, :-1, :, :-1], R[None, :-1]
    policies = np.zeros((1, 3, S), int)
    policies[0, 1, -1] = policies[0, 1, 3:6] = policies[0, 2, 5:8] = 1
    for gamma in (0.9, 0.999):
        actual, best = optimal_value(P[None], R[None], gamma)[0, :-1], optimal_value(*smaller, gamma)[0]
        np.testing.assert_allclose(actual, best, rtol=1e-11)
        V, _, which = distinct_policy_values(P[None], R[None], policies, gamma)
        best, _, _ = distinct_policy_values(*smaller, policies[..., :-1], gamma)
        assert which.tolist() == [[0, 1, 2]]
        np.testing.assert_allclose(V[:, :-1], best, rtol=1e-11)
