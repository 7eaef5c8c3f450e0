"""Estimates of minima, against t tests of single pairs, their definition, and simulation where means tie."""

import numpy as np
import pytest
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.comparisons import closes_distance
from verdicts.estimates import largest, mean, mean_difference
from verdicts.minima import BestDifference, Pairs, minimum_difference, minimum_ratio, p_best, ratio


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("runs", [40, 1500])
@pytest.mark.parametrize(
    ("column_estimate", "mean_estimate"), [(minimum_difference, mean_difference), (minimum_ratio, ratio)]
)
def test_single_columns_give_estimates_of_means(rng, runs, column_estimate, mean_estimate):
    a, b = heavy_tailed(rng, runs), heavy_tailed(rng, runs) + 0.5
    actual, expected = column_estimate(a[:, None], b[:, None]), mean_estimate(a, b)
    assert actual.interval(0.01) == pytest.approx(expected.interval(0.01), abs=1e-7)
    assert actual.p_values(0.1) == pytest.approx(expected.p_values(0.1))


def test_p_values_compare_one_mean_with_all(rng):
    a, b = heavy_tailed(rng, 200, 3), heavy_tailed(rng, 200, 4)
    estimate = minimum_difference(a, b)
    by_test = np.array([[mean(x - y).p_values(0.05) for y in b.T] for x in a.T])
    at_most, at_least = estimate.p_values(0.05)
    assert at_least == pytest.approx(min(1.0, 3 * min(by_test[:, :, 1].max(1))))
    assert at_most == pytest.approx(min(1.0, 4 * min(by_test[:, :, 0].max(0))))


@pytest.mark.parametrize("error", [0.1, 1e-3])
def test_interval_ends_have_half_the_error(rng, error):
    a, b = heavy_tailed(rng, 1200, 3), heavy_tailed(rng, 1200, 3)
    for estimate in (minimum_difference(a, b), minimum_ratio(a, b), largest([mean(column) for column in a.T])):
        lower, upper = estimate.interval(error)
        assert estimate.p_values(lower)[0] == pytest.approx(error / 2, rel=1e-3)
        assert estimate.p_values(upper)[1] == pytest.approx(error / 2, rel=1e-3)


@pytest.mark.parametrize(
    "estimate",
    [
        lambda rng: minimum_difference(*np.split(heavy_tailed(rng, 1000, 6), 2, axis=1)),
        lambda rng: largest([mean(column) for column in rng.normal(size=(5, 300))]),
    ],
)
def test_ties_keep_the_requested_error(rng, estimate):
    p = np.array([estimate(rng).p_values(0.0) for _ in range(600)])  # an interval at error 0.2 leaves out 0 up to 0.1
    assert (p <= 0.1).any(1).sum() <= stats.binom(600, 0.2).ppf(0.999)


def far_apart(rng: np.random.Generator, runs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return losses of a learner, of the worst and of the best one, with means 1.2, 2 and 1: 80 % is closed.

    In many runs the worst one is better than the best.
    """
    common = heavy_tailed(rng, runs)
    noise = rng.normal(size=(3, runs))
    return common + 0.2 + 0.3 * noise[0], common + 1.0 + 2.0 * noise[1], common + noise[2]


def test_shares_of_distances_have_fiellers_interval(rng):
    """Its ends are the roots r of a quadratic: the mean of (worst - a) - r (worst - best) is t standard errors."""
    a, worst, best = far_apart(rng, 100)
    assert ((worst - best) < 0.0).sum() > 20
    estimate = closes_distance(a, worst, best, "").estimate
    top, bottom = worst - a, worst - best
    t2 = stats.t(99).ppf(0.995) ** 2
    (tt, tb), (_, bb) = np.cov(top, bottom) / 100 * t2
    x, y = top.mean(), bottom.mean()
    roots = np.roots([y**2 - bb, 2.0 * (tb - x * y), x**2 - tt])
    assert estimate.value == pytest.approx(x / y)
    assert estimate.interval(0.01) == pytest.approx(sorted(roots), abs=1e-6)


def test_ratio_ends_have_half_the_error(rng):
    a, b = 1.0 + heavy_tailed(rng, 1500).reshape(2, 250, 3)
    estimate = minimum_ratio(a, b)
    for error in (0.05, 0.0004):
        for side, end in enumerate(estimate.interval(error)):
            assert estimate.p_values(end)[side] == pytest.approx(error / 2, rel=1e-12)
            assert len({estimate.p_values(end + shift)[side] > error / 2 for shift in (-1e-14, 1e-14)}) == 2


def test_rounding_of_constants_does_not_count(rng):
    x = rng.random((20, 1))
    assert minimum_difference(x + 0.3, x + 0.1).p_values(0.2) == (1.0, 1.0)  # 0.3 - 0.1 is less than 0.2


def test_columns_are_best_unless_pairs_disagree(rng):
    curve = heavy_tailed(rng, 12, 4) + 0.2 * np.arange(4)
    p = [[mean_difference(x, y).p_values(0.0)[0] for y in curve.T] for x in curve.T]
    assert p_best(curve) == pytest.approx(np.minimum(1.0, 3 * np.min(p, axis=1)))


def test_distant_ends_of_ratios_are_reached(rng):
    b, a = np.abs(rng.normal(1.0, 1.2, 12)), rng.random(12)  # the mean of b is nearly 0 within its error
    estimate = ratio(a, b)
    lower, upper = estimate.interval(0.001)
    assert upper - estimate.value > 5 * (estimate.value - lower)
    assert estimate.p_values(upper)[1] == pytest.approx(0.0005, rel=1e-3)


def test_moments_are_those_of_single_sums(rng):
    a, b = heavy_tailed(rng, 600).reshape(2, 100, 3)
    pairs = Pairs.from_samples(a, b[:, :2])
    x, y = a - a.mean(0), (b - b.mean(0))[:, :2]
    for order, moments in ((2, pairs.second), (3, pairs.third), (4, pairs.fourth)):
        for k, moment in enumerate(moments):
            expected = (x[:, :, None] ** (order - k) * y[:, None] ** k).mean(0)
            np.testing.assert_allclose(np.broadcast_to(moment, expected.shape), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("runs", [50, 300])
def test_shares_of_distances_are_covered(rng, runs):
    p = np.array([closes_distance(*far_apart(rng, runs), "").estimate.p_values(0.8) for _ in range(600)])
    one_sided = stats.binom(600, 0.05)
    for missed in (p <= 0.05).T:  # an interval at error 0.1 leaves out 0.8 only there
        assert one_sided.ppf(0.001) <= missed.sum() <= one_sided.ppf(0.999)


def test_shares_of_distances_have_no_unit(rng):
    a, worst, best = far_apart(rng, 300)
    first, other = (closes_distance(k * a + 3, k * worst + 3, k * best + 3, "") for k in (1.0, 1024.0))
    assert first.estimate.interval(0.01) == pytest.approx(other.estimate.interval(0.01), rel=1e-6)
    assert (first.p_hold, first.p_refute) == pytest.approx((other.p_hold, other.p_refute))


def test_ratios_to_negative_means_are_unknown(rng):
    a, worst, best = far_apart(rng, 300)
    estimate = closes_distance(a, best, worst, "").estimate
    assert np.isnan([estimate.value, *estimate.interval(0.05)]).all()


@pytest.mark.parametrize("make", [minimum_difference, minimum_ratio])
def test_identical_runs_have_zero_width(make):
    losses = np.tile([1.0, 2.0, 4.0], (50, 1))
    estimate = make(losses[:, :1], losses[:, 1:])
    assert estimate.interval(0.05) == (estimate.value, estimate.value)
    assert estimate.p_values(estimate.value) == (1.0, 1.0)
    assert estimate.p_values(estimate.value + 0.1) == (1.0, 0.0)
    assert np.isnan(make(losses[:9, :1], losses[:9, 1:]).interval(0.05)).all()  # too few of them


def test_largest_uses_all_means_below(rng):
    means = [mean(column) for column in rng.normal(size=(4, 300)) + np.array([[0.1], [0.2], [0.0], [0.3]])]
    at_most, at_least = np.array([estimate.p_values(0.4) for estimate in means]).T
    assert largest(means).p_values(0.4) == pytest.approx((min(1.0, 4 * at_most.min()), at_least.max()))


class TestPlaceOfAMinimum:
    def test_the_best_is_in_its_confidence_set(self, rng):
        means = np.array([0.0, 0.0, 0.0, 1.0])  # the first three are the best
        p = np.array([p_best(rng.normal(size=(200, 4)) + means) for _ in range(600)])
        assert (p[:, 1] <= 0.1).sum() <= stats.binom(600, 0.1).ppf(0.999)
        assert (p[:, 3] <= 0.1).all()

    def test_either_of_two_places_may_be_missed(self):
        p_a, p_b, steps = np.array([1.0, 0.01]), np.array([0.2, 1.0]), np.arange(2.0)
        estimate = BestDifference(-1.0, 50, steps[:, None] - steps, p_a, p_b)
        assert estimate.p == pytest.approx(np.array([[0.4, 1.0], [0.02, 0.02]]))
        assert estimate.p_values(0.0) == pytest.approx((1.0, 0.4))
        assert (estimate.interval(0.9), estimate.interval(0.1)) == ((-1.0, -1.0), (-1.0, 0.0))

    def test_worse_discount_factors_are_excluded(self, rng):
        losses = rng.normal(size=(2000, 4)) + np.array([1.0, 0.0, 0.5, 1.0])
        assert (p_best(losses) > 1e-6).tolist() == [False, True, False, False]
