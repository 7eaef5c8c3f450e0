"""Judging all claims together at the promised numbers of runs, with Holm's correction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim
from pomrl.judging.verdict import Evidence, Part, Verdict, holm


@dataclass(frozen=True)
class Judged:
    """A claim with its evidence at the promised number of runs, judged together with others."""

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


def at_promised_runs(basis: Basis, reader: Reader, simulated: Mapping[Claim, Sequence[Part]]) -> list[Judged]:
    """Judge the claims of which runs are stored, on the promised number of runs or as many of them as there are.

    Args:
        basis: What the claims about sweeps are judged on.
        reader: Reads the losses.
        simulated: The parts of exact claims and of those about simulations.
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
