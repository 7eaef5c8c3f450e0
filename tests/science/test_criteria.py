"""Finite horizons, no discount, and start states: against brute force, closed forms, and what is refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.sample_models import all_policies, random_models, ring

from pomrl.science.experiment import tables
from pomrl.science.mdp import Criterion
from pomrl.science.metrics.shipped import Value
from pomrl.science.planners import BackwardInduction, PolicyIteration
from pomrl.science.solvers.undiscounted import NeverEndsError, terminal
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.small_experiments import SMALL_METHOD, small_problem


def forwards(P: np.ndarray, R: np.ndarray, policies: np.ndarray, gamma: float) -> np.ndarray:
    """Values of policies [k, H, S] with actions by steps to go, summed from the first step on: no induction."""
    S = P.shape[0]
    total, weight = np.zeros((len(policies), S)), np.eye(S)
    for i, action in enumerate(np.moveaxis(policies, 1, 0)[::-1]):
        total = total + gamma**i * (weight @ R[np.arange(S), action][..., None])[..., 0]
        weight = weight @ P[np.arange(S), action]
    return total


@pytest.mark.parametrize(("S", "A", "H", "models"), [(2, 2, 3, 100), (3, 2, 2, 100), (2, 3, 2, 100)])
def test_plans_over_a_horizon_are_optimal(S: int, A: int, H: int, models: int) -> None:
    P, R = random_models(np.random.default_rng(S * A), models, S, A)
    policies = np.array(list(product(range(A), repeat=S * H))).reshape(-1, H, S)
    gammas = np.array([0.0, 0.6, 1.0])
    plans = BackwardInduction(steps=H).plan(P, 10 * R - 5, gammas)
    assert plans.shape == (models, 3, H, S)
    for i, (P_i, R_i) in enumerate(zip(P, 10 * R - 5, strict=True)):
        for g, gamma in enumerate(gammas):
            best = forwards(P_i, R_i, policies, gamma).max(0)
            assert_allclose(forwards(P_i, R_i, plans[i, [g]], gamma)[0], best, atol=1e-12)
            assert_allclose(Criterion(gamma, horizon=H).optimal_value(P_i[None], R_i[None])[0], best, atol=1e-12)


def test_stationary_policies_have_values_over_a_horizon() -> None:
    P, R = random_models(np.random.default_rng(0), 5, 3, 2)
    criterion = Criterion(0.9, horizon=4)
    for policy in (np.zeros((5, 1, 3), int), BackwardInduction(steps=2).plan(P, R, np.array([0.9]))):
        by_steps = policy if policy.ndim == 4 else policy[:, :, None]
        steps_by_model = by_steps[:, 0, np.minimum(np.arange(4), by_steps.shape[2] - 1)]
        expected = [
            forwards(P_i, R_i, steps[None], 0.9)[0] for P_i, R_i, steps in zip(P, R, steps_by_model, strict=True)
        ]
        V, _, index = criterion.distinct_values(P, R, policy)
        assert_allclose(V[index[:, 0]], expected, atol=1e-12)
        assert (criterion.planning_loss(P, R, policy) >= 0).all()
    assert_array_equal(criterion.planning_loss(P, R, BackwardInduction(steps=4).plan(P, R, np.array([0.9]))), 0.0)


def proper(P_pi: np.ndarray) -> bool:
    return bool(np.abs(np.linalg.eigvals(P_pi)).max() < 1 - 1e-9)


def ending(rng: np.random.Generator, *, improper: bool) -> tuple[np.ndarray, np.ndarray]:
    """A model of four states of which the last is terminal; if some policies are improper, rewards are negative."""
    P, R = (array[0] for array in random_models(rng, 1, 4, 2, 2 if improper else 0))
    P[3], R = np.eye(4)[3], -0.01 - R if improper else 4 * R - 2
    R[3] = 0.0
    return P, R


@pytest.mark.parametrize("improper", [False, True])
def test_undiscounted_plans_are_the_best_that_end(*, improper: bool) -> None:
    """Policies that never end are refused."""
    rng, policies = np.random.default_rng(improper), all_policies(3, 2)
    solved: list[tuple[np.ndarray, np.ndarray]] = []
    best = []
    for P, R in (ending(rng, improper=improper) for _ in range(250)):
        chains = [(P[range(3), policy][:, :3], R[range(3), policy]) for policy in policies]
        values = [np.linalg.solve(np.eye(3) - P_pi, R_pi) for P_pi, R_pi in chains if proper(P_pi)]
        if values:
            solved.append((P, R))
            best.append(np.max(values, axis=0))
        else:
            with pytest.raises(NeverEndsError, match="reaches no terminal state under any policy"):
                Criterion(1.0).optimal_value(P[None], R[None])
    P, R = map(np.stack, zip(*solved, strict=True))
    assert len(P) >= 200
    assert_allclose(Criterion(1.0).optimal_value(P, R)[:, :3], best, rtol=1e-9, atol=1e-9)
    plans = PolicyIteration().plan(P, R, np.array([0.5, 1.0]))
    assert_array_equal(Criterion(1.0).planning_loss(P, R, plans[:, 1:]), 0.0)


def test_states_that_never_end_are_named() -> None:
    (P, R), criterion = ring(3), Criterion(1.0)
    with pytest.raises(NeverEndsError, match="model 0: state 0 reaches no terminal state under any policy; set gamma"):
        criterion.optimal_value(P, R)
    P[0, 2], R[0, 2] = np.eye(3)[2], 0.0
    with pytest.raises(NeverEndsError, match="state 0 gains reward for ever"):
        criterion.optimal_value(P, R)
    assert not terminal(P, 0.0 * R + [0.0, 1.0]).any()  # one action there pays
    R[0, 0] = -1.0
    assert_allclose(criterion.optimal_value(P, R), [[-1.0, 0.0, 0.0]])
    with pytest.raises(NeverEndsError, match="state 0 reaches no terminal state under its policy"):
        criterion.planning_loss(P, R, np.array([[[1, 0, 0]]]))
    P[0, 0, 1] = [1 - 1e-9, 1e-9, 0.0]
    with pytest.raises(NeverEndsError, match="state 0 takes more than 60000 expected steps"):
        criterion.optimal_value(P, R)


def test_losses_are_means_over_the_start() -> None:
    start = [0.0, 0.25, 0.75, 0.0, 0.0, 0.0]
    method = replace(SMALL_METHOD, metric=Value())
    (weighted,) = tables(replace(small_problem(), loss="mean", start=start), [method], range(2))
    by_state = [tables(replace(small_problem(), loss="mean", start=state), [method], range(2))[0] for state in (1, 2)]
    for name in ("planning_loss", "measured"):
        assert_allclose(weighted[name], 0.25 * by_state[0][name] + 0.75 * by_state[1][name], atol=1e-9)
    first, same = (replace(small_problem(), loss="mean", start=form) for form in (0, [1.0, *np.zeros(5).tolist()]))
    assert tables(same, [SMALL_METHOD], range(2))[0].equals(tables(first, [SMALL_METHOD], range(2))[0])


def test_rewards_spread_over_tasks_as_they_should() -> None:
    tasks = Dirichlet(zeros=2, reward_spread=0.5)
    mean = tasks.draw_mean(0, 0, 6, 2, 0.01)
    R = tasks.draw([np.random.default_rng(1)], [mean], 2000).R[:, 0]
    assert_allclose(R.mean(0), mean.R, atol=0.06)
    assert_allclose(R.std(0), 0.5, atol=0.04)
