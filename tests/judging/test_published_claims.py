"""The published answer is what the code gives: ten cheap claims are computed, judged and compared with the table."""

from itertools import islice
from pathlib import Path

from tests.support.worlds import CLAIMS, PAPER

from pomrl.commands import computing
from pomrl.judging import judgements, study_claims
from pomrl.judging.agreement import is_close
from pomrl.judging.claim import Claim
from pomrl.judging.judgements import judgement
from pomrl.judging.study_claims import Basis, Reader, judge_claim
from pomrl.running.cost import count_operations

NUMBER = 10


def operations(basis: Basis, claim: Claim) -> float:
    """Return about how many operations the runs take that a claim needs."""
    needed = basis.requested_experiments(claim)
    return sum(
        experiment.request.runs * count_operations(experiment.problem, [experiment.method]) for experiment in needed
    )


def test_cheap_claims_are_judged_as_published(empty_outputs: Path) -> None:
    repaired = next(variant for variant in PAPER.variants if variant.name == PAPER.unchanged)
    basis = study_claims.basis(PAPER, CLAIMS, repaired)
    cheap = list(islice(sorted(basis.claims, key=lambda claim: operations(basis, claim)), NUMBER))
    computing.compute_all([experiment for claim in cheap for experiment in basis.requested_experiments(claim)])
    published = judgements.read_published(PAPER).of(repaired.name)
    for claim in cheap:
        actual = judgement(repaired.name, judge_claim(basis, claim, Reader()))
        for ours, theirs in zip(actual.comparisons, published[claim.id].comparisons, strict=True):
            assert is_close(ours, theirs), (claim.id, ours.estimate_text, theirs.estimate_text)
