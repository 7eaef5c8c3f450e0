"""Claims of ours: their rules on losses that are made up, and the machinery that they share with the paper's."""

import numpy as np
import pytest
from tests.claims.conftest import Settings

from pomrl.claims import CLAIMS, OURS, REPORTED, beyond
from pomrl.judging.inference import LEVEL
from pomrl.judging.basis import Reader
from pomrl.claims.ours import horizons_and_priors
from pomrl.studies.beyond.claims.horizons_and_priors import SIGMAS, relative_gain
from pomrl.judging.precision import ANALYSES, Outcome, error_of_part
from pomrl.judging.verdict import Verdict
from pomrl.configuration import studies
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.sources import PUBLISHED
from pomrl.results.intervals import ERROR_RATE
from pomrl.results.losses import Losses

GAMMAS = np.array([0.5, 0.9, 0.95, 0.99])
BY_ID = {claim.id: claim for claim in (*OURS, *REPORTED)}

LONG_IS_BEST = [0.9, 0.7, 0.5, 0.4]
SHORT_IS_BEST = [0.9, 0.4, 0.5, 0.7]


class MadeUp(Reader):
    """Reads losses with a mean curve for each estimator, and noise that all experiments share."""

    def __init__(self, **curves: list[float]) -> None:
        super().__init__()
        object.__setattr__(self, "curves", curves)

    def losses(self, experiment: Experiment, runs: int) -> Losses:
        mean = np.tile(self.curves.get(experiment.options["estimator"], LONG_IS_BEST), (15, 1))  # type: ignore[attr-defined]
        if experiment.options["estimator"] == "ada_pomrl":  # the best horizon grows with the task
            mean = np.where(np.arange(15)[:, None] < 5, [0.3, 0.5, 0.7, 0.9], mean)
        noise = np.random.default_rng(0).normal(0.0, 0.01, (runs, 15, 1))
        return Losses(mean + noise, GAMMAS)


@pytest.fixture(scope="module")
def of_ours() -> Settings:
    return {name: studies.sweep(PUBLISHED, name) for name in ("horizon_or_prior", "wrong_priors")}


def judged(settings: Settings, id: str, **curves: list[float]) -> Outcome:
    basis = beyond.basis(settings)
    outcome = basis.unjudged(BY_ID[id])
    return outcome.after(MadeUp(**curves).parts(basis, BY_ID[id], outcome.analyses[0]))


@pytest.mark.parametrize(
    ("bayes", "verdict"), [(LONG_IS_BEST, Verdict.REPRODUCED), (SHORT_IS_BEST, Verdict.NOT_REPRODUCED)]
)
def test_a_short_horizon_that_helps_bayes_refutes_h1_and_h2(
    of_ours: Settings, bayes: list[float], verdict: Verdict, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(horizons_and_priors, "RESAMPLES", 999)
    others = {"ada_pomrl": LONG_IS_BEST, "bayes": bayes}
    assert judged(of_ours, "H1", **others).verdict is verdict
    of_tasks = [part for part in judged(of_ours, "H2", **others).parts if "Bayes" in part.part.compared]
    assert [part.verdict for part in of_tasks] == [verdict] * 45


def test_resamples_resolve_the_error_that_parts_of_h2_are_allowed():
    allowed = error_of_part(48, len(ANALYSES), len(OURS))
    assert allowed / 2 > 1.0 / (horizons_and_priors.RESAMPLES + 2)


@pytest.mark.parametrize(("loss", "verdict"), [(0.5, Verdict.REPRODUCED), (0.9, Verdict.NOT_REPRODUCED)])
def test_h3_compares_with_the_best_fixed_gamma(of_ours: Settings, loss: float, verdict: Verdict):
    # ada-POMRL loses (5 * 0.5 + 10 * 0.4) / 15 = 0.433 at its best fixed gamma if that is 0.9, and more at gamma_eval.
    outcome = judged(of_ours, "H3", ada_pomrl=SHORT_IS_BEST, empirical_bayes=[1.0, 1.0, 1.0, loss - 0.08])
    assert outcome.verdict is verdict
    assert len(outcome.parts) == len(SIGMAS)


def test_the_relative_gain_is_what_the_best_gamma_saves_of_the_loss():
    losses = Losses(np.array(SHORT_IS_BEST) + np.random.default_rng(0).random((40, 3, 1)), GAMMAS)
    found = relative_gain(losses)
    assert found.value == pytest.approx(0.3 / losses.regret.mean())
    assert found.lower < found.value < found.upper


def test_claims_of_ours_spend_an_error_of_their_own(of_ours: Settings):
    basis = beyond.basis(of_ours)
    assert [claim.id for claim in basis.claims] == ["H1", "H2", "H3"]  # those that these sweeps are about
    assert not {claim.id for claim in OURS} & {claim.id for claim in CLAIMS}
    at_looks = basis.unjudged(BY_ID["H3"])
    assert (at_looks.analyses, at_looks.claims) == (ANALYSES, sum(claim.fixed_error is None for claim in OURS))
    (only,) = basis.unjudged(BY_ID["H1"]).analyses  # its rule names the interval, so that there is one look
    assert only == 1200
    part = judged(of_ours, "H1", bayes=[0.9, 0.7, 0.5, 0.5]).parts[0]
    assert part.upper == pytest.approx(part.part.estimate.interval(2 * ERROR_RATE)[1])


def test_what_is_reported_has_no_verdict_and_is_in_the_table(of_ours: Settings):
    basis = beyond.basis(of_ours)
    question = BY_ID["H4"]
    reader = MadeUp()
    parts = question.parts(basis.sweeps(question, lambda experiment: reader.losses(experiment, 300)))
    table = beyond.table([], {question: parts})
    assert set(table["verdict"]) == set(table["part_verdict"]) == {beyond.REPORTED_ONLY}
    text = beyond.document(table)
    assert text.count("| H4 |") == len(parts) == 28
    assert "**H4**" not in text
