"""Estimates of minima, against t tests of single pairs, their definition, and simulation where means tie."""

import numpy as np
import pytest
from scipy import stats
from tests.support.worlds import heavy_tailed

from pomrl.judging.extremes import (
    BestDifference,
    largest,
    may_be_best,
    minimum_difference,
    minimum_ratio,
    p_best,
    smaller_best_gamma,
)
from pomrl.judging.inference import mean, ratio
from pomrl.results.statistics import bootstrap_means, normal_means
from pomrl.science.gamma_star import best_index

GAMMAS = np.array([0.0, 0.3, 0.6, 0.9])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


class TestOneColumn:
    """An estimate of minima over one column is the estimate of a mean, or of a ratio of two means."""

    @pytest.mark.parametrize("runs", [40, 1500])
    def test_difference(self, rng, runs):
        a, b = heavy_tailed(rng, runs), heavy_tailed(rng, runs)
        of_minima, of_means = minimum_difference(a[:, None], b[:, None]), mean(a - b)
        assert of_minima.interval(0.01) == pytest.approx(of_means.interval(0.01))
        assert of_minima.p_values(0.1) == pytest.approx(of_means.p_values(0.1))

    @pytest.mark.parametrize("runs", [40, 1500])
    def test_ratio(self, rng, runs):
        a, b = heavy_tailed(rng, runs), heavy_tailed(rng, runs) + 0.5
        of_minima, of_means = minimum_ratio(a[:, None], b[:, None]), ratio(a, b)
        assert of_minima.interval(0.01) == pytest.approx(of_means.interval(0.01), abs=1e-7)
        assert of_minima.p_values(0.1) == pytest.approx(of_means.p_values(0.1))


def test_p_values_are_those_of_some_mean_against_all_others(rng):
    a, b = heavy_tailed(rng, 200, 3), heavy_tailed(rng, 200, 4)
    estimate = minimum_difference(a, b)
    by_test = np.array([[mean(x - y).p_values(0.05) for y in b.T] for x in a.T])
    at_most, at_least = estimate.p_values(0.05)
    assert at_least == pytest.approx(min(1.0, 3 * min(by_test[:, :, 1].max(1))))
    assert at_most == pytest.approx(min(1.0, 4 * min(by_test[:, :, 0].max(0))))


@pytest.mark.parametrize("error", [0.1, 1e-3])
def test_ends_of_an_interval_have_half_the_error_as_p_value(rng, error):
    a, b = heavy_tailed(rng, 1200, 3), heavy_tailed(rng, 1200, 3)
    for estimate in (minimum_difference(a, b), minimum_ratio(a, b)):
        lower, upper = estimate.interval(error)
        assert estimate.p_values(lower)[0] == pytest.approx(error / 2, rel=1e-3)
        assert estimate.p_values(upper)[1] == pytest.approx(error / 2, rel=1e-3)


def test_error_where_means_tie_is_at_most_the_one_asked_for(rng):
    replications, missed = 600, 0
    for _ in range(replications):
        losses = heavy_tailed(rng, 1000, 6)
        lower, upper = minimum_difference(losses[:, :3], losses[:, 3:]).interval(0.2)
        missed += not lower <= 0.0 <= upper
    assert missed <= stats.binom(replications, 0.2).ppf(0.999)


@pytest.mark.parametrize("make", [minimum_difference, minimum_ratio])
def test_runs_that_are_all_alike_have_an_interval_without_width(make):
    losses = np.tile([1.0, 2.0, 4.0], (50, 1))
    estimate = make(losses[:, :1], losses[:, 1:])
    assert estimate.interval(0.05) == (estimate.value, estimate.value)
    assert estimate.p_values(estimate.value) == (1.0, 1.0)
    assert estimate.p_values(estimate.value + 0.1) == (1.0, 0.0)


@pytest.mark.parametrize("make", [minimum_difference, minimum_ratio])
def test_too_few_runs_show_nothing(rng, make):
    losses = heavy_tailed(rng, 9, 2)
    assert np.isnan(make(losses[:, :1], losses[:, 1:]).interval(0.05)).all()


class TestLargest:
    def test_is_at_least_a_threshold_unless_all_are_below(self, rng):
        parts = [mean(column) for column in rng.normal(size=(4, 300)) + np.array([[0.1], [0.2], [0.0], [0.3]])]
        at_most, at_least = np.array([part.p_values(0.4) for part in parts]).T
        assert largest(parts).p_values(0.4) == pytest.approx((min(1.0, 4 * at_most.min()), at_least.max()))

    def test_error_where_all_tie_is_at_most_the_one_asked_for(self, rng):
        replications, missed = 600, 0
        for _ in range(replications):
            lower, upper = largest([mean(column) for column in rng.normal(size=(5, 300))]).interval(0.2)
            missed += not lower <= 0.0 <= upper
        assert missed <= stats.binom(replications, 0.2).ppf(0.999)


class TestBestGamma:
    def test_the_best_is_in_its_confidence_set(self, rng):
        replications, left_out = 600, 0
        for _ in range(replications):
            losses = rng.normal(size=(200, 4))  # all four are the best
            left_out += bool(p_best(losses)[1] <= 0.1)
        assert left_out <= stats.binom(replications, 0.1).ppf(0.999)

    def test_a_discount_factor_that_is_clearly_worse_is_not_in_it(self, rng):
        losses = rng.normal(size=(2000, 4)) + np.array([1.0, 0.0, 0.5, 1.0])
        assert (p_best(losses) > 1e-6).tolist() == [False, True, False, False]

    def test_a_clear_difference(self, rng):
        noise = rng.normal(size=(2000, 1))
        early, late = np.array([0.5, 0.0, 0.5, 0.5]), np.array([0.5, 0.5, 0.5, 0.0])
        estimate = smaller_best_gamma(GAMMAS, noise + early, noise + late)
        assert isinstance(estimate, BestDifference)
        assert estimate.value == pytest.approx(-0.6)
        assert estimate.interval(1e-6) == pytest.approx((-0.6, -0.6))
        assert estimate.at_least(0.0) == 0.0

    def test_intervals_and_p_values_agree(self, rng):
        a, b = rng.normal(size=(2, 300, 4)) + np.array([0.1, 0.0, 0.05, 0.2])
        estimate = smaller_best_gamma(GAMMAS, a, b)
        lower, upper = estimate.interval(0.5)
        for threshold in (-0.95, -0.65, -0.35, -0.05, 0.05, 0.35, 0.65, 0.95):
            assert (lower > threshold) == (estimate.at_most(threshold) <= 0.25)
            assert (upper < threshold) == (estimate.at_least(threshold) <= 0.25)


@pytest.mark.parametrize("runs", [30, 1000])
def test_only_columns_that_may_be_best_are_best_in_a_resample(runs):
    rng = np.random.default_rng(6)
    curves = 0.2 * (np.arange(21.0) - 12.0) ** 2 / 10 + heavy_tailed(rng, runs * 21).reshape(runs, 21)
    possible = may_be_best(curves)
    assert 0 < len(possible) < 21
    resampled = [bootstrap_means(curves, 5000, 0), *normal_means(curves, 50_000, 10_000, 0)]
    assert set(np.unique(np.concatenate([best_index(means) for means in resampled]))) <= set(possible)


def test_columns_that_are_tied_may_all_be_best():
    assert may_be_best(np.array([[1.0, 0.5, 0.5, 2.0]] * 10)).tolist() == [1, 2]
