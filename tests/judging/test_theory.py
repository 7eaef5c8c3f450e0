"""Claims without sweeps: exact ones, whose numbers are as published, and those about simulations."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.verdicts import by_itself
from tests.support.worlds import CLAIMS

from pomrl.bounds import model_error_bound
from pomrl.configuration.studies import shipped_studies
from pomrl.judging.claim import Claim, claims_of
from pomrl.judging.comparison_rows import Comparison, decisive
from pomrl.judging.judgements import read_published
from pomrl_studies.pomrl2023.claims import theory
from pomrl_studies.pomrl2023.theory.counterexamples import (
    CoinTasks,
    failure_by_task,
    first_task_of_validity,
    least_failure_in_later_tasks,
)
from verdicts.estimates import Exact
from verdicts.parts import Verdict, judge_part

HOLDS, NOT = Verdict.HOLDS, Verdict.DOES_NOT_HOLD
OF_NO_SWEEP: dict[str, Claim] = {claim.id: claim for claim in CLAIMS if not claim.sweeps}
EXACT = {
    (study.name, claim.id): (study, claim)
    for study in shipped_studies()
    for claim in claims_of(study)
    if claim.is_exact
}


class TestExact:
    @pytest.mark.parametrize(("study", "id"), EXACT)
    def test_exact_numbers_and_verdicts_are_as_published(self, study: str, id: str) -> None:
        """Errata and bounds have tests of their own, in closed form; this is that claims compute the same numbers."""
        published_study, claim = EXACT[study, id]
        variant = published_study.config.headline[0]
        published = {
            comparison.compared: comparison
            for comparison in read_published(published_study).of(variant)[id].comparisons
        }
        for comparison in claim.parts({}):
            assert type(comparison.estimate) is Exact
            actual = Comparison.from_part(judge_part(comparison, 0.05))
            row = published[actual.compared]
            assert (row.estimate_text, row.claimed, row.runs, row.verdict) == (
                actual.estimate_text,
                actual.claimed,
                0,
                actual.verdict,
            )


class TestTheorem3:
    def test_counterexamples_refute_the_theorem_beside_simulations(self, simulations) -> None:
        comparisons = OF_NO_SWEEP["T.1"].parts(simulations)
        assert [comparison.verdict() for comparison in comparisons if comparison.is_claimed] == [NOT, NOT, NOT]
        assert by_itself(comparisons) is NOT
        simulated = {
            comparison.compared: comparison.estimate
            for comparison in comparisons
            if comparison.compared.startswith("simulated")
        }
        worst = simulations["model_error_coverage"].groupby("version")["coverage"].min()
        assert {estimate.value for estimate in simulated.values()} == set(worst)
        assert {estimate.units for estimate in simulated.values()} == {2000}
        assert worst["repaired"] >= 0.999

    def test_the_decisive_comparison_follows_the_first_task(self, simulations) -> None:
        decisive_part = decisive(
            [Comparison.from_part(judge_part(comparison, 0.05)) for comparison in OF_NO_SWEEP["T.1"].parts(simulations)]
        )
        assert "some task from 2 to 100, σ = 0.3, m = 1,000,000, S = 10, A = 2, T = 100" in decisive_part.compared
        assert round(decisive_part.estimate, 3) == 0.782

    @pytest.mark.parametrize(
        ("number", "S", "A", "tasks", "failure"), [(1, 10, 2, 10**6, 0.987), (2, 2, 1, 10**7, 0.867)]
    )
    def test_the_probabilities_are_binomial(self, simulations, number, S, A, tasks, failure) -> None:
        setting = {"m": 1000, "radius": 0.0, "S": S, "A": A, "T": tasks, "delta": 0.05}
        bound = float(model_error_bound(t=1, version="as_printed", **setting))
        errors = np.abs(np.arange(1001) / 1000 - 0.5)
        pair_failure = stats.binom.pmf(np.arange(1001), 1000, 0.5)[errors > bound].sum()
        comparison = OF_NO_SWEEP["T.1"].parts(simulations)[number]
        assert comparison.estimate.value == pytest.approx(1.0 - (1.0 - pair_failure) ** (S * A), rel=1e-9)
        assert round(comparison.estimate.value, 3) == failure

    def test_later_failures_are_at_least_as_bounded(self) -> None:
        """A bound below the truth: POMRL itself, on coins of two pairs, exceeds the printed bound more often."""
        coins = CoinTasks(m=10**6, sigma=0.3, S=2, A=1, T=100, delta=0.05)
        rng, n, t = np.random.default_rng(0), 1000, np.arange(2, 101)
        P = 0.5 + 0.3 * rng.choice([-1.0, 1.0], (n, 100, 2))
        P_bar = rng.binomial(coins.m, P) / coins.m
        prior = np.cumsum(P_bar, axis=1)[:, :-1] / (t - 1)[:, None]
        alpha = (1.0 / (0.09 * (1.0 + 1.0 / t) * coins.m + 1.0))[:, None]
        errors = np.abs(alpha * prior + (1.0 - alpha) * P_bar[:, 1:] - P[:, 1:])
        share = (errors > coins.bound()).any((1, 2)).mean()
        least = least_failure_in_later_tasks(coins)
        assert round(least, 3) == 0.567
        assert least - 0.05 < share < least + 0.1

    def test_first_task_of_validity_is_exact(self) -> None:
        """The bound fails in task t with the computed probability, by simulation."""
        coins = CoinTasks(m=1000, sigma=0.0, S=2, A=1, T=10**6, delta=0.05)
        failure, first = failure_by_task(coins), first_task_of_validity(coins)
        tosses = np.random.default_rng(1).binomial(1000, 0.5, (20_000, 9, 2)).cumsum(1)
        means = tosses / (1000 * np.arange(1, 10))[:, None]
        share = (np.abs(means - 0.5) > coins.bound()).any(2).mean(0)
        np.testing.assert_allclose(failure[:9], share, atol=0.012)
        assert failure[first - 2 :].sum() <= 0.05 < failure[first - 3 :].sum()

    def test_later_exact_probabilities_need_equal_tasks(self) -> None:
        with pytest.raises(ValueError, match="sigma must be 0"):
            failure_by_task(theory.LATER_TASKS)


class TestNoRegret:
    def test_the_expected_loss_is_decisive(self) -> None:
        comparisons = [
            Comparison.from_part(judge_part(comparison, 0.05)) for comparison in OF_NO_SWEEP["T.4"].parts({})
        ]
        assert decisive(comparisons).compared.startswith("expected loss at least, in every task")
        assert decisive(comparisons).topic == "regret"
        assert round(decisive(comparisons).estimate, 3) == 0.04

    def test_logarithms_make_the_share_grow_again(self) -> None:
        (comparison,) = [
            comparison
            for comparison in OF_NO_SWEEP["T.4"].parts({})
            if "logarithms of Theorem 3" in comparison.compared
        ]
        assert not comparison.is_claimed
        assert round(comparison.estimate.value, 4) == 0.0016
        setting = {"t": 1, "m": 5, "radius": 0.01, "S": 10, "A": 2, "delta": 0.05, "version": "as_printed"}
        tasks = np.array([1e30, 1e60, 1e120])
        remainder = model_error_bound(T=tasks, **setting) - 0.02 / 1.0005
        # what is left for T → ∞ is x/(2x + 1) √(log(3 S² A T/δ) / (2m)), x = 0.0005
        expected = 0.0005 / 1.001 * np.sqrt(np.log(3 * 200 * tasks / 0.05) / 10)
        np.testing.assert_allclose(remainder, expected, rtol=1e-8)


class TestLearnedSimilarity:
    @pytest.mark.parametrize(("direction", "verdict"), [(1.0, HOLDS), (-1.0, NOT)])
    def test_weights_that_grow_and_that_fall(self, direction: float, verdict: Verdict) -> None:
        rng = np.random.default_rng(0)
        index = pd.MultiIndex.from_product([range(50), range(1, 16)], names=["run", "task"]).to_frame(index=False)
        alpha = 0.5 + direction * 0.02 * index["task"] + rng.normal(0.0, 0.01, len(index))
        simulated = index.assign(alpha=alpha.where(index["task"] > 1, 0.0))
        assert by_itself(OF_NO_SWEEP["Q2.5"].parts({"learned_mixing_rates": simulated})) is verdict
