"""The claims judged together: their verdicts with Holm, as a table and as a scorecard."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import pandas as pd

from pomrl.claims import CLAIMS
from pomrl.claims.claim import Claim
from pomrl.claims.losses import Sweep
from pomrl.claims.verdict import Evidence, Part, Verdict, holm

SELECTED = "Claims marked (s) are about results that were looked at when readings of the paper were chosen."


@dataclass(frozen=True)
class Judged:
    """A claim with its evidence, among `family` claims that were judged together."""

    claim: Claim
    evidence: Evidence
    p_adjusted: float
    family: int

    @property
    def verdict(self) -> Verdict:
        """The headline: with Holm."""
        return self.evidence.corrected(self.p_adjusted)

    @property
    def runs(self) -> int:
        return min(part.estimate.runs for part in self.evidence.parts)

    @property
    def provisional(self) -> bool:
        return self.runs < self.claim.runs

    @property
    def runs_to_decide(self) -> int | None:
        """About how many runs decide it, where it is open."""
        return self.evidence.runs_to_decide(self.family) if self.verdict is Verdict.INCONCLUSIVE else None


def judge(sweeps: Mapping[str, Sweep]) -> list[Judged]:
    """All claims whose sweeps are there."""
    claims = [claim for claim in CLAIMS if all(name in sweeps for name in claim.experiments)]
    evidence = [Evidence(claim.parts(*(sweeps[name] for name in claim.experiments))) for claim in claims]
    adjusted = holm([of_claim.p for of_claim in evidence])
    return [Judged(*each, len(claims)) for each in zip(claims, evidence, adjusted, strict=True)]


def table(judged: Sequence[Judged]) -> pd.DataFrame:
    """A row for each part of each claim."""
    rows = [
        _of_claim(each) | _of_part(part) | {"decisive": part is each.evidence.decisive}
        for each in judged
        for part in each.evidence.parts
    ]
    return pd.DataFrame(rows)


def _of_claim(judged: Judged) -> dict[str, object]:
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
        "runs_promised": judged.claim.runs,
        "provisional": judged.provisional,
        "runs_to_decide": judged.runs_to_decide,
    }


def _of_part(part: Part) -> dict[str, object]:
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
    """The estimate with its interval."""
    value, lower, upper = part.estimate.value, part.estimate.lower, part.estimate.upper
    return f"{value:.3f} [{lower:.3f}, {upper:.3f}]"


def threshold(part: Part) -> str:
    """What is claimed of the estimate."""
    if part.above == -part.below:
        return f"within ±{part.below:g}"
    return f"< {part.below:g}" if part.below < inf else f"> {part.above:g}"


def scorecard(judged: Sequence[Judged]) -> str:
    """How many claims reproduce, and a line for each that says why or why not; as Markdown."""
    lines = [f"{_heading(judged)} {SELECTED}\n"]
    for verdict in (Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE, Verdict.REPRODUCED):
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
        f"Found: {part.compared}: {estimate(part)}, claimed {threshold(part)}{of_parts}."
    )
