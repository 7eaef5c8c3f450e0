"""Estimates and their intervals, against scipy's and by hand."""

import numpy as np
import pytest
from scipy import stats
from tests.claims.worlds import heavy_tailed

from pomrl.claims.comparisons import best_grows, less, rank_correlation
from pomrl.claims.inference import mean, ratio, resampled, smooth
from pomrl.claims.verdict import Part, Verdict
from pomrl.results.losses import Losses


class TestEstimates:
    def test_a_mean_of_pairs_is_the_paired_t_test(self):
        rng = np.random.default_rng(0)
        a, b = heavy_tailed(rng, 30), heavy_tailed(rng, 30)
        theirs = stats.ttest_rel(a, b)
        found = mean(a - b)
        assert (found.lower, found.upper) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
        assert 2 * min(found.at_most(0.0), found.at_least(0.0)) == pytest.approx(theirs.pvalue)

    def test_independent_means_are_compared_by_welchs_test(self):
        rng = np.random.default_rng(1)
        a, b = heavy_tailed(rng, 30), 2.0 * heavy_tailed(rng, 50)
        theirs = stats.ttest_ind(a, b, equal_var=False)
        found = smooth(lambda of_a, of_b: of_a - of_b, a, b)
        assert (found.lower, found.upper) == pytest.approx(tuple(theirs.confidence_interval(0.95)))
        assert found.runs == 30

    def test_the_ends_of_a_ratios_interval_are_where_the_t_tests_turn(self):
        rng = np.random.default_rng(2)
        found = ratio(1.0 + heavy_tailed(rng, 40), 1.0 + heavy_tailed(rng, 40))
        assert found.at_most(found.lower) == pytest.approx(0.025)
        assert found.at_least(found.upper) == pytest.approx(0.025)

    def test_a_ratio_to_what_may_be_nothing_has_no_bounds(self):
        found = ratio(np.arange(10.0), np.r_[100.0, np.zeros(9)])
        assert (found.lower, found.upper) == (-np.inf, np.inf)

    def test_the_bootstrap_agrees_with_scipys(self):
        sample = heavy_tailed(np.random.default_rng(3), 40)
        theirs = stats.bootstrap((sample,), np.mean, method="percentile", n_resamples=9999, rng=0).confidence_interval
        found = resampled(lambda m: m, sample)
        assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high), rel=0.02)

    def test_rank_correlation_is_scipys(self):
        values = np.random.default_rng(4).integers(0, 4, (50, 7)).astype(float)
        theirs = [np.corrcoef(stats.rankdata(row), np.arange(7))[0, 1] for row in values]
        np.testing.assert_allclose(rank_correlation(values), theirs)
        assert rank_correlation(np.ones((2, 3))).tolist() == [0.0, 0.0]

    def test_runs_that_are_all_alike_leave_no_doubt(self):
        assert Part("", mean(np.full(20, -0.1)), below=0.0).verdict is Verdict.REPRODUCED
        assert Part("", mean(np.full(20, 0.1)), below=0.0).verdict is Verdict.NOT_REPRODUCED

    def test_what_is_always_equal_refutes_nothing(self):
        same, growing = heavy_tailed(np.random.default_rng(5), 30), Losses(np.ones((30, 4, 3)), np.arange(3.0))
        assert less(same, same, "").verdict is Verdict.INCONCLUSIVE
        assert best_grows(growing, growing.loss, "").verdict is Verdict.INCONCLUSIVE
