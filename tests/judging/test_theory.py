"""Claims without sweeps: exact ones, whose numbers are as published, and those about simulations."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.support.verdicts import by_itself
from tests.support.worlds import CLAIMS

from pomrl.bounds import model_error_bound
from pomrl.configuration.study import shipped_studies
from pomrl.judging.claim import Claim, claims_of
from pomrl.judging.estimates import Exact
from pomrl.judging.judgements import read_published
from pomrl.judging.verdict import Verdict, judge_part
from pomrl_studies.pomrl2023.claims import planning_accuracy

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
    def test_every_number_and_verdict_is_as_published(self, study: str, id: str) -> None:
        """Errata and bounds have tests of their own, in closed form; this is that claims compute the same numbers."""
        of_study, claim = EXACT[study, id]
        variant = of_study.config.headline[0]
        published = {part.compared: part for part in read_published(of_study).of(variant)[id].comparisons}
        for part in claim.parts({}):
            assert type(part.estimate) is Exact
            found = judge_part(part, 0.05)
            row = published[found.compared]
            assert (row.found, row.claimed, row.runs, row.verdict) == (found.found, found.claimed, 0, found.verdict)


class TestTheorem3:
    def test_the_counterexamples_refute_it_and_the_simulation_is_beside_them(self, simulations) -> None:
        parts = OF_NO_SWEEP["T.1"].parts(simulations)
        table = simulations["model_error_coverage"]
        worst = table.groupby("version")["coverage"].min()
        assert parts[2].estimate.value == worst["repaired"] >= 0.999
        assert f"{worst['as_printed']:.3f}" in parts[2].compared
        assert [part.verdict() for part in parts] == [NOT, NOT, HOLDS]
        assert [part.is_claimed for part in parts] == [True, True, False]
        assert by_itself(parts) is NOT

    @pytest.mark.parametrize(
        ("number", "S", "A", "tasks", "found"), [(0, 10, 2, 10**6, 0.987), (1, 2, 1, 10**7, 0.867)]
    )
    def test_the_probabilities_are_binomial(self, simulations, number, S, A, tasks, found) -> None:
        setting = {"m": 1000, "radius": 0.0, "S": S, "A": A, "T": tasks, "delta": 0.05}
        bound = float(model_error_bound(t=1, version="as_printed", **setting))
        errors = np.abs(np.arange(1001) / 1000 - 0.5)
        of_a_pair = stats.binom.pmf(np.arange(1001), 1000, 0.5)[errors > bound].sum()
        part = OF_NO_SWEEP["T.1"].parts(simulations)[number]
        assert part.estimate.value == pytest.approx(1.0 - (1.0 - of_a_pair) ** (S * A), rel=1e-9)
        assert round(part.estimate.value, 3) == found


class TestLearnedSimilarity:
    @pytest.mark.parametrize(("direction", "verdict"), [(1.0, HOLDS), (-1.0, NOT)])
    def test_weights_that_grow_and_that_fall(self, direction: float, verdict: Verdict) -> None:
        rng = np.random.default_rng(0)
        index = pd.MultiIndex.from_product([range(50), range(1, 16)], names=["run", "task"]).to_frame(index=False)
        alpha = 0.5 + direction * 0.02 * index["task"] + rng.normal(0.0, 0.01, len(index))
        simulated = index.assign(alpha=alpha.where(index["task"] > 1, 0.0))
        assert by_itself(OF_NO_SWEEP["Q2.5"].parts({"learned_mixing_rates": simulated})) is verdict

    @pytest.mark.parametrize(("prior", "verdict"), [("inclusive", HOLDS), ("exclusive", NOT)])
    def test_estimators_that_differ_in_more_than_the_similarity(
        self, monkeypatch, prior: str, verdict: Verdict
    ) -> None:
        made = {
            "estimator=pomrl": SimpleNamespace(similarity="known", prior="inclusive"),
            "estimator=ada_pomrl": SimpleNamespace(similarity="welford", prior=prior),
        }
        composed = {key: SimpleNamespace(method=SimpleNamespace(estimator=learner)) for key, learner in made.items()}
        monkeypatch.setattr(planning_accuracy, "experiment", lambda sources, overrides: composed[overrides[0]])
        assert OF_NO_SWEEP["Q1.8"].parts({})[0].verdict() is verdict
