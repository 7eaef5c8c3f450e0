"""Resamples of runs, and draws of means that stand for them."""

import numpy as np
import pytest

from pomrl.results.intervals import percentile
from verdicts.resampling import bootstrap_weights, normal_means


def test_weights_of_resamples_are_balanced() -> None:
    weights = bootstrap_weights(7, 4000, seed=0)
    assert weights.shape == (4000, 7)
    np.testing.assert_allclose(weights.sum(1), 1.0)
    np.testing.assert_allclose(weights.mean(0), 1 / 7, rtol=0.05)


def test_draws_of_means_have_their_covariance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sample = np.random.default_rng(0).normal(size=(10, 3)) @ np.array(
        [[1.0, 0.5, 0.0], [0.0, 1.0, -0.7], [0.0, 0.0, 0.2]]
    )
    (draws,) = normal_means(sample, 100_000, 100_000, 0)
    np.testing.assert_allclose(np.cov(draws.T), np.cov(sample.T) / len(sample), atol=0.02 * sample.var() / len(sample))
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (eigh(matrix)[0], eigh(matrix)[1] * [1.0, -1.0, -1.0]))
    (flipped,) = normal_means(sample, 100_000, 100_000, 0)
    np.testing.assert_allclose(flipped, draws, atol=1e-12)


def test_percentile_intervals_omit_equal_tails() -> None:
    interval = percentile(0.0, np.linspace(0.0, 1.0, 1001))
    assert (interval.lower, interval.upper) == pytest.approx((0.025, 0.975))
