"""Judging all claims together, with Holm's correction; the verdicts as a table and as a scorecard."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from pomrl.claims import CLAIMS
from pomrl.claims.claim import Claim
from pomrl.claims.verdict import LOOKS, Evidence, Part, Verdict, claimed_range, holm
from pomrl.results.losses import SweepLosses

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."
"""The explanation of the mark (s)."""


@dataclass(frozen=True)
class Judged:
    """A claim with its evidence, judged together with others."""

    claim: Claim
    evidence: Evidence
    p_adjusted: float
    """The claim's p-value as adjusted by Holm's method."""
    claims: int
    """The number of claims that were judged together."""
    promised: int
    """The number of runs that the claim's sweeps ask for; of a simulation the number of its sequences."""

    @property
    def verdict(self) -> Verdict:
        """The verdict with Holm's correction."""
        return self.evidence.corrected(self.p_adjusted)

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) behind the part that has fewest."""
        return self.evidence.runs

    @property
    def provisional(self) -> bool:
        """Return whether there are fewer runs than promised."""
        return self.runs < self.promised

    @property
    def runs_to_decide(self) -> int | None:
        """About how many runs would decide an inconclusive claim; None for others, or where it would take too many."""
        return self.evidence.runs_to_decide(self.claims) if self.verdict is Verdict.INCONCLUSIVE else None


def judge(sweeps: Mapping[str, SweepLosses], simulations: Mapping[str, pd.DataFrame]) -> list[Judged]:
    """Judge all claims whose sweeps or simulation are among these, which are given by their names."""
    claims = [
        claim
        for claim in CLAIMS
        if set(claim.experiments) <= sweeps.keys() and (claim.simulation is None or claim.simulation in simulations)
    ]
    evidence = [Evidence(claim.parts(sweeps, simulations)) for claim in claims]
    adjusted = holm([of_claim.p for of_claim in evidence])
    return [
        Judged(claim, of_claim, p, len(claims), _promised(claim, of_claim, sweeps))
        for claim, of_claim, p in zip(claims, evidence, adjusted, strict=True)
    ]


def _promised(claim: Claim, evidence: Evidence, sweeps: Mapping[str, SweepLosses]) -> int:
    """Return the smallest number of runs that a sweep of the claim promises.

    A claim about a simulation has no sweep; it counts as having as many runs as were promised.
    """
    return min((sweeps[name].promised for name in claim.experiments), default=evidence.runs)


def table(judged: Sequence[Judged]) -> pd.DataFrame:
    """Return a row for each part of each claim, with the claim's verdict and the part's estimate."""
    rows = [
        _claim_columns(each) | _part_columns(part) | {"decisive": part is each.evidence.decisive}
        for each in judged
        for part in each.evidence.parts
    ]
    return pd.DataFrame(rows)


def _claim_columns(judged: Judged) -> dict[str, object]:
    return {
        "claim": judged.claim.id,
        "selected_on": judged.claim.selected_on,
        "statement": judged.claim.statement,
        "verdict": str(judged.verdict),
        "verdict_without_holm": str(judged.evidence.verdict),
        "p_hold": judged.evidence.p_hold,
        "p_refute": judged.evidence.p_refute,
        "p_holm": judged.p_adjusted,
        "runs": judged.runs,
        "runs_promised": judged.promised,
        "provisional": judged.provisional,
        "runs_to_decide": judged.runs_to_decide,
    }


def _part_columns(part: Part) -> dict[str, object]:
    return {
        "compared": part.compared,
        "estimate": part.estimate.value,
        "lower": part.estimate.lower,
        "upper": part.estimate.upper,
        "above": part.above,
        "below": part.below,
        "part_verdict": str(part.verdict),
        "part_p_hold": part.p_hold,
        "part_p_refute": part.p_refute,
    }


def estimate(part: Part) -> str:
    """Return the estimate of a part with its 95 % interval, in words."""
    value, lower, upper = part.estimate.value, part.estimate.lower, part.estimate.upper
    return f"{value:.3f} [{lower:.3f}, {upper:.3f}]"


def scorecard(judged: Sequence[Judged]) -> str:
    """Return, in Markdown, how many claims are reproduced, and for each claim a line with its decisive comparison."""
    lines = [f"{_heading(judged)} {SELECTED}\n"]
    for verdict in LOOKS:
        lines += [_sentence(each) for each in judged if each.verdict is verdict]
    return "\n".join(lines) + "\n"


def _heading(judged: Sequence[Judged]) -> str:
    corrected = _counts([each.verdict for each in judged])
    alone = _counts([each.evidence.verdict for each in judged])
    headline = f"Of {len(judged)} claims {corrected}, with Holm's correction over all of them; without it {alone}."
    few = [each for each in judged if each.provisional]
    if not few:
        return headline
    fewest = min(each.runs for each in few)
    return f"Provisional: {len(few)} claims have fewer runs than promised (as few as {fewest}). {headline}"


def _counts(verdicts: Sequence[Verdict]) -> str:
    count = Counter(verdicts)
    return ", ".join(f"{count[verdict]} {verdict}" for verdict in Verdict)


def _sentence(judged: Judged) -> str:
    part, parts = judged.evidence.decisive, len(judged.evidence.parts)
    of_parts = f", the decisive of {parts} comparisons" if parts > 1 else ""
    alone = "" if judged.evidence.verdict is judged.verdict else f" (without Holm {judged.evidence.verdict})"
    mark = f" {judged.claim.mark}" if judged.claim.selected_on else ""
    return (
        f"- **{judged.claim.id}**{mark} {judged.verdict}{alone}: {judged.claim.statement}. "
        f"Found: {part.compared}: {estimate(part)}, claimed {claimed_range(part.above, part.below)}{of_parts}."
    )
