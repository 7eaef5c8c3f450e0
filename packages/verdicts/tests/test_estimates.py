"""Estimates and their intervals, against scipy's and by hand."""

import numpy as np
import pytest
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.comparisons import less, less_in_shares, no_better, no_worse, on_a_par, slope
from verdicts.correlations import correlation
from verdicts.estimates import mean, mean_difference, rate, smooth
from verdicts.minima import ratio
from verdicts.parts import Part, Verdict
from verdicts.skewness import Skewness, conservative_quantile, conservative_t, without_skew


class TestEstimates:
    def test_symmetric_differences_give_the_t_test(self):
        rng = np.random.default_rng(0)
        a, half = heavy_tailed(rng, 30), heavy_tailed(rng, 15)
        b = a + 0.3 + np.concatenate([half, -half])
        theirs = stats.ttest_rel(a, b)
        actual = mean_difference(a, b)
        assert (actual.lower, actual.upper) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
        one_sided = [stats.ttest_rel(a, b, alternative=side).pvalue for side in ("greater", "less")]
        assert actual.p_values(0.0) == pytest.approx(one_sided)

    @pytest.mark.parametrize("runs", [50, 2000])
    def test_interval_ends_are_where_p_turns(self, runs):
        rng = np.random.default_rng(1)
        a, b = 1.0 + heavy_tailed(rng, runs), 1.0 + heavy_tailed(rng, runs)
        for actual in (mean_difference(a, b), mean(a), ratio(a, b)):
            for error in (0.05, 0.001):
                lower, upper = actual.interval(error)
                assert actual.p_values(lower)[0] == pytest.approx(error / 2, rel=1e-3)
                assert actual.p_values(upper)[1] == pytest.approx(error / 2, rel=1e-3)

    def test_skewed_losses_have_the_wider_interval(self):
        sample = np.random.default_rng(8).lognormal(sigma=0.6, size=2000)
        actual, t = mean(sample), stats.t.ppf(1 - 0.001 / 2, 1999)
        lower, upper = actual.interval(0.001)
        error = sample.std(ddof=1) / np.sqrt(2000)
        # To the right of a mean of losses with a long right tail there is more room than Student's interval has.
        assert upper - sample.mean() > t * error
        assert sample.mean() - lower == pytest.approx(t * error)
        skewness = stats.skew(sample)
        drift = (stats.kurtosis(sample) - 1.5 * skewness**2) / 2000
        statistic = (sample.mean() - upper) / error
        assert drift > 0
        c = skewness / np.sqrt(2000) - drift * statistic
        assert statistic + c * statistic**2 / 3 + c**2 * statistic**3 / 27 + c / 6 == pytest.approx(-t)

    @pytest.mark.parametrize("runs", [10, 99])
    def test_few_skewed_differences_have_halls_interval(self, runs):
        sample = np.random.default_rng(8).lognormal(sigma=0.6, size=runs)
        lower, upper = mean_difference(sample, np.zeros(runs)).interval(0.01)
        t, error = stats.t.ppf(1 - 0.01 / 2, runs - 1), sample.std(ddof=1) / np.sqrt(runs)
        assert sample.mean() - lower == pytest.approx(t * error)
        c, statistic = stats.skew(sample) / np.sqrt(runs), (sample.mean() - upper) / error
        assert c > 0.1
        assert statistic + c * statistic**2 / 3 + c**2 * statistic**3 / 27 + c / 6 == pytest.approx(-t)

    def test_t_corrected_for_drift_grows_with_t(self):
        t = np.linspace(-60.0, 60.0, 2001)
        assert (np.diff(without_skew(t, Skewness(0.0, 0.05).expected(t))) > 0.0).all()

    def test_interval_ends_have_corrected_t_quantiles(self):
        skewness = Skewness(0.0, 0.02)
        end = conservative_quantile(4.0, skewness)
        assert conservative_t(end, skewness)[0] == pytest.approx(4.0, rel=1e-9)

    def test_smooth_functions_have_error_of_their_influence(self):
        sample = heavy_tailed(np.random.default_rng(8), 2000)
        actual, expected = smooth(lambda means: means, sample), mean_difference(sample, np.zeros(2000))
        assert actual.deviation == pytest.approx(expected.deviation)
        assert actual.skewness.value == pytest.approx(expected.skewness.value)
        assert actual.skewness.drift == pytest.approx(expected.skewness.drift)

    def test_the_slope_spans_first_to_last_task(self):
        assert slope(3.0 * np.arange(5)) == pytest.approx(12.0)

    def test_the_interest_is_relative_to_the_comparator(self):
        loss = np.arange(1.0, 21.0)
        assert less_in_shares(loss, 2 * loss, 4 * loss, "").interest == pytest.approx(0.02 * 2 / 4)
        assert less(loss, -loss, "").interest == pytest.approx(0.02 * loss.mean())

    def test_an_infinite_threshold_is_never_crossed(self):
        actual = ratio(np.arange(1.0, 21.0), np.ones(20))
        assert (actual.p_values(-np.inf)[0], actual.p_values(np.inf)[1]) == (0.0, 0.0)
        assert (actual.p_values(-np.inf)[1], actual.p_values(np.inf)[0]) == (1.0, 1.0)

    def test_ratios_to_possible_zeros_have_no_bounds(self):
        actual = ratio(np.arange(10.0), np.r_[100.0, np.zeros(9)])
        assert (actual.lower, actual.upper) == (-np.inf, np.inf)

    def test_the_bootstrap_agrees_with_scipys(self):
        sample = heavy_tailed(np.random.default_rng(3), 40)
        theirs = stats.bootstrap((sample,), np.mean, method="percentile", n_resamples=9999, rng=0).confidence_interval
        actual = correlation(lambda m: m, sample)
        # That of a correlation, up to 1.
        assert (actual.lower, actual.upper) == pytest.approx((theirs.low, 1.0), rel=0.02)
        mirrored = correlation(lambda m: -m, sample)
        assert (mirrored.lower, mirrored.upper) == pytest.approx((-1.0, -actual.lower))

    def test_unresolved_errors_leave_all_correlations_possible(self):
        actual = correlation(lambda m: m, heavy_tailed(np.random.default_rng(3), 40))
        assert actual.interval(1.9 / 10_001) == (-1.0, 1.0) != actual.interval(2.1 / 10_001)
        assert 0.0 < actual.p_values(-1.0)[0] < 2e-4  # though all resamples are above

    def test_identical_runs_leave_no_doubt(self):
        losses = heavy_tailed(np.random.default_rng(5), 20)
        assert less(losses, losses + 0.1, "").verdict() is Verdict.HOLDS
        assert less(losses + 0.1, losses, "").verdict() is Verdict.DOES_NOT_HOLD

    def test_what_is_always_equal_refutes_nothing(self):
        same = heavy_tailed(np.random.default_rng(5), 30)
        assert less(same, same, "").verdict() is Verdict.UNDECIDED
        assert less_in_shares(same, same, same + 1 / 3, "").verdict() is Verdict.UNDECIDED  # but for rounding


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7])
def test_equal_losses_are_on_neither_side(value: float) -> None:
    # Their mean over 60 runs may be one bit below the value.
    assert mean(np.full(60, value)).p_values(value) == (1.0, 1.0)
    assert mean(np.full(60, value)).p_values(value + 0.1) == (1.0, 0.0)


class TestRates:
    def test_ten_successes_do_not_show_95_percent(self):
        for estimate in (rate(np.ones(10, bool)), mean(np.ones(10)), mean(np.ones(10, bool))):
            comparison = Part("share of successes", estimate, above=0.95)
            assert comparison.verdict() is Verdict.UNDECIDED
            assert comparison.p_hold == pytest.approx(0.95**10)
            assert not estimate.is_constant

    @pytest.mark.parametrize("successes", [0, 3, 10, 25])
    def test_intervals_and_p_values_are_scipys(self, successes):
        sample = np.arange(25) < successes
        theirs = [stats.binomtest(successes, 25, 0.4, side).pvalue for side in ("greater", "less")]
        assert rate(sample).p_values(0.4) == pytest.approx(theirs)
        interval = stats.binomtest(successes, 25).proportion_ci(0.99, "exact")
        assert rate(sample).interval(0.01) == pytest.approx((interval.low, interval.high))
        assert mean(sample.astype(float)) == rate(sample)

    @pytest.mark.parametrize("threshold", [0.02, 0.5, 0.95])
    def test_rates_at_their_threshold_keep_the_error(self, threshold):
        for n in (1, 10, 60):
            p = np.array([rate(np.arange(n) < k).p_values(threshold) for k in range(n + 1)])
            probability = stats.binom.pmf(np.arange(n + 1), n, threshold)[:, None]
            for level in (0.025, 1e-4):
                assert (((p <= level) * probability).sum(0) <= level).all()

    def test_impossible_rates_are_excluded_for_certain(self):
        assert rate(np.zeros(10)).p_values(-0.1) == (0.0, 1.0)
        assert rate(np.ones(10)).p_values(1.1) == (1.0, 0.0)

    def test_other_numbers_are_refused(self):
        with pytest.raises(ValueError, match=r"must be 0 or 1, got 0\.5"):
            rate(np.array([0.0, 0.5, 1.0]))


def test_published_digits_stay_from_100_runs():
    """The numbers are from version 1 of the rule, which did not correct fewer runs."""
    rng = np.random.default_rng(20)
    a, b = rng.lognormal(0, 1, 100), rng.gamma(0.4, 2.5, 100)
    difference, relative = mean_difference(a, b), ratio(a, b + 1.0)
    assert f"{difference.p_values(0.5)[0]:.12g}" == "0.89942957976"
    assert [f"{end:.12g}" for end in difference.interval(1e-4)] == ["-1.35219537716", "1.8820693711"]
    assert f"{relative.p_values(0.5)[1]:.12g}" == "3.25540829861e-07"
    assert relative.interval(1e-4) == pytest.approx((-0.69568086289, 0.259806377116), abs=1e-9)


def test_samples_with_infinite_numbers_are_unknown():
    sample = np.array([np.nan, *range(20)])
    assert not mean(sample).is_known
    assert not ratio(sample, np.arange(21.0)).is_known
    assert ratio(np.arange(21.0), np.zeros(21)).is_known  # undefined, but of known numbers


def test_numbers_in_place_of_runs_are_refused():
    losses = np.arange(20.0)
    for compare in (less, no_worse, no_better, on_a_par):
        for a, b in ((losses.mean(), losses.mean()), (losses, losses.mean()), (losses.mean(), losses)):
            with pytest.raises(TypeError, match="must have arrays over runs, got float64"):
                compare(a, b, "")
