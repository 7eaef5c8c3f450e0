"""Verdicts follow from estimates."""

import numpy as np
import pytest
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.comparisons import less, no_better, no_worse, on_a_par
from verdicts.correlations import Correlation
from verdicts.estimates import Exact, Student
from verdicts.parts import JudgedPart, Part, Verdict, claimed_range, combine_verdicts, judge_part
from verdicts.skewness import Skewness

HOLDS, NOT, SAME, OPEN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE, Verdict.UNDECIDED


class TestVerdicts:
    def pairs(self, shift: float, n: int = 50) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        common = heavy_tailed(rng, n)
        return 2.0 + common, 2.0 + common + shift + 0.1 * rng.normal(size=n)

    @pytest.mark.parametrize(
        ("compare", "verdicts"),  # of a that is larger by so much, where means are about 3
        [
            (less, {-0.5: HOLDS, 0.5: NOT}),
            (on_a_par, {-1.0: NOT, -0.31: OPEN, -0.2: HOLDS, 1.0: NOT}),
            (no_worse, {-1.0: HOLDS, 0.0: HOLDS, 1.0: NOT}),
            (no_better, {-1.0: NOT, 0.0: HOLDS, 1.0: HOLDS}),
        ],
    )
    def test_comparisons_are_refuted_beyond_their_margin(self, compare, verdicts):
        a, b = self.pairs(0.0)
        assert {
            excess: compare(a + max(excess, 0.0), b - min(excess, 0.0), "").verdict() for excess in verdicts
        } == verdicts

    def test_two_one_sided_tests_by_hand(self):
        a, b = self.pairs(0.15)
        comparison = on_a_par(a, b, "")
        below, above = (
            stats.t.sf(sign * d.mean() / (d.std(ddof=1) / np.sqrt(50)), 49)
            for sign, d in ((-1, a - 1.1 * b), (1, a - 0.9 * b))
        )
        assert comparison.p_hold == pytest.approx(max(below, above))
        assert comparison.p_refute == pytest.approx(min(1 - below, 1 - above))

    @pytest.mark.parametrize("shift", [-0.4, -0.1, -0.02, 0.0, 0.05, 0.3, 0.6])
    def test_the_verdict_is_what_the_interval_shows(self, shift):
        a, b = self.pairs(shift)
        for comparison in (less(a, b, ""), on_a_par(a, b, ""), no_worse(a, b, "")):
            holds = comparison.above < comparison.estimate.lower and comparison.estimate.upper < comparison.below
            refuted = comparison.estimate.upper < comparison.above or comparison.below < comparison.estimate.lower
            assert (comparison.verdict() is HOLDS, comparison.verdict() is NOT) == (holds, refuted)

    def test_an_exact_difference_is_never_small(self):
        assert not judge_part(Part("", Exact(0.01), above=0.0), 0.05).is_small

    @pytest.mark.parametrize(
        ("partial_verdicts", "verdict"),
        [((HOLDS, None), HOLDS), ((HOLDS, OPEN), OPEN), ((OPEN, SAME), SAME), ((SAME, NOT), NOT), ((None,), OPEN)],
    )
    def test_one_refuted_comparison_refutes_the_claim(self, partial_verdicts, verdict):
        assert combine_verdicts(partial_verdicts) is combine_verdicts(partial_verdicts[::-1]) is verdict

    def test_what_is_claimed_in_words(self):
        ranges = [claimed_range(-np.inf, 0.0), claimed_range(0.95, np.inf), claimed_range(-0.1, 0.1)]
        assert ranges == ["< 0", "> 0.95", "within ±0.1"]

    @pytest.mark.parametrize(("difference", "is_small"), [(0.06, True), (0.063, False)])
    def test_differences_below_the_interest_are_small(self, difference: float, is_small: bool):
        noise = np.random.default_rng(0).normal(size=1000)
        judgement = judge_part(less(3.0 + 0.001 * noise, 3.0 + difference + 0.0 * noise, ""), 0.05)
        assert (judgement.verdict, judgement.is_small) == (HOLDS, is_small)
        assert judgement.reason.endswith(" (small: below 0.0612)") == is_small


class TestUnitsToDecide:
    @pytest.mark.parametrize("bounds", [{"below": 0.0}, {"above": -0.1, "below": 0.1, "margin": 0.1}])
    def test_the_needed_runs_decide(self, bounds: dict[str, float]) -> None:
        for value in np.linspace(-0.3, 0.3, 25):
            few = judged_at(value, 400, bounds)
            if few.verdict is not Verdict.UNDECIDED:
                continue
            runs = few.needed
            assert 400 < runs < np.inf
            assert judged_at(value, round(1.2 * runs), bounds).verdict is not Verdict.UNDECIDED
            assert judged_at(value, round(0.8 * runs), bounds).verdict is Verdict.UNDECIDED

    @pytest.mark.parametrize("skewness", [-1.0, 1.0])
    def test_asymmetric_intervals_need_more_runs(self, skewness: float) -> None:
        estimate = Student(0.0, 400, 0.004, Skewness(skewness))
        judgement = judge_part(Part("a less b", estimate, below=0.0), 0.001)
        assert min(-judgement.lower, judgement.upper) < 0.02 < max(-judgement.lower, judgement.upper)
        assert judgement.needed > 400

    def test_a_rank_correlation_has_no_such_number(self) -> None:
        estimate = Correlation(0.5, 1000, np.linspace(-0.5, 1.0, 999))
        assert judge_part(Part("rank correlation", estimate, above=0.0), 0.001).needed == np.inf


def student(value: float, runs: int) -> Student:
    return Student(value, runs, 1.0 / np.sqrt(runs))


def judged_at(value: float, runs: int, bounds: dict[str, float]) -> JudgedPart:
    return judge_part(Part("a less b", student(value, runs), **bounds), 0.001)  # pyright: ignore[reportArgumentType]
