"""Estimates from groups: against scipy's tests, brute force, and simulation at the threshold."""

import time
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.estimates import mean_difference
from verdicts.groups import MAX_ARRANGEMENTS, Group, Linear, Lowest, Ratio
from verdicts.minima import minimum_difference
from verdicts.parts import Part, Verdict, judge_part
from verdicts.skewness import cube_root


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def two_groups(a: np.ndarray, b: np.ndarray) -> Linear:
    return Linear.of([Group(1.0, a), Group(-1.0, b)], unit="runs")


def studentised(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    variances = [z.var(axis=axis, ddof=1) / z.shape[axis] for z in (x, y)]
    return (x.mean(axis=axis) - y.mean(axis=axis)) / np.sqrt(sum(variances))


class TestFewUnits:
    def test_few_pairs_have_the_larger_p(self, rng):
        for differences in (rng.normal(0.7, size=6), heavy_tailed(rng, 6)):
            theirs = []
            for side in ("greater", "less"):
                shifted = (differences - 0.1,)
                exact = stats.permutation_test(
                    shifted, np.mean, permutation_type="samples", n_resamples=10_000, alternative=side
                )
                theirs.append(max(exact.pvalue, stats.ttest_1samp(*shifted, 0.0, alternative=side)[1]))
            assert Linear.of([Group(1.0, differences)]).p_values(0.1) == pytest.approx(theirs)

    @pytest.mark.parametrize("threshold", [-0.5, 0.3])
    def test_two_small_groups_have_larger_p(self, rng, threshold):
        for a, b in ((rng.normal(2.0, size=5), 2.0 * rng.normal(size=4)), (rng.normal(size=4), heavy_tailed(rng, 6))):
            theirs = []
            for side in ("greater", "less"):
                exact = stats.permutation_test(
                    (a - threshold, b),
                    studentised,
                    n_resamples=10_000,
                    alternative=side,
                    permutation_type="independent",
                )
                welch = stats.ttest_ind(a - threshold, b, equal_var=False, alternative=side)
                theirs.append(max(exact.pvalue, welch[1]))
            assert two_groups(a, b).p_values(threshold) == pytest.approx(theirs)

    def test_up_to_10000_labels_are_all_tried(self, rng):
        a, b = rng.normal(0.8, size=7), rng.normal(size=7)
        theirs = stats.permutation_test((a, b), studentised, n_resamples=10_000, alternative="greater")
        assert (two_groups(a, b)._statistics(0.0) >= studentised(a, b, 0) - 1e-9).mean() == theirs.pvalue
        assert two_groups(a, b).smallest_p == pytest.approx(1 / 3432)

    def test_more_labels_are_sampled(self, rng):
        estimate = two_groups(90.0 + rng.normal(size=9), rng.normal(size=9))  # drawn labels may be the given ones
        assert estimate.smallest_p == 1 / 10_000 <= estimate.p_values(0.0)[0] <= 4 / 10_000

    def test_labels_are_exchanged_within_strata_only(self, rng):
        samples = rng.normal(size=(2, 4)) + np.array([[0.0], [5.0]])
        statistics = []
        for labels in product(combinations(range(4), 2), repeat=2):
            means, variances = 0.0, 0.0
            for sample, members in zip(samples, labels, strict=True):
                a, b = sample[[*members]], np.delete(sample, members)
                means += a.mean() - b.mean()
                variances += a.var(ddof=1) / 2 + b.var(ddof=1) / 2
            statistics.append(means / np.sqrt(variances))
        exact = np.mean(np.array(statistics) >= statistics[0] - 1e-9)
        groups = [Group(sign / 2, samples[i, 2 * j : 2 * j + 2], i) for i in (0, 1) for j, sign in enumerate((1, -1))]
        estimate = Linear.of(groups)
        assert estimate.value == pytest.approx((samples[:, :2].mean(1) - samples[:, 2:].mean(1)).mean())
        sampled = (estimate._statistics(0.0) >= estimate._statistics(0.0)[0] - 1e-9).mean()
        assert sampled == pytest.approx(exact, abs=4 * np.sqrt(0.25 / MAX_ARRANGEMENTS))

    def test_exact_ends_have_half_the_error(self, rng):
        estimate = two_groups(rng.normal(2.0, size=8), rng.normal(size=8))
        for side, end in enumerate(estimate.interval(0.1)):
            outside = end + (1e-6 if side else -1e-6)
            inside = end - (1e-6 if side else -1e-6)
            assert estimate.p_values(outside)[side] <= 0.05 + 1e-6 <= estimate.p_values(inside)[side] + 2e-6

    def test_a_constant_moves_estimate_and_interval(self, rng):
        groups = two_groups(rng.normal(2.0, size=6), rng.normal(size=6)).groups
        moved, unmoved = Linear.of(groups, 0.5), Linear.of(groups)
        assert moved.p_values(1.0) == pytest.approx(unmoved.p_values(0.5))
        assert moved.interval(0.1) == pytest.approx(np.add(unmoved.interval(0.1), 0.5), abs=1e-6)

    @pytest.mark.parametrize(("a", "b"), [(1.1, 0.8), (0.7, 0.1), (0.3, 0.1), (2.0, 0.5)])
    def test_equal_units_are_on_neither_side(self, a, b):
        value = round(a - b, 1)  # a - b may be one bit more or less
        pairs = Linear.of([Group(1.0, np.full(7, a) - b)])
        for estimate in (two_groups(np.full(5, a), np.full(5, b)), two_groups(np.full(7, a), np.full(7, b)), pairs):
            assert estimate.p_values(value) == (1.0, 1.0)
            assert estimate.p_values(value - 0.1) == (1.0, 1.0)
            assert estimate.p_values(0.0)[0] <= estimate.smallest_p * 1.001
            assert estimate.interval(0.02) == (0.0, np.inf)

    def test_one_unit_in_a_group_tells_nothing(self):
        estimate = two_groups(np.array([9.0]), np.array([1.0, 1.1, 1.2]))
        assert np.isnan([*estimate.p_values(0.0), *estimate.interval(0.5)]).all()

    @pytest.mark.parametrize(("n", "is_corrected"), [(7, False), (8, True)])
    def test_small_skewness_is_corrected_from_8(self, rng, n, is_corrected):
        samples = rng.lognormal(size=(2, n)) * [[1.0], [0.1]]
        assert (two_groups(*samples).student.skewness.value > 0.0) == is_corrected

    @pytest.mark.parametrize("n", [3, 5, 8, 10])
    def test_verdicts_at_the_threshold_keep_the_error(self, rng, n):
        p = np.array([two_groups(rng.normal(size=n), 3.0 * rng.normal(size=n)).p_values(0.0) for _ in range(600)])
        pairs = np.array([Linear.of([Group(1.0, rng.normal(size=n))]).p_values(0.0) for _ in range(600)])
        for level in (0.05, 0.2):
            assert (p[:, 0] <= level).sum() <= stats.binom(600, level).ppf(0.999)
            assert (pairs[:, 1] <= level).sum() <= stats.binom(600, level).ppf(0.999)

    @pytest.mark.parametrize(("n", "is_corrected"), [(7, False), (8, True)])
    def test_heavy_tails_are_corrected_from_8(self, rng, n, is_corrected):
        assert (two_groups(heavy_tailed(rng, n), rng.normal(size=n)).student.skewness.value != 0.0) == is_corrected


class TestManyUnits:
    def test_two_groups_without_skewness_are_welchs_test(self, rng):
        half, other = heavy_tailed(rng, 20), heavy_tailed(rng, 13)
        a, b = np.concatenate([half, -half]) + 0.3, 2.0 * np.concatenate([other, -other])
        theirs = stats.ttest_ind(a, b, equal_var=False)
        estimate = two_groups(a, b)
        assert estimate.interval(0.02) == pytest.approx(tuple(theirs.confidence_interval(0.98)))
        assert estimate.p_values(0.0)[1] == pytest.approx(stats.ttest_ind(a, b, equal_var=False, alternative="less")[1])

    @pytest.mark.parametrize("n", [10, 200])
    def test_one_group_gives_the_mean_difference(self, rng, n):
        a, b = heavy_tailed(rng, n), heavy_tailed(rng, n)
        estimate, expected = Linear.of([Group(1.0, a - b)]), mean_difference(a, b)
        assert estimate.interval(0.01) == pytest.approx(expected.interval(0.01))
        assert estimate.p_values(0.2) == pytest.approx(expected.p_values(0.2))

    @pytest.mark.parametrize(("n", "has_drift"), [(99, False), (100, True)])
    def test_group_drift_is_corrected_from_100(self, rng, n, has_drift):
        estimate = two_groups(rng.standard_t(3, n), rng.normal(size=n) / 10)
        assert (estimate.student.skewness.drift > 0.0) == has_drift

    def test_groups_of_10_need_no_rearrangements(self, rng):
        a, b = rng.normal(9.0, size=10), rng.normal(size=10)
        assert two_groups(a, b).p_values(0.0)[0] < 1e-6 < two_groups(a[1:], b).p_values(0.0)[0]

    def test_sixty_strata_take_two_seconds(self, rng):
        start = time.process_time()
        levels = 10.0 * rng.normal(size=60)
        groups = [
            Group(s / 60, level + rng.normal(0.3 * (s > 0), size=5), i)
            for i, level in enumerate(levels)
            for s in (1, -1)
        ]
        estimate = Linear.of(groups)
        lower, upper = estimate.interval(0.05)
        assert time.process_time() - start < 2.0
        variances = np.array([group.sample.var(ddof=1) / 5 / 3600 for group in groups])
        half = stats.t.ppf(0.975, variances.sum() ** 2 / (variances**2 / 4).sum()) * np.sqrt(variances.sum())
        assert (estimate.value - lower, upper - estimate.value) == pytest.approx((half, half), rel=0.05)

    @pytest.mark.parametrize("sizes", [(10, 100), (40, 12)])
    def test_groups_of_unequal_sizes_have_labels_too(self, rng, sizes):
        a, b = (heavy_tailed(rng, n) for n in sizes)
        shifted = a - 0.6, b
        draws = stats.permutation_test(shifted, studentised, n_resamples=9999, alternative="greater", rng=1)
        welch = float(two_groups(a, b).student.p_values(0.6)[0])
        assert two_groups(a, b).p_values(0.6)[0] == pytest.approx(max(draws.pvalue, welch), abs=0.02)
        assert two_groups(a, b).smallest_p == 1 / MAX_ARRANGEMENTS

    def test_groups_of_twice_the_size_are_unequal(self, rng):
        ten = rng.normal(size=10)
        assert [two_groups(ten, rng.normal(size=n)).smallest_p > 0.0 for n in (19, 20)] == [False, True]

    def test_equal_units_differ_only_from_0(self):
        estimate = two_groups(np.full(12, 2.0), np.full(15, 0.5))
        assert estimate.interval(0.01) == (0.0, np.inf)
        assert estimate.p_values(0.0)[0] <= 1 / MAX_ARRANGEMENTS
        assert estimate.p_values(1.4) == (1.0, 1.0)

    def test_planned_units_have_published_power(self):
        a, b = (np.sqrt(0.99) * np.tile([-1.0, 1.0], 50) + mean for mean in (0.5, 0.0))  # 0.5 standard deviations
        assert two_groups(a, b).units_for_power(0.5, 0.025, 0.8) == pytest.approx(64, abs=1)  # Cohen 1988


class TestRatiosAndPlaces:
    def test_a_ratio_has_fiellers_interval(self, rng):
        b = 3.0 + rng.normal(size=40)
        a = 0.8 * b + rng.normal(size=40)
        a, b = np.concatenate([a, 2 * a.mean() - a]), np.concatenate([b, 2 * b.mean() - b])  # without skewness
        t2 = stats.t(79).ppf(0.995) ** 2
        (aa, ab), (_, bb) = np.cov(a, b) / 80 * t2
        x, y = a.mean(), b.mean()
        roots = np.roots([y**2 - bb, 2.0 * (ab - x * y), x**2 - aa])
        estimate = Ratio(x / y - 1.0, 80, lambda r: Linear.of([Group(1.0, a - (1.0 + r) * b)]))
        assert estimate.interval(0.01) == pytest.approx(sorted(roots - 1.0), abs=1e-6)

    def test_pairs_and_columns_give_one_minimum(self, rng):
        a, b = heavy_tailed(rng, 50, 2), heavy_tailed(rng, 50, 3)
        pairs = tuple(tuple(Linear.of([Group(1.0, x - y)]) for y in b.T) for x in a.T)
        expected = minimum_difference(a, b)
        estimate = Lowest(expected.value, 50, pairs)
        assert estimate.interval(0.05) == pytest.approx(expected.interval(0.05))
        for threshold in (0.1, *expected.interval(0.05)):
            assert estimate.p_values(threshold) == pytest.approx(expected.p_values(threshold))


class TestReasons:
    def reason(self, estimate: Linear, error: float) -> str:
        judgement = judge_part(Part("", estimate, above=0.0), error)
        assert judgement.verdict is Verdict.UNDECIDED
        return judgement.reason

    def test_too_few_units_name_sufficient_numbers(self, rng):
        estimate = two_groups(rng.normal(5.0, size=5), rng.normal(size=5))
        assert self.reason(estimate, 0.05 / 7) == (
            "5 against 5 runs: the smallest possible p is 0.004, needed is 0.0036; at least 6 in each would be needed"
        )
        enough = two_groups(rng.normal(50.0, size=6), rng.normal(size=6))
        assert judge_part(Part("", enough, above=0.0), 0.05 / 7).verdict is Verdict.HOLDS

    def test_two_units_per_group_have_a_test(self):
        few = two_groups(np.array([5.0, 5.1]), np.array([0.0, 0.1]))
        assert few.p_values(0.0)[0] == pytest.approx(1 / 6)

    def test_untestable_groups_name_their_needed_units(self, rng):
        three = Linear.of([Group(c, rng.normal(size=9)) for c in (1.0, -2.0, 1.0)], unit="runs")
        level = Linear.of([Group(1.0, rng.normal(size=49))], unit="runs", is_level=True)
        single = two_groups(np.array([9.0]), np.array([1.0, 1.1, 1.2]))
        assert self.reason(single, 0.05).startswith("1 against 3 runs: at least 2 in each are needed")
        assert "at least 10 in each are needed" in self.reason(three, 0.05)
        assert "at least 50 in each are needed" in self.reason(level, 0.05)


class TestFewSuccesses:
    def test_few_that_differ_have_mcnemars_exact_test(self):
        differences = np.array([1.0] * 7 + [-1.0] + [0.0] * 22)
        estimate = Linear.of([Group(1.0, differences)], is_sparse=True)
        assert estimate.p_values(0.0)[0] == pytest.approx(stats.binomtest(7, 8, 0.5, "greater").pvalue, abs=0.02)
        assert estimate.interval(0.1) == (0.0, np.inf)

    def test_equal_pairs_do_not_show_equal_rates(self):
        estimate = Linear.of([Group(1.0, np.zeros(30))], is_sparse=True)
        assert Part("", estimate, above=-0.05, below=0.05).verdict() is Verdict.UNDECIDED


def test_cube_roots_are_exact():
    numbers = np.concatenate([np.arange(-50.0, 51.0), np.logspace(-100, 100, 401)])
    assert cube_root(numbers**3) == pytest.approx(numbers, rel=1e-15)
    assert cube_root(np.array([0.0, np.inf, -np.inf])).tolist() == [0.0, np.inf, -np.inf]
