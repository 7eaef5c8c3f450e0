"""What a claim reads is recorded while it is judged, and nothing is made up in the place of a loss."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.worlds import PAPER, MadeUp

from pomrl.configuration.parsing import Experiment
from pomrl.configuration.studies import Study, shipped_studies
from pomrl.judging import study_claims
from pomrl.judging.claim import Claim, claim, claims_of
from pomrl.judging.study_claims import Basis, judge_claim, unknown_losses
from pomrl.results.result import Result
from pomrl.results.sweep_results import SweepResults
from verdicts.comparisons import less
from verdicts.parts import Part, Verdict

SWEEP = "task_similarity"

KNOWN_WITHOUT_LOSSES = {("board", "V3"), ("jiang2015", "J12")}
"""The claims about ranks and counts, whose estimates are numbers even of NaN losses."""


@claim("X.1", SWEEP, runs={"repaired": 200, "printed": 50})
def branches(sweep: SweepResults) -> list[Part]:
    """a claim compares with another learner where the first one is bad.

    Sec. 1: "where".
    """
    pomrl = sweep.at(sigma=0.01, estimator="pomrl")
    other = "oracle" if pomrl.regret.mean() > 1.0 else "ada_pomrl"
    return [less(sweep.at(sigma=0.01, estimator=other).regret, pomrl.regret, "other less POMRL")]


def make_basis(*claims: Claim, variant: str = "repaired") -> Basis:
    actual = next(candidate for candidate in PAPER.variants if candidate.name == variant)
    return study_claims.basis(PAPER, claims, actual)


def estimators(experiments: list[Experiment]) -> set[str]:
    return {experiment.options["estimator"] for experiment in experiments}


class Stored(MadeUp):
    """Losses of some estimators alone."""

    def complete(self, experiment: Experiment) -> int:
        return 1000 if experiment.options["estimator"] in ("pomrl", "ada_pomrl") else 0


def bad(experiment: Experiment, runs: int) -> Result:
    is_pomrl = experiment.options["estimator"] == "pomrl"
    noise = np.random.default_rng(0).normal(0.0, 0.01, (runs, 15, 1))
    return Result.of_losses((2.0 if is_pomrl else 1.0) + noise, np.array([0.99]))


def test_claims_are_judged_with_later_requests() -> None:
    basis = make_basis(branches)
    assert estimators(basis.requests(branches)) == {"pomrl", "ada_pomrl"}
    incomplete = judge_claim(basis, branches, Stored(make=bad))
    assert (incomplete.comparisons, estimators(incomplete.missing_experiments)) == (
        (),
        {"pomrl", "ada_pomrl", "oracle"},
    )
    assert {experiment.request.runs for experiment in incomplete.missing_experiments} == {200}
    outcome = judge_claim(basis, branches, MadeUp(make=bad))
    assert (outcome.verdict, outcome.runs, outcome.missing_experiments) == (Verdict.HOLDS, 200, [])


def test_claims_name_their_runs_by_variant() -> None:
    numbers = {name: make_basis(branches, variant=name) for name in ("printed", "repaired", "computed")}
    needed = {name: basis.needed_runs(branches) for name, basis in numbers.items()}
    assert needed == {"printed": 50, "repaired": 200, "computed": numbers["computed"].runs}
    everywhere = replace(branches, runs=300)
    assert {basis.needed_runs(everywhere) for basis in numbers.values()} == {300}


@pytest.mark.parametrize("study", shipped_studies(), ids=lambda study: study.name)
def test_unknown_losses_give_no_verdict(study: Study) -> None:
    basis = study_claims.basis(study, claims_of(study), study.variants[0])
    for candidate in basis.claims:
        comparisons, requests = basis.compare(candidate, unknown_losses)
        assert requests
        assert {comparison.verdict() for comparison in comparisons if comparison.is_claimed} <= {Verdict.UNDECIDED}
        is_known = not all(np.isnan(comparison.estimate.value) for comparison in comparisons)
        assert is_known == ((study.name, candidate.id) in KNOWN_WITHOUT_LOSSES), candidate.id


def test_one_unknown_loss_makes_dependents_unknown() -> None:
    basis = make_basis(branches)

    def losses(experiment: Experiment) -> Result:
        loader = bad if experiment.options["estimator"] == "pomrl" else unknown_losses
        return loader(experiment, 20)

    (comparison,), _ = basis.compare(branches, losses)
    assert np.isnan(comparison.estimate.value)
