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


@claim("X.1", SWEEP, runs={"repaired": 200, "printed": 50})
def branches(sweep: SweepResults) -> list[Part]:
    """a claim compares with another learner where the first one is bad.

    Sec. 1: "where".
    """
    pomrl = sweep.at(sigma=0.01, estimator="pomrl")
    other = "oracle" if pomrl.regret.mean() > 1.0 else "ada_pomrl"
    return [less(sweep.at(sigma=0.01, estimator=other).regret, pomrl.regret, "other less POMRL")]


def basis_of(*claims: Claim, variant: str = "repaired") -> Basis:
    actual = next(of for of in PAPER.variants if of.name == variant)
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


def test_a_claim_that_asks_for_more_once_it_sees_losses_is_judged_with_all_of_them() -> None:
    basis = basis_of(branches)
    assert estimators(basis.requests(branches)) == {"pomrl", "ada_pomrl"}
    lacking = judge_claim(basis, branches, Stored(make=bad))
    assert (lacking.comparisons, estimators(lacking.missing_experiments)) == ((), {"pomrl", "ada_pomrl", "oracle"})
    assert {experiment.request.runs for experiment in lacking.missing_experiments} == {200}
    outcome = judge_claim(basis, branches, MadeUp(make=bad))
    assert (outcome.verdict, outcome.runs, outcome.missing_experiments) == (Verdict.HOLDS, 200, [])


def test_a_claim_names_its_number_of_runs_by_variant() -> None:
    numbers = {name: basis_of(branches, variant=name) for name in ("printed", "repaired", "computed")}
    needed = {name: basis.needed_runs(branches) for name, basis in numbers.items()}
    assert needed == {"printed": 50, "repaired": 200, "computed": numbers["computed"].runs}
    everywhere = replace(branches, runs=300)
    assert {basis.needed_runs(everywhere) for basis in numbers.values()} == {300}


@pytest.mark.parametrize("study", shipped_studies(), ids=lambda study: study.name)
def test_no_claim_has_a_verdict_while_no_loss_is_known(study: Study) -> None:
    basis = study_claims.basis(study, claims_of(study), study.variants[0])
    for of_study in basis.claims:
        parts, asked = basis.compare(of_study, unknown_losses)
        assert asked
        assert {part.verdict() for part in parts if part.is_claimed} <= {Verdict.UNDECIDED}
        assert study.name != "pomrl" or all(np.isnan(part.estimate.value) for part in parts), of_study.id


def test_one_unknown_loss_makes_every_number_that_depends_on_it_unknown() -> None:
    basis = basis_of(branches)

    def losses(experiment: Experiment) -> Result:
        losses_of = bad if experiment.options["estimator"] == "pomrl" else unknown_losses
        return losses_of(experiment, 20)

    (part,), _ = basis.compare(branches, losses)
    assert np.isnan(part.estimate.value)
