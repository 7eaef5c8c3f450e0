"""Claims of the study `beyond`: their rules on losses that are made up, and the error and the table that they share."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.worlds import BEYOND, CLAIMS, OURS, MadeUp

from pomrl.configuration.parsing import Experiment
from pomrl.judging import judgements, study_claims
from pomrl.judging.claim import JudgedClaim
from pomrl.judging.judgements import Judgement, judgement
from pomrl.judging.study_claims import Basis, judge_claim
from pomrl.results.result import Result
from pomrl_report.claim_tables import claims_page
from pomrl_studies.beyond.claims.horizons_and_priors import SIGMAS, relative_gain
from verdicts import correlations
from verdicts.parts import Verdict

GAMMAS = np.array([0.5, 0.9, 0.95, 0.99])
BY_ID = {claim.id: claim for claim in OURS}

LONG_IS_BEST = [0.9, 0.7, 0.5, 0.4]
SHORT_IS_BEST = [0.9, 0.4, 0.5, 0.7]


def made_up(**curves: list[float]) -> MadeUp:
    """Read losses with a mean curve for each estimator, and noise that all experiments share."""

    def losses(experiment: Experiment, runs: int) -> Result:
        mean = np.tile(curves.get(experiment.options["estimator"], LONG_IS_BEST), (15, 1))
        if experiment.options["estimator"] == "ada_pomrl":  # the best horizon grows with the task
            mean = np.where(np.arange(15)[:, None] < 5, [0.3, 0.5, 0.7, 0.9], mean)
        return Result.of_losses(mean + np.random.default_rng(0).normal(0.0, 0.01, (runs, 15, 1)), GAMMAS)

    return MadeUp(make=losses)


@pytest.fixture(scope="module")
def basis() -> Basis:
    """The basis of the claims on horizons and priors; all claims of the study share its error."""
    (default,) = BEYOND.variants
    selected = [claim for claim in OURS if {*claim.sweeps} <= {"horizon_or_prior", "wrong_priors"}]
    return replace(study_claims.basis(BEYOND, selected, default), registry=OURS)


def judge(basis: Basis, id: str, **curves: list[float]) -> JudgedClaim:
    return judge_claim(basis, BY_ID[id], made_up(**curves))


@pytest.mark.parametrize(("bayes", "verdict"), [(LONG_IS_BEST, Verdict.HOLDS), (SHORT_IS_BEST, Verdict.DOES_NOT_HOLD)])
def test_helpful_short_horizons_refute_h1_and_h2(
    basis: Basis, bayes: list[float], verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    unjudged = basis.unjudged_outcome(BY_ID["H2"])
    allowed = unjudged.error / 48
    assert allowed / 2 > 1.0 / (correlations.PRECISE_RESAMPLES + 2)  # so many resamples resolve it
    monkeypatch.setattr(correlations, "PRECISE_RESAMPLES", 999)
    curves = {"ada_pomrl": LONG_IS_BEST, "bayes": bayes}
    assert judge(basis, "H1", **curves).verdict is verdict
    comparisons = [
        comparison for comparison in judge(basis, "H2", **curves).comparisons if "Bayes" in comparison.compared
    ]
    assert [comparison.verdict for comparison in comparisons] == [verdict] * 45


@pytest.mark.parametrize(("loss", "verdict"), [(0.5, Verdict.HOLDS), (0.9, Verdict.DOES_NOT_HOLD)])
def test_h3_compares_with_the_best_fixed_gamma(basis: Basis, loss: float, verdict: Verdict) -> None:
    # ada-POMRL loses (5 * 0.5 + 10 * 0.4) / 15 = 0.433 at its best fixed gamma if that is 0.9, and more at gamma_eval.
    outcome = judge(basis, "H3", ada_pomrl=SHORT_IS_BEST, empirical_bayes=[1.0, 1.0, 1.0, loss - 0.08])
    assert outcome.verdict is verdict
    assert len(outcome.comparisons) == len(SIGMAS)


def test_relative_gain_is_the_saving_of_gamma() -> None:
    losses = Result.of_losses(np.array(SHORT_IS_BEST) + np.random.default_rng(0).random((40, 3, 1)), GAMMAS)
    actual = relative_gain(losses)
    assert actual.value == pytest.approx(0.3 / losses.regret.mean())
    assert actual.lower < actual.value < actual.upper


def test_studies_have_their_own_error(basis: Basis) -> None:
    assert [claim.id for claim in basis.claims] == ["H1", "H2", "H3", "H4"]  # those that these sweeps are about
    assert not {claim.id for claim in OURS} & {claim.id for claim in CLAIMS}
    share = BEYOND.config.error / (len(OURS) - len({"H4", "H4.2", "H6", "T7"}))  # which are reported
    outcome = basis.unjudged_outcome(BY_ID["H3"])
    assert (outcome.needed, outcome.error) == (BEYOND.config.runs, share)


def test_reported_claims_have_no_verdict(basis: Basis, tmp_path: Path) -> None:
    h4 = judgement("default", replace(judge(replace(basis, runs=300), "H4"), needed=300))
    assert {h4.verdict} == {comparison.verdict for comparison in h4.comparisons} == {None}
    assert "No claim of the study has a verdict" in page(tmp_path, [h4])

    h3 = judge(basis, "H3", ada_pomrl=SHORT_IS_BEST, empirical_bayes=[1.0, 1.0, 1.0, 0.4])
    text = page(tmp_path, [judgement("default", h3), h4])
    assert "Of the 1 claim that can be checked, 1 holds." in text
    head, _, comparisons = text.partition("## All comparisons")
    h4_lines = [line for line in comparisons.splitlines() if line.startswith("| H4 |")]
    assert len(h4_lines) == len(h4.comparisons) == 28
    assert all(line.endswith("|  | 300 | reported |") for line in h4_lines)  # nothing is claimed
    assert "| reported |" in head.partition("| **H4** ")[2].partition("\n")[0]


def page(folder: Path, rows: Sequence[Judgement]) -> str:
    """Return the page of claims that is made of the table of judgements."""
    judgements.write(folder, rows, "pomrl reproduce beyond claims")
    return claims_page(BEYOND, judgements.read(folder))
