"""How often p-values are too small where a truth is exactly the threshold, down to errors of one in a million."""

import numpy as np
import pytest
from rare_samples import Case, rates
from scipy.special import ndtr, stdtr
from tables_of_tests import heavy_tailed

from verdicts.correlations import correlation
from verdicts.estimates import mean
from verdicts.minima import minimum_difference, ratio

MAX_RATIO = 1.3
"""How many times its nominal value a rate may be."""

RUNS = 400
SAMPLES = 1400


def t_test(rows):
    """Return the p-values of a mean of 0 by the t test."""
    t = rows.mean() / (rows.std(ddof=1) / np.sqrt(len(rows)))
    return float(stdtr(len(rows) - 1, -t)), float(stdtr(len(rows) - 1, t))


def mean_case(rows, p_values=lambda rows: mean(rows).p_values(0.0)):
    centred = rows - rows.mean()
    return Case(centred, centred[None], p_values)


def excess(case):
    """Return by how many standard errors the largest rate exceeds the allowed one."""
    ratios, errors = rates(case, RUNS, SAMPLES)
    return ((ratios - MAX_RATIO) / errors).max()


@pytest.fixture(scope="module")
def losses():
    """Losses with a skewness of 2, as means over some tasks have."""
    return np.random.default_rng(0).gamma(1.0, 1.0, 20_000)


def test_t_test_of_normal_numbers_is_exact():
    ratios, errors = rates(mean_case(np.random.default_rng(1).normal(size=50_000), t_test), RUNS, SAMPLES)
    assert np.abs((ratios - 1.0) / errors).max() < 4.0
    assert errors.max() < 0.2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_mean_of_skewed_losses(losses, sign):
    assert excess(mean_case(sign * losses)) < 3.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_mean_difference_with_heavy_tails(sign):
    rng = np.random.default_rng(4)
    assert excess(mean_case(sign * (heavy_tailed(rng, 20_000) - 0.6 * heavy_tailed(rng, 20_000)))) < 3.0


def test_uncorrected_t_test_errs_too_often(losses):
    assert excess(mean_case(losses, t_test)) > 4.0


def test_ratio_at_its_margin(losses):
    a, b = 1.1 * losses, np.random.default_rng(2).permutation(losses)
    case = Case(np.stack([a, b], axis=1), (a - 1.1 * b)[None], lambda rows: ratio(*rows.T).p_values(0.1))
    assert excess(case) < 3.0


@pytest.mark.parametrize(("tied_a", "tied_b"), [(1, 1), (2, 1)])
def test_minima_that_tie(losses, tied_a, tied_b):
    rng = np.random.default_rng(3)
    rows = np.stack([rng.permutation(losses) for _ in range(tied_a + tied_b)], axis=1)
    a, b = ([*side.T, side.mean(1)] for side in np.split(rows, [tied_a], axis=1))
    gaps = np.unique([x - y for x in a for y in b], axis=0)

    def p_values(rows):
        return minimum_difference(*np.split(rows, [tied_a], axis=1)).p_values(0.0)

    assert excess(Case(rows, gaps, p_values, tied_a)) < 3.0


def test_one_sign_correlation_is_a_normal_test(losses):
    sample = losses[:1500] - losses.mean() - 0.03
    z = sample.mean() / (sample.std(ddof=1) / np.sqrt(len(sample)))
    actual = correlation(lambda means: np.sign(means[:, 0]), sample[:, None])
    assert actual.p_values(0.0) == pytest.approx((ndtr(-z), ndtr(z)), rel=0.1)
