"""Each constant that decides verdicts, from both of its sides."""

import numpy as np
import pytest
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.comparisons import less, no_better, no_worse, on_a_par
from verdicts.correlations import correlation
from verdicts.estimates import Student, largest, mean, mean_difference, smooth
from verdicts.parts import Part, Verdict, judge_part
from verdicts.resampling import bootstrap_means, normal_means


def losses(runs: int) -> np.ndarray:
    return 1.0 + heavy_tailed(np.random.default_rng(runs), runs)


@pytest.mark.parametrize(("runs", "is_judged"), [(9, False), (10, True)])
def test_pairs_are_judged_from_10_runs_on(runs, is_judged):
    assert (less(losses(runs), losses(runs) + 1.0, "").verdict() is Verdict.HOLDS) == is_judged


@pytest.mark.parametrize(("runs", "is_judged"), [(49, False), (50, True)])
def test_means_need_50_runs_against_numbers(runs, is_judged):
    sample = losses(runs)
    for estimate in (mean(sample), smooth(lambda means: means**2, sample), largest([mean(sample), mean(-sample)])):
        assert (Part("", estimate, above=0.1).verdict() is Verdict.HOLDS) == is_judged
    assert mean(np.full(runs, 2.0)).is_possible == is_judged


@pytest.mark.parametrize(("runs", "has_drift"), [(99, False), (100, True)])
def test_skewness_drift_is_corrected_from_100(runs, has_drift):
    skewness = mean_difference(np.random.default_rng(2).standard_t(3, runs), np.zeros(runs)).skewness
    assert skewness.value != 0.0
    assert (skewness.drift > 0.0) == has_drift


@pytest.mark.parametrize(("runs", "resamples"), [(99, 9999), (100, 9999), (999, 9999), (1000, 399_999)])
def test_correlations_choose_their_resamples_by_size(runs, resamples):
    sample = np.random.default_rng(3).normal(size=(runs, 1))
    actual = correlation(lambda means: means[:, 0], sample).distribution
    resampled = [bootstrap_means(sample, resamples)] if runs < 100 else normal_means(sample, resamples, 10_000, 0)
    np.testing.assert_array_equal(actual, np.concatenate([*resampled])[:, 0])


@pytest.mark.parametrize(("width", "verdict"), [(0.0249, Verdict.NO_DIFFERENCE), (0.0251, Verdict.UNDECIDED)])
def test_narrow_means_a_quarter_margin(width, verdict):
    deviation = width / 2 / stats.t.ppf(0.975, 99)
    comparison = Part("", Student(0.1, 100, deviation), below=0.1, margin=0.1)
    assert judge_part(comparison, 0.05).verdict is verdict


@pytest.mark.parametrize(("width", "verdict"), [(0.0398, Verdict.NO_DIFFERENCE), (0.0402, Verdict.UNDECIDED)])
def test_the_smallest_effect_is_two_percent(width, verdict):
    deviation = width / 2 / stats.t.ppf(0.975, 99)
    assert judge_part(Part("", Student(0.0, 100, deviation), below=0.0), 0.05).verdict is verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.0999, Verdict.HOLDS), (1.1001, Verdict.DOES_NOT_HOLD)])
def test_losses_are_equal_up_to_ten_percent(factor, verdict):
    b = losses(50)
    for comparison in (on_a_par(factor * b, b, ""), no_worse(factor * b, b, ""), no_better((2.0 - factor) * b, b, "")):
        assert comparison.verdict() is verdict


@pytest.mark.parametrize("level", [1.0, 1e6])
@pytest.mark.parametrize(("spread", "is_constant"), [(0.9e-12, True), (1.1e-12, False)])
def test_spread_by_rounding_counts_as_none(spread, is_constant, level):
    sample = level * (1.0 + spread * np.sqrt(99) * np.tile([-1.0, 1.0], 50))
    assert mean_difference(sample, np.zeros(100)).is_constant == is_constant
