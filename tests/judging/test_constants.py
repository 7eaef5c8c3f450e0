"""Each constant that decides verdicts, from both of its sides."""

import numpy as np
import pytest
from scipy import stats
from tests.support.worlds import BY_ID, GAMMAS, heavy_tailed

from pomrl.judging.agreement import is_close
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.comparisons import best_is_between, less, near, no_better, no_worse, on_a_par
from pomrl.judging.estimates import Student, correlation, mean, mean_difference, smooth
from pomrl.judging.minima import largest, may_be_best
from pomrl.judging.verdict import Comparison, Part, Verdict, judge_part
from pomrl.results.intervals import bootstrap_means, difference, normal_means
from pomrl.results.result import Result


def losses(runs: int) -> np.ndarray:
    return 1.0 + heavy_tailed(np.random.default_rng(runs), runs)


@pytest.mark.parametrize(("runs", "is_judged"), [(9, False), (10, True)])
def test_pairs_are_judged_from_10_runs_on(runs, is_judged):
    assert (less(losses(runs), losses(runs) + 1.0, "").verdict() is Verdict.HOLDS) == is_judged


@pytest.mark.parametrize(("runs", "is_judged"), [(49, False), (50, True)])
def test_means_are_compared_with_numbers_from_50_runs_on(runs, is_judged):
    sample = losses(runs)
    for estimate in (mean(sample), smooth(lambda means: means**2, sample), largest([mean(sample), mean(-sample)])):
        assert (Part("", estimate, above=0.1).verdict() is Verdict.HOLDS) == is_judged
    assert mean(np.full(runs, 2.0)).is_possible == is_judged


def test_an_undecided_mean_says_how_many_runs_it_needs():
    parts = [less(losses(20), losses(20) + 1.0, "a less b"), Part("mean of a", mean(losses(20)), above=0.1)]
    judged = JudgedClaim(BY_ID["Q1.1"], 20).judge(parts)
    assert judged.verdict is Verdict.UNDECIDED
    assert judged.reason == "mean of a: an estimate of this kind must have at least 50 runs, got 20"
    enough = JudgedClaim(BY_ID["Q1.1"], 50).judge([Part("mean of a", mean(losses(50)), above=losses(50).mean())])
    assert "too wide to tell" in enough.reason


@pytest.mark.parametrize(("runs", "has_drift"), [(99, False), (100, True)])
def test_the_drift_of_skewness_is_corrected_from_100_runs_on(runs, has_drift):
    skewness = mean_difference(np.random.default_rng(2).standard_t(3, runs), np.zeros(runs)).skewness
    assert skewness.value != 0.0
    assert (skewness.drift > 0.0) == has_drift


@pytest.mark.parametrize(("runs", "resamples"), [(99, 9999), (100, 9999), (999, 9999), (1000, 399_999)])
def test_correlations_have_resamples_of_runs_below_100_and_more_normal_ones_from_1000_on(runs, resamples):
    sample = np.random.default_rng(3).normal(size=(runs, 1))
    found = correlation(lambda means: means[:, 0], sample).distribution
    drawn = [bootstrap_means(sample, resamples)] if runs < 100 else normal_means(sample, resamples, 10_000, 0)
    np.testing.assert_array_equal(found, np.concatenate([*drawn])[:, 0])


@pytest.mark.parametrize(("width", "verdict"), [(0.0249, Verdict.NO_DIFFERENCE), (0.0251, Verdict.UNDECIDED)])
def test_an_interval_is_narrow_below_a_quarter_of_the_margin(width, verdict):
    deviation = width / 2 / stats.t.ppf(0.975, 99)
    part = Part("", Student(0.1, 100, deviation), below=0.1, margin=0.1)
    assert judge_part(part, 0.05).verdict is verdict


@pytest.mark.parametrize(("width", "verdict"), [(0.0398, Verdict.NO_DIFFERENCE), (0.0402, Verdict.UNDECIDED)])
def test_the_smallest_effect_of_interest_is_two_percent(width, verdict):
    deviation = width / 2 / stats.t.ppf(0.975, 99)
    assert judge_part(Part("", Student(0.0, 100, deviation), below=0.0), 0.05).verdict is verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.0999, Verdict.HOLDS), (1.1001, Verdict.DOES_NOT_HOLD)])
def test_losses_are_equal_up_to_ten_percent(factor, verdict):
    b = losses(50)
    for part in (on_a_par(factor * b, b, ""), no_worse(factor * b, b, ""), no_better((2.0 - factor) * b, b, "")):
        assert part.verdict() is verdict


def test_discount_factors_are_near_up_to_a_tenth():
    grid = Result.of_losses(np.ones((10, 1, 21)), GAMMAS)
    assert GAMMAS[near(grid, 0.5)] == pytest.approx([0.4, 0.45, 0.5, 0.55, 0.6])


def test_gammas_that_differ_by_rounding_are_not_between():
    values = np.array([0.3 + 0.9e-9, 0.3 + 1.1e-9, 0.6])
    curve = np.array([1.0, 0.0, 1.0]) + np.zeros((20, 1, 3))
    assert best_is_between(Result.of_losses(curve, values), "", above=0.3).verdict() is Verdict.HOLDS
    worse = np.array([0.0, 1.0, 1.0]) + np.zeros((20, 1, 3))
    assert best_is_between(Result.of_losses(worse, values), "", above=0.3).verdict() is Verdict.DOES_NOT_HOLD


def test_columns_eight_standard_errors_away_are_not_best():
    noise = np.random.default_rng(5).normal(size=(100, 2))
    noise = (noise - noise.mean(0)) / noise.std(0)
    curve = np.stack([np.zeros(100), noise[:, 0] + 0.79, noise[:, 1] + 0.81], axis=1)
    assert may_be_best(curve).tolist() == [0, 1]


@pytest.mark.parametrize("level", [1.0, 1e6])
@pytest.mark.parametrize(("spread", "is_constant"), [(0.9e-12, True), (1.1e-12, False)])
def test_a_spread_of_rounding_errors_counts_as_none(spread, is_constant, level):
    sample = level * (1.0 + spread * np.sqrt(99) * np.tile([-1.0, 1.0], 50))
    assert mean_difference(sample, np.zeros(100)).is_constant == is_constant


@pytest.mark.parametrize(("gap", "agree"), [(0.9e-9, True), (2e-9, False)])
def test_judgements_agree_up_to_digits_of_other_processors(gap, agree):
    assert is_close(Comparison(estimate=1.0), Comparison(estimate=1.0 + gap)) == agree


def test_independent_samples_have_welchs_interval():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=5), 1.0 + 3.0 * rng.normal(size=12)
    theirs = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    found = difference(a, b, paired=False)
    assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high))
