"""The rows of the table of judgements: one for each part of each claim under each variant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import pandas as pd

from pomrl.judging.chances import Chance
from pomrl.judging.claim import Claim
from pomrl.judging.fixed_runs import Judged
from pomrl.judging.precision import JudgedPart, Outcome, decisive
from pomrl.judging.true_shares import TrueShare
from pomrl.judging.verdict import Verdict
from pomrl.results.intervals import ERROR_RATE, Interval

REPORTED = "reported"
"""What stands in the place of a verdict where estimates are reported and nothing is judged."""


@dataclass(frozen=True)
class Row:
    """Everything that is known of a claim under one variant."""

    outcome: Outcome
    """The claim at precision."""
    judged: Judged | None = None
    """The claim at the promised number of runs; None if no run is stored."""
    chance: Chance | None = None
    """The power of that number of runs; None if too few runs are stored."""
    true_share: TrueShare | None = None
    """In how many environments it is true; None if that is not known."""
    note: str = ""
    """What is to be said of the claim under this variant."""

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.outcome.claim

    @property
    def parts(self) -> tuple[JudgedPart, ...]:
        """The parts at precision, or where there was no analysis, at the promised number of runs for 95 % together."""
        if self.outcome.parts or self.judged is None:
            return self.outcome.parts
        parts = self.judged.evidence.parts
        error = ERROR_RATE / (len(parts) if self.claim.is_judged else 1)
        return tuple(
            JudgedPart(part, *part.estimate.interval(error), part.verdict(error), no_difference=False) for part in parts
        )


def rows(study: str, variant: str, of_claims: Sequence[Row]) -> "pd.DataFrame":
    """Return the rows of the table for one variant; a claim without any runs has one row without an estimate."""
    table: list[dict[str, Any]] = []
    for row in of_claims:
        of_claim = {"study": study, "variant": variant} | _claim_columns(row)
        parts = row.parts
        shown = (decisive(parts) if row.claim.is_judged else parts[0]) if parts else None
        table += [of_claim | _part_columns(row, number, part, part is shown) for number, part in enumerate(parts)]
        if not parts:
            table.append(of_claim | {"compared": "", "part_verdict": str(Verdict.UNDECIDED), "decisive": True})
    frame = pd.DataFrame(table)
    return frame.reindex(columns=frame.columns.union(NUMBERS, sort=False))


def _claim_columns(row: Row) -> dict[str, Any]:
    claim, revised, judged = row.claim, row.claim.revised, row.judged
    return {
        "claim": claim.id,
        "statement": claim.statement,
        "title": claim.title,
        "where": claim.where,
        "figures": " ".join(claim.figures),
        "is_main": claim.is_main,
        "selected_on": claim.selected_on,
        "verdict": str(row.outcome.verdict) if claim.is_judged else REPORTED,
        "reason": row.outcome.reason if claim.is_judged else "",
        "note": row.note,
        "runs": row.outcome.runs if claim.is_judged else judged.runs if judged else 0,
        "promised_runs": judged.promised if judged else None,
        "runs_of_promised": judged.runs if judged else 0,
        "verdict_at_promised_runs": str(judged.verdict) if judged and claim.is_judged else "",
        "verdict_at_promised_runs_by_itself": str(judged.evidence.verdict) if judged and claim.is_judged else "",
        "revised_on": revised.on if revised else "",
        "revision": revised.reason if revised else "",
        "verdict_by_old_rule": str(revised.before) if revised else "",
        **_share("power", row.chance.shown if row.chance else None),
        **_share("power_to_refute", row.chance.refuted if row.chance else None),
        **_share("true_in_environments", row.true_share.share if row.true_share else None),
        "environments": row.true_share.environments if row.true_share else None,
    }


def _share(name: str, share: Interval | None) -> Mapping[str, float | None]:
    return share.columns(name) if share else dict.fromkeys((name, f"{name}_lower", f"{name}_upper"))


NUMBERS = [
    "estimate", "lower", "upper", "above", "below", "margin", "part_runs", "no_difference_of_interest",
    "estimate_at_promised_runs", "lower_at_promised_runs", "upper_at_promised_runs",
]  # fmt: skip
"""The columns that are empty where a claim has no estimate."""


def _part_columns(row: Row, number: int, judged: JudgedPart, is_decisive: bool) -> dict[str, Any]:  # noqa: FBT001
    part = judged.part
    fixed = row.judged.evidence.parts[number].estimate if row.judged else None
    ends = (fixed.value, fixed.lower, fixed.upper) if fixed else (None,) * 3
    claims_nothing = not row.claim.is_judged or not (isfinite(part.above) or isfinite(part.below))
    return {
        "topic": part.topic,
        "compared": part.compared,
        "estimate": part.estimate.value,
        "lower": judged.lower,
        "upper": judged.upper,
        "above": part.above,
        "below": part.below,
        "margin": part.margin,
        "instead": "; ".join(f"{number}: {verdict}" for number, verdict in judged.instead.items()),
        "part_runs": part.estimate.runs,
        "is_constant": part.estimate.is_constant,
        "part_verdict": REPORTED if claims_nothing else str(judged.verdict),
        "no_difference_of_interest": judged.no_difference,
        "decisive": is_decisive,
    } | {f"{end}_at_promised_runs": value for end, value in zip(("estimate", "lower", "upper"), ends, strict=True)}
