"""Judging all claims together at the paper's numbers of runs, with Holm's correction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from pomrl.claims.claim import Claim
from pomrl.claims.loading import Basis, Reader
from pomrl.claims.verdict import Evidence, Part, Verdict, holm


@dataclass(frozen=True)
class Judged:
    """A claim with its evidence at the paper's number of runs, judged together with others."""

    claim: Claim
    evidence: Evidence
    p_adjusted: float
    """The claim's p-value as adjusted by Holm's method."""
    promised: int
    """The number of runs that the claim's sweeps ask for; of a simulation the number of its sequences."""

    @property
    def verdict(self) -> Verdict:
        """The verdict with Holm's correction."""
        return self.evidence.corrected(self.p_adjusted)

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) that are there."""
        return self.evidence.runs

    @property
    def provisional(self) -> bool:
        """Return whether there are fewer runs than promised."""
        return self.runs < self.promised


def at_paper_runs(basis: Basis, reader: Reader, simulated: Mapping[Claim, Sequence[Part]]) -> list[Judged]:
    """Judge the claims of which runs are stored, on the paper's number of runs or as many of them as there are.

    Args:
        basis: What the claims about sweeps are judged on.
        reader: Reads the losses.
        simulated: The parts of the claims about simulations.
    """
    evidence: list[tuple[Claim, Evidence, int]] = []
    for claim in basis.claims:
        promised = basis.promised(claim)
        if runs := min(promised, basis.stored(claim)):
            evidence.append((claim, Evidence(reader.parts(basis, claim, runs)), promised))
    for claim, parts in simulated.items():
        evidence.append((claim, Evidence(tuple(parts)), Evidence(tuple(parts)).runs))
    return judge(evidence)


def judge(evidence: Sequence[tuple[Claim, Evidence, int]]) -> list[Judged]:
    """Judge claims together, each given with its evidence and the number of runs that was promised."""
    adjusted = holm([of_claim.p for _, of_claim, _ in evidence])
    return [
        Judged(claim, of_claim, p, promised) for (claim, of_claim, promised), p in zip(evidence, adjusted, strict=True)
    ]


def table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return a row for each part of each claim, with the claim's verdict and the part's estimate."""
    rows = [
        _claim_columns(each) | _part_columns(part, each.evidence) | {"decisive": part is each.evidence.decisive}
        for each in judged
        for part in each.evidence.parts
    ]
    return pd.DataFrame(rows)


def _claim_columns(judged: Judged) -> dict[str, object]:
    revised = judged.claim.revised
    return {
        "claim": judged.claim.id,
        "statement": judged.claim.statement,
        "verdict": str(judged.verdict),
        "verdict_without_holm": str(judged.evidence.verdict),
        "verdict_by_old_rule": str(revised.before) if revised else "",
        "p_hold": judged.evidence.p_hold,
        "p_refute": judged.evidence.p_refute,
        "p_holm": judged.p_adjusted,
        "runs": judged.runs,
        "runs_promised": judged.promised,
    }


def _part_columns(part: Part, evidence: Evidence) -> dict[str, object]:
    return {
        "compared": part.compared,
        "topic": part.topic,
        "estimate": part.estimate.value,
        "lower": part.estimate.lower,
        "upper": part.estimate.upper,
        "above": part.above,
        "below": part.below,
        "part_verdict": str(evidence.verdict_on(part)),
        "part_p_hold": part.p_hold,
        "part_p_refute": part.p_refute,
    }
