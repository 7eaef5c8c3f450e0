"""Judged claims: shared errors, reasons and decisive parts."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.support.verdicts import by_itself
from tests.support.worlds import BY_ID, heavy_tailed

from pomrl.judging.agreement import is_close
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.comparison_rows import Comparison, decisive
from pomrl.judging.study_claims import Basis
from verdicts.comparisons import less
from verdicts.estimates import Student, mean
from verdicts.parts import Part, Verdict, judge_part

HOLDS, NOT, SAME, OPEN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.NO_DIFFERENCE, Verdict.UNDECIDED


def losses(runs: int) -> np.ndarray:
    return 1.0 + heavy_tailed(np.random.default_rng(runs), runs)


class TestVerdicts:
    def pairs(self, shift: float, n: int = 50) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        common = heavy_tailed(rng, n)
        return 2.0 + common, 2.0 + common + shift + 0.1 * rng.normal(size=n)

    def test_claimed_comparisons_share_the_error(self):
        claimed = [less(*self.pairs(shift), "") for shift in (0.1, 0.2)]
        outcome = JudgedClaim(BY_ID["Q1.1"], 50, 0.04).judge([*claimed, Part("reported", claimed[0].estimate)])
        assert (outcome.comparisons[0].lower, outcome.comparisons[0].upper) == claimed[0].estimate.interval(0.02)

    def test_exact_claims_take_no_error(self):
        claim = BY_ID["Q1.1"]
        registry = [claim, claim, replace(claim, sweeps=()), replace(claim, is_judged=False)]
        assert Basis("", {}, registry, error=0.05).unjudged_outcome(claim).error == 0.05 / 2

    @pytest.mark.parametrize(("difference", "is_small"), [(0.06, True), (0.063, False)])
    def test_differences_below_the_interest_are_small(self, difference: float, is_small: bool):
        noise = np.random.default_rng(0).normal(size=1000)
        outcome = Comparison.from_part(judge_part(less(3.0 + 0.001 * noise, 3.0 + difference + 0.0 * noise, ""), 0.05))
        assert (outcome.verdict, outcome.is_small) == (HOLDS, is_small)
        assert outcome.estimate_text.endswith(" (small: below 2 %)") == is_small

    def test_compound_claims_correct_both_directions(self):
        a, b = self.pairs(0.5)
        holds, refuted, open_part = less(a, b, ""), less(b, a, ""), less(*self.pairs(0.0), "")
        assert by_itself([holds, holds]) is HOLDS
        assert by_itself([holds, open_part]) is OPEN
        assert by_itself([holds, open_part, refuted]) is NOT
        c, d = self.pairs(0.027, 40)
        for comparison, verdict in ((less(c, d, ""), HOLDS), (less(d, c, ""), NOT)):
            assert by_itself([comparison]) is verdict
            assert by_itself([comparison, holds]) is OPEN

    def test_false_verdicts_of_compound_claims_are_rare(self):
        """All parts are at the very edge of truth: a verdict on the claim is false."""
        rng = np.random.default_rng(6)
        comparisons = [[less(rng.normal(size=15), rng.normal(size=15), "") for _ in range(4)] for _ in range(500)]
        wrong = sum(by_itself(case) is not OPEN for case in comparisons)
        assert stats.binom(500, 0.025).ppf(0.01) <= wrong <= stats.binom(500, 0.05).ppf(0.999)


@pytest.mark.parametrize("verdict", [HOLDS, NOT, OPEN])
def test_least_support_or_clearest_refutation_is_decisive(verdict: Verdict) -> None:
    p_values = [(0.001, 0.2), (0.02, 0.001), (0.01, 0.01)]
    comparisons = [Comparison(verdict=verdict, p_hold=hold, p_refute=refute) for hold, refute in p_values]
    secondary = Comparison(verdict=verdict, p_hold=1.0, p_refute=0.0, is_beside=True)
    assert decisive([Comparison(verdict=HOLDS, p_hold=0.0), *comparisons, secondary]) is comparisons[1]


def test_it_is_rounded_up_to_one_digit() -> None:
    outcome = JudgedClaim(BY_ID["Q1.1"], 400, 0.002).judge(
        [Part("a less b", student(value, 400), below=0.0) for value in (-0.05, -0.1)]
    )
    assert outcome.verdict is Verdict.UNDECIDED
    number = re.search(
        r"too wide to tell; a new claim with about (\d),000 runs of a new seed would probably tell$",
        outcome.reason,
    )
    assert number
    assert 0 <= 1000 * int(number[1]) - outcome.comparisons[0].deciding_runs < 1000


def test_undecided_means_name_their_needed_runs():
    comparisons = [less(losses(20), losses(20) + 1.0, "a less b"), Part("mean of a", mean(losses(20)), above=0.1)]
    outcome = JudgedClaim(BY_ID["Q1.1"], 20).judge(comparisons)
    assert outcome.verdict is Verdict.UNDECIDED
    assert outcome.reason == "mean of a: an estimate of this kind must have at least 50 runs, got 20"
    enough = JudgedClaim(BY_ID["Q1.1"], 50).judge([Part("mean of a", mean(losses(50)), above=losses(50).mean())])
    assert "too wide to tell" in enough.reason


@pytest.mark.parametrize(("gap", "agree"), [(0.9e-9, True), (2e-9, False)])
def test_judgements_agree_up_to_digits(gap, agree):
    assert is_close(Comparison(estimate=1.0), Comparison(estimate=1.0 + gap)) == agree


def student(value: float, runs: int) -> Student:
    return Student(value, runs, 1.0 / np.sqrt(runs))
