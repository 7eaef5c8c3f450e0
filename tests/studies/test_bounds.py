from itertools import product
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pomrl.bounds import (
    PRIORS,
    average_regret_bound,
    average_uncertainty,
    horizon_bias,
    model_error_bound,
    planning_loss_bound,
    policy_class_constant,
    single_task_loss_bound,
)
from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Memory
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.gamma_schedules import regret_upper_bound, upper_bound_gamma

SETTING: Any = {"m": 50, "radius": 0.1, "S": 4, "A": 2, "T": 9, "delta": 0.1}


def error(t: Any = 5, **changes: Any) -> Any:
    return model_error_bound(t=t, **(SETTING | changes))


def corrected(L: float, w: float) -> float:
    return w * (sqrt(L / 400) + 0.1 * sqrt(L / 2) + 0.1) + (1 - w) * sqrt(L / 100)


def sharpened(L: float, w: float) -> float:
    return w * 0.1 + sqrt(2 * L * (w**2 / 4 * (0.01 + 1 / 200) + (1 - w) ** 2 / 200))


@pytest.mark.parametrize(("by_hand", "events"), [(corrected, 6), (sharpened, 2)])
@pytest.mark.parametrize(("prior", "share"), [("exclusive", 1.0), ("inclusive", 4 / 5)])
def test_model_error_by_hand(by_hand: Any, events: int, prior: str, share: float):
    L, weight = log(events * 16 * 2 * 9 / 0.1), share / (0.5 * 1.2 + 1)
    version = by_hand.__name__
    assert float(error(prior=prior, version=version)) == pytest.approx(by_hand(L, weight), rel=1e-13)
    assert float(error(t=1, prior=prior, version=version)) == pytest.approx(sqrt(L / 100), rel=1e-13)


@pytest.mark.parametrize("version", ["corrected", "sharpened"])
def test_known_priors_have_the_error_by_hand(version: str):
    L = log(2 * 16 * 2 * 9 / 0.1)
    for t in (1, 5):
        alpha = 1 / (0.5 * (1 + 1 / t) + 1)
        expected = alpha * 0.1 + (1 - alpha) * sqrt(L / 100)
        assert float(error(t=t, prior="known", version=version)) == pytest.approx(expected, rel=1e-13)


def test_model_error_as_printed_by_hand():
    """T S^2 A = 288; the setting has sigma^2 m = 1/2."""
    spread = 0.01 + 0.7 * log(6 * 81 / 0.1) ** 2 / 50
    A_1 = sqrt(log(54 / 0.1) * log(288 / 0.1) * spread / 9)
    A_2 = 0.1 * sqrt(log(3 * 288 / 0.1) / 9)
    B = 0.5 / 2 * sqrt(0.7 * log(3 * 288 / 0.1) / 100)
    expected = (A_1 + A_2 + 0.2) / 1.5 + B
    for t, prior in product((1, 9), PRIORS):
        actual = error(t=t, version="as_printed", prior=prior, Sigma=0.7)
        assert float(actual) == pytest.approx(expected, rel=1e-13)


def test_bounds_use_the_estimators_mixing_rate():
    """The bound with a known prior is alpha sigma where m is so large that the noise of a batch vanishes."""
    truth = Truth(np.full((1, 4, 2, 4), 0.25), np.full((1, 4, 2, 4), 0.01))
    estimator = RegularisedLeastSquares(mixing="paper", similarity="known")
    m, sigma = 10**15, 1e-7
    rate = estimator.mixing_rate(5, m, np.full((1, 1, 1), sigma), Memory.initial(1, 4, 2), truth).item()
    noise = (1.0 - rate) * np.sqrt(np.log(2.0 * 4**2 * 2 * 9 / 0.05) / (2.0 * m))
    bound = float(error(t=5, m=m, radius=sigma, S=4, A=2, T=9, delta=0.05, prior="known"))
    assert bound == pytest.approx(rate * sigma + noise, rel=1e-12)


@pytest.mark.parametrize("version", ["corrected", "sharpened"])
def test_the_plugged_similarity_can_be_replaced(version: str):
    """Infinity leaves the frequencies of the task alone, 0 the average of all batches."""
    L = log((6 if version == "corrected" else 2) * 16 * 2 * 9 / 0.1)
    assert float(error(version=version, plugged=np.inf)) == pytest.approx(sqrt(L / 100), rel=1e-13)
    equal = error(version=version, plugged=0.0, prior="exclusive", radius=0.0)
    assert float(equal) == pytest.approx(sqrt(L / 400), rel=1e-13)
    assert float(error(version=version, plugged=0.1)) == float(error(version=version))


@pytest.mark.parametrize("prior", ["exclusive", "inclusive"])
@pytest.mark.parametrize("sigma", [0.0, 0.1, 1.0])
def test_the_average_is_below_its_closed_form(prior: str, sigma: float):
    """(7) of src/pomrl_studies/pomrl2023/pages/theory.md."""
    for T, m in product((1, 2, 10, 300), (1, 20, 1000)):
        L, x = log(6 * 16 * 2 * T / 0.1), sigma**2 * m
        noise, own = sqrt(L / (2 * m)), 1.5 * x / (1.5 * x + 1)
        closed = noise / T + (2 / sqrt(T) * (noise + sigma * sqrt(2 * L)) + sigma) / (1 + x) + own * noise
        closed += (prior == "inclusive") * (1 + log(T)) / T * noise
        actual = average_uncertainty(**(SETTING | {"T": T, "m": m, "radius": sigma}), prior=prior) / 4
        assert float(actual) <= closed


def test_loss_bounds_follow_the_uncertainty():
    gammas: Any = {"gamma": 0.6, "gamma_eval": 0.9}
    bias = 0.3 / (0.1 * 0.4)
    for version, factor in (("as_printed", 8), ("corrected", 4), ("sharpened", 4)):
        expected = bias + factor * float(error(version=version)) * 0.6 / 0.16
        assert float(planning_loss_bound(**gammas, t=5, **SETTING, version=version)) == pytest.approx(
            expected, rel=1e-12
        )
        mean = np.mean(planning_loss_bound(**gammas, t=np.arange(1, 10), **SETTING, version=version))
        assert float(average_regret_bound(**gammas, **SETTING, version=version)) == pytest.approx(mean, rel=1e-12)


@pytest.mark.parametrize("C", [0.001, 0.02, 0.3, 0.7, 0.999, 1.0, 4.0])
def test_the_minimum_agrees_with_numerical_search(C: float):
    """The minimum is cut at gamma_eval = 0.9, above which it lies for the smallest C."""
    least: Any = minimize_scalar(
        lambda gamma: float(regret_upper_bound(gamma, C, 0.9)),
        bounds=(0, 0.9),
        method="bounded",
        options={"xatol": 1e-9},
    )
    gamma = min(float(upper_bound_gamma(C)), 0.9)
    assert gamma == pytest.approx(least.x, abs=1e-5)
    assert float(regret_upper_bound(gamma, C, 0.9)) <= least.fun + 1e-12
    if 0.9 > gamma > 0:
        assert float(regret_upper_bound(gamma, C, 0.9)) == pytest.approx(10 - (1 + C) ** 2 / (4 * C), rel=1e-10)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "printed"}, "unknown version 'printed'; available: as_printed"),
        ({"prior": "own"}, "unknown prior 'own'; available: exclusive"),
        ({"delta": 1.0}, "delta must be above 0 and below 1, got 1.0"),
        ({"radius": -0.1}, "radius must be at least 0, got -0.1"),
        ({"t": 10}, "at most T=9"),
    ],
)
def test_bad_settings_of_bounds_are_refused(changes: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        error(**changes)


@pytest.mark.parametrize(("gamma", "gamma_eval"), [(-0.1, 0.9), (0.91, 0.9), (0.5, 1.0)])
def test_bad_discount_factors_are_refused(gamma: float, gamma_eval: float):
    with pytest.raises(ValueError, match="gamma must be in"):
        regret_upper_bound(gamma, 0.5, gamma_eval)


def test_theorem_1_has_its_value_by_hand():
    C = policy_class_constant(m=50, S=10, A=2, policies=1024, delta=0.05)
    assert pytest.approx(2 * sqrt(log(2 * 10 * 2 * 1024 / 0.05) / 100), rel=1e-15) == C
    gammas = np.linspace(0.0, 0.99, 12)
    np.testing.assert_allclose(single_task_loss_bound(gammas, 0.99, C), regret_upper_bound(gammas, C, 0.99), rtol=1e-9)
    assert policy_class_constant(m=50, S=10, A=2, policies=1024, delta=0.05, Sigma=0.0) == 0


def test_horizon_bias_is_reached_with_rewards_one():
    gammas = np.array([0.0, 0.5, 0.9])
    np.testing.assert_allclose(horizon_bias(gammas, 0.9), 1 / (1 - 0.9) - 1 / (1 - gammas), atol=1e-14)


@pytest.mark.parametrize(("gamma", "gamma_eval"), [(-0.1, 0.9), (0.91, 0.9), (0.5, 1.0)])
def test_horizons_beyond_the_true_are_refused(gamma: float, gamma_eval: float):
    with pytest.raises(ValueError, match="gamma must be in"):
        horizon_bias(gamma, gamma_eval)


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_theorem_1_needs_a_probability_of_failure(delta: float):
    with pytest.raises(ValueError, match="delta must be above 0"):
        policy_class_constant(m=1, S=2, A=2, policies=4, delta=delta)
