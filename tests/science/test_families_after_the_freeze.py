"""The families that join the benchmark of the advice on logs are models, and differ from task to task as they say."""

import numpy as np
import pytest
from benchmarks.families_after_the_freeze import LATENT_FAMILIES

from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers.evaluation import policy_value

GAMMA = 0.95


def _best(P: np.ndarray, R: np.ndarray) -> np.ndarray:
    return PolicyIteration().plan(P, R, np.array([GAMMA]))[:, 0]


@pytest.mark.parametrize("name", LATENT_FAMILIES)
def test_rows_sum_to_one_and_rewards_are_finite(name: str) -> None:
    family = LATENT_FAMILIES[name]
    P, R = family.models(family.latents())  # not `candidate_models`, which divides rows by their sums
    assert (P.shape[0], P.shape[1:3]) == (family.values, family.size)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(-1), 1.0, atol=1e-12)
    assert np.isfinite(R).all()


@pytest.mark.parametrize(
    ("name", "at_least", "at_most"),
    [("mountain_passes", 5, 15), ("playlist", 5, 15), ("dosing", 5, 15), ("fermentation", 1, 1)],
)
def test_as_many_best_policies_as_tasks_call_for(name: str, at_least: int, at_most: int) -> None:
    of_tasks = LATENT_FAMILIES[name].candidate_models()
    policies = np.unique(_best(of_tasks.P, of_tasks.R), axis=0)
    assert at_least <= len(policies) <= at_most


def test_tasks_of_the_fermentation_are_equal_and_pay_rarely() -> None:
    of_tasks = LATENT_FAMILIES["fermentation"].candidate_models()
    assert np.ptp(of_tasks.P, axis=0).max() == 0.0
    assert np.count_nonzero(of_tasks.R[0]) == 3


def test_who_has_seen_no_avalanche_takes_the_highest_road_and_earns_less_than_half() -> None:
    of_tasks = LATENT_FAMILIES["mountain_passes"].candidate_models()
    P, R, wreck = of_tasks.P, of_tasks.R, 20
    assert P[:, :wreck, :, wreck].max() == pytest.approx(0.03)
    believed = P.copy()
    believed[:, :wreck, :, wreck] = 0.0
    best, bold = _best(P, R), _best(believed / believed.sum(-1, keepdims=True), R)
    roads, highest_pass = range(4), 18
    assert (bold[:, [4 * road for road in roads]] == 2).all()
    assert (bold[:, highest_pass] == 0).all()
    assert (best[:, highest_pass] == 0).tolist() == [False] * 14 + [True]
    values, values_of_bold = (policy_value(P, R, policy, GAMMA)[:, highest_pass - 2] for policy in (best, bold))
    assert (values_of_bold[:11] < 0.5 * values[:11]).all()
    assert values_of_bold[-1] == pytest.approx(values[-1])


def test_the_best_policy_of_the_mean_listener_is_poor_for_most_listeners() -> None:
    of_tasks = LATENT_FAMILIES["playlist"].candidate_models()
    P, R = of_tasks.P, of_tasks.R
    of_mean = np.repeat(_best(P.mean(0, keepdims=True), R.mean(0, keepdims=True)), len(P), 0)
    best, pooled = (policy_value(P, R, policy, GAMMA).mean(-1) for policy in (_best(P, R), of_mean))
    assert (pooled < 0.7 * best).sum() > len(P) / 2
