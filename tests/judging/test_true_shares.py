"""The share of environments in which a claim is true, with the noise of the estimates removed."""

import numpy as np
import pytest

from pomrl.judging.true_shares import share_within


def shares(seed: int, mean: float, spread: float, noise: float, environments: int = 200) -> tuple[float, float]:
    """The estimated share of negative numbers, and the share of negative estimates, in simulated environments."""
    rng = np.random.default_rng(seed)
    estimates = rng.normal(mean, spread, environments) + noise * rng.standard_normal(environments)
    found = share_within(estimates, np.full(environments, noise), -np.inf, 0.0)
    return found.estimate, float((estimates < 0.0).mean())


def test_noise_is_removed() -> None:
    """Nearly all numbers are positive, but with the noise a third of the estimates are negative."""
    found, naive = np.mean([shares(seed, 0.04, 0.01, 0.1) for seed in range(5)], axis=0)
    assert naive > 0.25
    assert found < 0.15


def test_without_noise_it_is_the_share_itself() -> None:
    values = np.array([-1.0, -2.0, 3.0, 4.0])
    assert share_within(values, np.zeros(4), -np.inf, 0.0).estimate == pytest.approx(0.5)
    assert share_within(values, np.zeros(4), -1.5, 3.5).estimate == pytest.approx(0.5)


def test_what_is_exactly_at_the_threshold_does_not_count() -> None:
    found = share_within(np.array([0.0, 0.0, -1.0, 1.0, -1.0]), np.zeros(5), -np.inf, 0.0)
    assert found.estimate == pytest.approx(2 / 3)


def test_the_interval_contains_the_estimate_and_narrows() -> None:
    rng = np.random.default_rng(0)
    wide, narrow = (share_within(rng.normal(0.0, 1.0, n), np.full(n, 0.2), -np.inf, 0.0) for n in (20, 400))
    assert wide.lower <= wide.estimate <= wide.upper
    assert narrow.upper - narrow.lower < 0.5 * (wide.upper - wide.lower)
