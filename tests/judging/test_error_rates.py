"""How often p-values are too small where a truth is exactly the threshold, down to errors of one in a million."""

import numpy as np
import pytest
from benchmarks.rare_samples import LEVELS, Case, rates
from benchmarks.truths_on_thresholds import gaps_of, p_of_mean, p_of_minima, p_of_normal_means, p_of_ratio
from scipy.special import stdtr
from tests.support.worlds import heavy_tailed

from verdicts.correlations import correlation
from verdicts.minima import minimum_difference

MOST = 1.3
"""How many times its nominal value a rate may be."""

RUNS = 400
SAMPLES = 1400


def t_test(rows):
    """Return the p-values of a mean of 0 by the t test."""
    t = rows.mean() / (rows.std(ddof=1) / np.sqrt(len(rows)))
    return float(stdtr(len(rows) - 1, -t)), float(stdtr(len(rows) - 1, t))


def of_mean(rows, p_values=p_of_mean):
    centred = rows - rows.mean()
    return Case("mean", "", (RUNS,), centred, centred[None], p_values)


def too_large(case):
    """Return by how many standard errors the largest rate exceeds the one that is allowed."""
    return max((row["ratio"] - MOST) / row["error"] for row in rates(case, RUNS, SAMPLES))


@pytest.fixture(scope="module")
def losses():
    """Losses with a skewness of 2, as means over some tasks have."""
    return np.random.default_rng(0).gamma(1.0, 1.0, 20_000)


def test_rates_of_the_t_test_of_normal_numbers_are_exact():
    actual = rates(of_mean(np.random.default_rng(1).normal(size=50_000), t_test), RUNS, SAMPLES)
    assert len(actual) == 2 * len(LEVELS)
    assert max(abs(row["ratio"] - 1.0) / row["error"] for row in actual) < 4.0
    assert max(row["error"] for row in actual) < 0.2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_mean(losses, sign):
    assert too_large(of_mean(sign * losses)) < 3.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_mean_of_a_difference_with_heavier_tails_than_its_skewness_brings(sign):
    rng = np.random.default_rng(4)
    assert too_large(of_mean(sign * (heavy_tailed(rng, 20_000) - 0.6 * heavy_tailed(rng, 20_000)))) < 3.0


def test_without_a_correction_for_skewness_too_many_are_too_small(losses):
    assert too_large(of_mean(losses, t_test)) > 4.0


def test_a_ratio(losses):
    a, b = 1.1 * losses, np.random.default_rng(2).permutation(losses)
    case = Case("ratio", "", (RUNS,), np.stack([a, b], axis=1), (a - 1.1 * b)[None], lambda r: p_of_ratio(0.1, r))
    assert too_large(case) < 3.0


@pytest.mark.parametrize(("tied_a", "tied_b"), [(1, 1), (2, 1)])
def test_minima_that_tie(losses, tied_a, tied_b):
    rng = np.random.default_rng(3)
    rows = np.stack([rng.permutation(losses) for _ in range(tied_a + tied_b)], axis=1)
    gaps = gaps_of(rows[:, :tied_a], rows[:, tied_a:])
    case = Case("", "", (RUNS,), rows, gaps, lambda r: p_of_minima(minimum_difference, tied_a, 0.0, r), tied_a)
    assert too_large(case) < 3.0


def test_a_correlation_whose_sign_a_difference_decides_is_a_test_by_a_normal_law(losses):
    sample = losses[:1500, None] - losses.mean() - 0.03
    actual = correlation(lambda means: np.sign(means[:, 0]), sample)
    assert actual.p_values(0.0) == pytest.approx(p_of_normal_means(sample[:, 0]), rel=0.1)
