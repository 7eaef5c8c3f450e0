"""Comparisons of gamma*, against their definition and simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.support.worlds import GAMMAS as GRID
from tests.support.worlds import computed_table, heavy_tailed

from pomrl.judging.best_gammas import (
    best_grows,
    best_is_between,
    may_be_best,
    near,
    rank_correlation,
    smaller_best_gamma,
)
from pomrl.results.result import Result
from pomrl.science.gamma_star import best_index
from verdicts.estimates import mean
from verdicts.minima import minimum_difference, p_best
from verdicts.parts import Verdict
from verdicts.resampling import bootstrap_means, normal_means

GAMMAS = np.array([0.0, 0.3, 0.6, 0.9])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


class TestDifferenceOfBestGammas:
    def test_a_clear_difference(self, rng):
        noise = rng.normal(size=(2000, 1))
        early, late = np.array([0.5, 0.0, 0.5, 0.5]), np.array([0.5, 0.5, 0.5, 0.0])
        estimate = smaller_best_gamma(GAMMAS, noise + early, noise + late)
        assert estimate.value == pytest.approx(-0.6)
        assert estimate.interval(1e-6) == pytest.approx((-0.6, -0.6))
        assert estimate.p_values(0.0)[1] == 0.0

    def test_gammas_equal_up_to_rounding_are_tied(self):
        grid, curve = np.array([0.1, 0.2, 0.3]), np.ones((20, 3))  # 0.3 - 0.2 is less than 0.1
        estimate = smaller_best_gamma(grid, curve - [0.0, 0.0, 0.5], curve - [0.0, 0.5, 0.0])
        assert estimate.p_values(0.1) == (1.0, 1.0)

    def test_intervals_and_p_values_agree(self, rng):
        a, b = rng.normal(size=(2, 300, 4)) + np.array([0.1, 0.0, 0.05, 0.2])
        estimate = smaller_best_gamma(GAMMAS, a, b)
        lower, upper = estimate.interval(0.5)
        for threshold in (-0.95, -0.65, -0.35, -0.05, 0.05, 0.35, 0.65, 0.95):
            assert (lower > threshold) == (estimate.p_values(threshold)[0] <= 0.25)
            assert (upper < threshold) == (estimate.p_values(threshold)[1] <= 0.25)
        assert estimate.p.min() == 2 * min(p_best(a).min(), p_best(b).min())  # either set may miss its gamma*


@pytest.mark.parametrize("runs", [30, 1000])
def test_resamples_choose_only_possible_best_columns(runs):
    rng = np.random.default_rng(6)
    curves = 0.2 * (np.arange(21.0) - 12.0) ** 2 / 10 + heavy_tailed(rng, runs * 21).reshape(runs, 21)
    possible = may_be_best(curves)
    assert 0 < len(possible) < 21
    resampled = [bootstrap_means(curves, 5000, 0), *normal_means(curves, 50_000, 10_000, 0)]
    assert set(np.unique(np.concatenate([best_index(means) for means in resampled]))) <= set(possible)


def test_tied_columns_may_all_be_best():
    assert may_be_best(np.array([[1.0, 0.5, 0.5, 2.0]] * 10)).tolist() == [1, 2]


def test_columns_eight_errors_away_are_not_best():
    noise = np.random.default_rng(5).normal(size=(100, 2))
    noise = (noise - noise.mean(0)) / noise.std(0)
    curve = np.stack([np.zeros(100), noise[:, 0] + 0.79, noise[:, 1] + 0.81], axis=1)
    assert may_be_best(curve).tolist() == [0, 1]


def test_discount_factors_are_near_to_a_tenth():
    grid = Result.of_losses(np.ones((10, 1, 21)), GRID)
    assert GRID[near(grid, 0.5)] == pytest.approx([0.4, 0.45, 0.5, 0.55, 0.6])


def test_gammas_between_must_exceed_rounding():
    values = np.array([0.3 + 0.9e-9, 0.3 + 1.1e-9, 0.6])
    curve = np.array([1.0, 0.0, 1.0]) + np.zeros((20, 1, 3))
    assert best_is_between(Result.of_losses(curve, values), "", above=0.3).verdict() is Verdict.HOLDS
    worse = np.array([0.0, 1.0, 1.0]) + np.zeros((20, 1, 3))
    assert best_is_between(Result.of_losses(worse, values), "", above=0.3).verdict() is Verdict.DOES_NOT_HOLD


def test_rank_correlation_is_scipys():
    values = np.random.default_rng(4).integers(0, 4, (50, 7)).astype(float)
    theirs = [np.corrcoef(stats.rankdata(row), np.arange(7))[0, 1] for row in values]
    np.testing.assert_allclose(rank_correlation(values), theirs)
    assert rank_correlation(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert np.isnan(rank_correlation(np.full((1, 3), np.nan)))


def test_curves_that_are_always_equal_refute_nothing():
    curves = Result.of_losses(np.ones((30, 4, 3)), np.arange(3.0))
    assert best_grows(curves, curves.loss, "").verdict() is Verdict.UNDECIDED


def misses(truth: float, estimates: list[Any]) -> int:
    return sum(not estimate.lower <= truth <= estimate.upper for estimate in estimates)


REPLICATIONS = 400
NOMINAL = stats.binom(REPLICATIONS, 0.05)
NEARLY = stats.binom(REPLICATIONS, 0.075)
"""The distribution of the number of misses that is accepted for skewed numbers, with 7.5 % instead of 5 %."""


@pytest.fixture(scope="module")
def population() -> np.ndarray:
    """Result against gamma of many runs, of a task without meta-learning."""
    return Result.of_table(computed_table(["estimator=without_meta", "T=1"], 2000)).curve(1)


class TestCoverage:
    @pytest.mark.parametrize("runs", [20, 100])
    def test_of_smallest_losses(self, runs, population):
        rng = np.random.default_rng(runs)
        means = population.mean(0)
        truth = means[:14].min() - means[14:].min()
        samples = [population[rng.integers(0, len(population), runs)] for _ in range(REPLICATIONS)]
        estimates = [minimum_difference(sample[:, :14], sample[:, 14:]) for sample in samples]
        assert misses(truth, estimates) <= NOMINAL.ppf(0.999)

    @pytest.mark.parametrize("scope", ["all_tasks", "each_task"])
    def test_of_what_is_chosen_in_hindsight(self, scope):
        """If all discount factors are equally good, the expected gain of choosing among them in hindsight is 0."""
        rng = np.random.default_rng(6)
        estimates = []
        for _ in range(REPLICATIONS):
            chance = Result.of_losses(heavy_tailed(rng, 60 * 5 * 8).reshape(60, 5, 8), np.linspace(0, 0.9, 8))
            estimates.append(mean(chance.in_hindsight(scope, "population").regret - chance.regret))
        assert NOMINAL.ppf(0.001) <= misses(0.0, estimates) <= NEARLY.ppf(0.999)

    def test_of_how_a_best_gamma_grows(self, monkeypatch):
        """The true best gamma grows in every task; estimates from few noisy runs do not, but intervals cover it."""
        monkeypatch.setattr("verdicts.correlations.RESAMPLES", 499)
        rng = np.random.default_rng(7)
        grid, best = np.linspace(0, 1, 21), np.linspace(0.3, 0.7, 9)[:, None]
        estimates = []
        for _ in range(100):
            curves = (grid - best) ** 2 + 0.5 * rng.normal(size=(40, 9, 21))
            estimates.append(best_grows(Result.of_losses(curves, grid), curves, "").estimate)
        assert np.mean([estimate.value for estimate in estimates]) < 0.9
        assert misses(1.0, estimates) <= stats.binom(100, 0.05).ppf(0.999)
