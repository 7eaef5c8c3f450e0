"""What claims of ours are judged on, their table, and their document docs/ours.md."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pandas as pd

from pomrl.claims.claim import Claim
from pomrl.claims.deciding import Case
from pomrl.claims.loading import Basis, Reader, Settings
from pomrl.claims.precision import JudgedPart
from pomrl.claims.verdict import Part, Verdict, claimed_range
from pomrl.results import markdown
from pomrl.results.intervals import Interval

NAME = "ours"
"""The name of the basis."""

REPORTED_ONLY = "reported"
"""What stands in the place of a verdict where none is given."""

WORDS = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "does not hold", Verdict.UNDECIDED: "undecided"}
"""The verdicts on claims of ours in words: what is ours is not reproduced."""

BEGIN, END = "<!-- generated: python -m src.claims --document -->", "<!-- end -->"
"""What stands before and after what is generated in the document."""

NOTES = (
    "These claims are ours and not the paper's. Their rules were fixed before the data were seen, and the runs are of "
    "seeds on which nothing had been chosen. They are judged as the claims of the paper are (docs/claims.md), with an "
    "error of 5 % over all of them. A claim whose rule names the level of an interval is judged once, at that level. "
    "What is reported has 95 % intervals and no verdict. `./reproduce.sh beyond` computes all of it."
)


def basis(settings: Settings) -> Basis:
    """Return what claims of ours are judged on, given the settings of the sweeps that they are about."""
    return Basis(NAME, settings, kind="ours")


def reported(settings: Settings, reader: Reader) -> dict[Claim, tuple[Part, ...]]:
    """Return the estimates behind each question of ours without a claim, from the published number of runs."""
    return estimates(Basis(NAME, settings, kind="reported"), reader)


def estimates(on: Basis, reader: Reader) -> dict[Claim, tuple[Part, ...]]:
    """Return the estimates behind each question of a basis, from the number of runs that its sweeps ask for."""
    runs = {claim: min(on.promised(claim), on.stored(claim)) for claim in on.claims}
    return {claim: reader.parts(on, claim, number) for claim, number in runs.items() if number}


def table(cases: Sequence[Case], estimates: Mapping[Claim, Sequence[Part]]) -> pd.DataFrame:
    """Return a row for each part of each claim that was judged, and of each question that is reported.

    Args:
        cases: The claims of ours.
        estimates: The parts of questions without a claim.
    """
    judged = [
        _of_claim(case.outcome.claim, str(case.outcome.verdict), case.outcome.reason, case.outcome.runs)
        | _of_part(each)
        | {"decisive": each is case.outcome.decisive}
        for case in cases
        for each in case.outcome.parts
    ]
    others = [
        _of_claim(claim, REPORTED_ONLY, "", part.estimate.runs)
        | _of_part(JudgedPart(part, part.estimate.lower, part.estimate.upper, Verdict.UNDECIDED, no_difference=False))
        | {"part_verdict": REPORTED_ONLY, "decisive": part is parts[0]}
        for claim, parts in estimates.items()
        for part in parts
    ]
    return pd.DataFrame(judged + others, columns=COLUMNS)


COLUMNS = ["claim", "statement", "question", "verdict", "reason", "runs", "compared", "estimate", "lower", "upper",
           "above", "below", "part_runs", "part_verdict", "no_difference_of_interest", "decisive"]  # fmt: skip
"""The columns of the table."""


def _of_claim(claim: Claim, verdict: str, reason: str, runs: int) -> dict[str, Any]:
    return {
        "claim": claim.id,
        "statement": claim.statement,
        "question": claim.where,
        "verdict": verdict,
        "reason": reason,
        "runs": runs,
    }


def _of_part(judged: JudgedPart) -> dict[str, Any]:
    part = judged.part
    return {
        "compared": part.compared,
        "estimate": part.estimate.value,
        "lower": judged.lower,
        "upper": judged.upper,
        "above": part.above,
        "below": part.below,
        "part_runs": part.estimate.runs,
        "part_verdict": str(judged.verdict) if claimed(part.above, part.below) else REPORTED_ONLY,
        "no_difference_of_interest": judged.no_difference,
    }


def document(claims: pd.DataFrame) -> str:
    """Return docs/ours.md, given a claims_ours.csv."""
    records = claims.to_dict("records")
    heads = ("claim", "verdict", "decisive comparison, estimate [interval]", "claimed", "runs")
    decisive = [
        [f"**{row['claim']}** {row['statement']} ({row['question']})", in_words(row["verdict"]), *_comparison(row)]
        for row in records
        if row["decisive"] and row["verdict"] != REPORTED_ONLY
    ]
    of_parts = ("claim", "compared, estimate [interval]", "claimed", "runs", "verdict")
    parts = [[row["claim"], *_comparison(row), in_words(row["part_verdict"])] for row in records]
    return (
        f"# Claims of ours\n\n{BEGIN}\n{NOTES}\n\n{markdown.table(heads, decisive)}\n"
        f"## All comparisons\n\n{markdown.table(of_parts, parts)}{END}\n"
    )


def in_words(verdict: str) -> str:
    """Return what stands for a verdict, or in its place, in a table of claims of ours."""
    return verdict if verdict == REPORTED_ONLY else WORDS[Verdict(verdict)]


def _comparison(row: dict[Any, Any]) -> list[str]:
    found = f"{row['compared']}: {Interval(row['estimate'], row['lower'], row['upper']).text()}"
    return [found, claimed(row["above"], row["below"]), f"{row['part_runs']:,.0f}"]


def claimed(above: float, below: float) -> str:
    """Return what is claimed of a number in words; empty where nothing is claimed."""
    return "" if (above, below) == (-inf, inf) else claimed_range(above, below)
