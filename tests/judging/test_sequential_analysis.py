"""Verdicts at precision: the sequential rule, its error rate, and what decides a part."""

import numpy as np
import pytest
from scipy import stats
from tests.support import error_rates
from tests.support.worlds import CLAIMS, PAPER, heavy_tailed

from pomrl.judging import sequential_analysis
from pomrl.judging.basis import Basis
from pomrl.judging.claim import claim
from pomrl.judging.comparisons import less, on_a_par, under
from pomrl.judging.inference import mean
from pomrl.judging.sequential_analysis import Outcome, decisive, judge_part
from pomrl.judging.verdict import Part, Verdict
from pomrl.results.intervals import ERROR_RATE

ANALYSES = tuple(PAPER.described.analyses)
EMPTY = Outcome(claim("X.1")(lambda: []), ANALYSES, ERROR_RATE / len(CLAIMS))


def normal(value: float, deviation: float, runs: int = 1000) -> np.ndarray:
    """Numbers with exactly this mean and about this standard deviation."""
    draws = np.random.default_rng(0).standard_normal(runs)
    return value + deviation * (draws - draws.mean())


class TestErrorRates:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", error_rates.CASES)
    def test_false_verdicts_are_as_rare_as_the_plan_says(self, name: str) -> None:
        replications, analyses = 200, error_rates.unjudged(name).analyses[:2]
        found = error_rates.verdicts(name, replications, analyses)
        assert found[Verdict.HOLDS] + found[Verdict.DOES_NOT_HOLD] <= stats.binom(
            replications, ERROR_RATE / len(CLAIMS)
        ).ppf(0.999)

    @pytest.mark.slow
    def test_a_small_effect_is_hardly_ever_refuted(self) -> None:
        """It may be found to hold, or to be of no interest, and both are right."""
        replications = 100
        found = error_rates.verdicts("less, by 1 %", replications, ANALYSES)
        assert found[Verdict.DOES_NOT_HOLD] <= stats.binom(replications, ERROR_RATE / len(CLAIMS)).ppf(0.999)
        assert min(found[Verdict.HOLDS], found[Verdict.NO_DIFFERENCE]) > 0

    def test_without_the_correction_for_skewness_small_levels_are_not_kept(self) -> None:
        """So the test above could fail: Student's intervals of 1000 skewed losses miss far too often."""
        rng, error, replications = np.random.default_rng(1), 0.01, 5000
        students = halls = 0
        for _ in range(replications):
            estimate = mean(heavy_tailed(rng, 1000))
            students += (1.0 - estimate.value) / estimate.deviation > stats.t.ppf(1 - error / 2, 999)
            halls += estimate.p_values(1.0)[1] <= error / 2
        assert students > stats.binom(replications, error / 2).ppf(0.999) >= halls


class TestParts:
    def test_a_difference_that_hardly_matters_is_of_no_interest(self) -> None:
        part = less(5.0 + normal(-0.01, 0.1), np.full(1000, 5.0), "")
        assert part.interest == pytest.approx(0.02 * 5.0)
        assert judge_part(part, 1e-4).verdict is Verdict.NO_DIFFERENCE

    @pytest.mark.parametrize(("value", "deviation"), [(-0.01, 5.0), (-0.05, 1.0)])  # the latter by one of its ends
    def test_a_wide_interval_decides_nothing(self, value: float, deviation: float) -> None:
        judged = judge_part(less(5.0 + normal(value, deviation), np.full(1000, 5.0), ""), 1e-4)
        assert judged.verdict is Verdict.UNDECIDED

    @pytest.mark.parametrize(("deviation", "verdict"), [(0.05, Verdict.NO_DIFFERENCE), (0.5, Verdict.UNDECIDED)])
    def test_at_its_margin_a_narrow_interval_shows_no_difference(self, deviation: float, verdict: Verdict) -> None:
        judged = judge_part(on_a_par(1.1 + normal(0.0, deviation), np.ones(1000), ""), 1e-4)
        assert judged.verdict is verdict

    @pytest.mark.parametrize("value", [-0.5, -0.15, -0.08, 0.0, 0.05, 0.3])
    @pytest.mark.parametrize("within", [(-np.inf, 0.0), (-0.1, 0.1)])
    def test_the_chance_of_a_decision_is_how_often_more_runs_bring_one(
        self, value: float, within: tuple[float, float]
    ) -> None:
        """Against drawing the number as the present runs leave it open, and the runs that are to come around it."""
        above, below = within
        error, now, last, rng = 1e-3, 1000, 4000, np.random.default_rng(1)
        present = normal(value, 5.0, now)
        part = Part("", mean(present), above=above, below=below, interest=0.01)
        judged = judge_part(part, error, last)
        assert judged.verdict is Verdict.UNDECIDED
        later = []
        for _ in range(400):
            number = present.mean() + present.std() / np.sqrt(now) * rng.standard_normal()
            runs = np.concatenate([present, number + present.std() * rng.standard_normal(last - now)])
            later.append(judge_part(Part("", mean(runs), above=above, below=below, interest=0.01), error).verdict)
        decided, against = (
            np.mean([verdict is not Verdict.UNDECIDED for verdict in later]),
            later.count(Verdict.DOES_NOT_HOLD),
        )
        assert judged.chance == pytest.approx(decided, abs=0.1)
        assert judged.chance_against == pytest.approx(against / 400, abs=0.1)

    def test_a_decision_that_no_difference_may_bring_is_waited_for(self) -> None:
        part = Part("", mean(normal(0.0, 5.0)), below=0.0, interest=0.5)
        assert judge_part(part, 1e-3, 16_000).chance == 1.0

    def test_errors_of_all_parts_of_all_claims_add_up_to_the_level(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spent: list[float] = []
        monkeypatch.setattr(sequential_analysis, "judge_part", lambda _, error, __: spent.append(error))
        on = Basis("default", {}, CLAIMS, ANALYSES, ERROR_RATE)
        made = [on.unjudged_outcome(of) for of in CLAIMS if not of.is_exact]
        for outcome in made:
            for _ in outcome.analyses:
                outcome.after([Part("", mean(normal(0.0, 1.0)), below=0.0)] * 3)
        assert sum(spent) == pytest.approx(ERROR_RATE)


class TestOutcome:
    clear, against, wide = (
        Part("", mean(normal(value, deviation)), below=0.0, interest=0.01)
        for value, deviation in ((-1.0, 0.1), (1.0, 0.1), (0.0, 1.0))
    )

    def test_a_decided_part_stays_as_it_was(self) -> None:
        outcome = EMPTY.after([self.clear, self.wide])
        assert outcome.verdict is Verdict.UNDECIDED
        assert outcome.open == [1]
        later = outcome.after([self.against, self.clear])
        assert later.parts[0] is outcome.parts[0]
        assert later.verdict is Verdict.HOLDS
        assert later.decided

    def test_one_part_refutes_a_claim_and_ends_its_search(self) -> None:
        less_clear = Part("", mean(normal(0.8, 3.0)), below=0.0)
        outcome = EMPTY.after([self.clear, less_clear, self.against, self.wide])
        assert outcome.verdict is Verdict.DOES_NOT_HOLD
        assert outcome.open == []
        assert decisive(outcome.parts).estimate == self.against.estimate.value

    def test_each_topic_is_searched_for_itself(self) -> None:
        parts = [*under("one", [self.against, self.wide]), *under("other", [self.clear, self.wide])]
        outcome = EMPTY.after(parts)
        assert outcome.verdicts == {"one": Verdict.DOES_NOT_HOLD, "other": Verdict.UNDECIDED}
        assert outcome.open == [3]
        assert not outcome.decided

    def test_a_topic_that_will_hardly_be_decided_is_not_looked_at_again(self) -> None:
        hopeless = Part("", mean(normal(0.0, 100.0, 32_000)), above=-0.5, below=0.5, interest=0.01)
        outcome = EMPTY.after([*under("one", [hopeless]), *under("other", [self.wide])])
        assert outcome.open == [1]
        assert EMPTY.after([hopeless]).open == []
        assert "hardly tell" in EMPTY.after([hopeless]).reason

    def test_a_topic_of_which_nothing_is_claimed_needs_no_further_look(self) -> None:
        reported = Part("", mean(normal(0.0, 1.0)))
        outcome = EMPTY.after([*under("reported", [reported]), *under("claimed", [self.wide])])
        assert outcome.open == [1]

    def test_a_claim_that_shows_no_difference_in_one_part_is_decided(self) -> None:
        none = Part("", mean(normal(0.0, 0.1)), below=0.0, interest=0.1)
        assert EMPTY.after([none, self.clear]).verdict is Verdict.NO_DIFFERENCE
        assert EMPTY.after([none, self.wide]).decided
        assert EMPTY.after([none, self.against]).verdict is Verdict.DOES_NOT_HOLD

    def test_what_is_undecided_says_why(self) -> None:
        assert "fewer than 1,000 runs" in EMPTY.reason
        assert "too wide" in EMPTY.after([self.wide]).reason
        assert EMPTY.after([self.clear]).reason == ""
