"""The scorecard: the claims and their verdicts, read from the claims.csv that `src.claims` writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.claims import CLAIMS
from pomrl.claims.authors import TEXT, difference
from pomrl.claims.scorecard import turned
from pomrl.claims.summary import answer
from pomrl.claims.verdict import Verdict
from pomrl.report.judged_claims import JudgedClaim, comparison, read_claims
from pomrl.report.titles import CLAIM_TITLES, HEADLINES


@dataclass(frozen=True, kw_only=True)
class ScoredClaim(JudgedClaim):
    """A claim of the paper with its verdicts."""

    selected_on: bool
    """Whether readings were chosen knowing this result (`pomrl.claims.scorecard.SELECTED`)."""
    where: str
    """The section and the figure of the paper in which the claim is made."""
    verdict: Verdict
    """The verdict at precision."""
    at_paper_runs: Verdict
    """The verdict at the paper's number of runs, with Holm's correction for the number of claims."""
    alone: Verdict
    """The verdict at the paper's number of runs, without Holm's correction."""
    promised: int
    """The paper's number of runs."""
    paper_runs_show_it: float | None
    """The probability that the paper's number of runs shows the claim."""
    true_in_environments: float | None
    """The share of environments in which the claim is true; of several parts, that of the hardest one."""
    authors: Verdict | None = None
    """The verdict as the authors' notebook computes the results; None where it is not judged on them."""
    in_the_notebook: bool = True
    """Whether the notebook contains the experiments; else they are computed under its definitions."""

    @property
    def title(self) -> str:
        """A short form of the statement, which begins with a small letter; the statement if there is none."""
        return CLAIM_TITLES.get(self.id, self.statement)

    @property
    def section(self) -> str:
        """The section of the paper, or the figure or theorem, in which the claim is made first."""
        return self.where.partition(",")[0]

    @property
    def difference(self) -> str:
        """Which difference between the text and the notebook turns the verdict; empty where none does."""
        return difference(self.id) if self.authors and turned(self.verdict, self.authors) else ""


def read(path: Path) -> list[ScoredClaim]:
    """Return the claims in a claims.csv; there are none if it is not made.

    Raises:
        ReportError: The file is damaged, or another version wrote it.
    """
    return read_claims(path, "python -m src.claims", ("reason", "topic"), _scored_claims)


def _scored_claims(table: pd.DataFrame) -> list[ScoredClaim]:
    of_text = table["basis"] == TEXT
    notebook = table[~of_text].drop_duplicates("claim").set_index("claim").to_dict("index")
    return [_scored(rows, notebook.get(claim)) for claim, rows in table[of_text].groupby("claim", sort=False)]


def summed_up(scored: Sequence[ScoredClaim]) -> str:
    """Return the sentences that say how many claims hold, by the text and as the authors computed them."""
    authors = {each.id: each.authors for each in scored if each.authors}
    return answer({each.id: each.verdict for each in scored}, authors)


def findings(scored: Sequence[ScoredClaim]) -> list[tuple[str, list[ScoredClaim]]]:
    """Return the claims that the first paragraphs of the page name, after the words that introduce them.

    They are those of `HEADLINES` that hold, and all others that do not or are undecided.
    """
    return [
        ("What holds", [each for each in scored if each.verdict is Verdict.REPRODUCED and each.id in HEADLINES]),
        ("What does not hold", [each for each in scored if each.verdict is Verdict.NOT_REPRODUCED]),
        ("What is open", [each for each in scored if each.verdict is Verdict.UNDECIDED]),
    ]


def _scored(rows: pd.DataFrame, notebook: Mapping[Any, Any] | None) -> ScoredClaim:
    records = rows.to_dict("records")
    if rows["decisive"].tolist().count(True) != 1:
        raise ValueError("a claim has one decisive comparison")
    first = records[0]
    return ScoredClaim(
        **{name: first[name] for name in ("selected_on", "statement", "where", "reason", "runs")},
        id=first["claim"],
        verdict=Verdict(first["verdict"]),
        at_paper_runs=Verdict(first["verdict_at_paper_runs"]),
        alone=Verdict(first["verdict_at_paper_runs_by_itself"]),
        promised=int(first["paper_runs"]),
        paper_runs_show_it=_number(first["paper_runs_show_it"]),
        true_in_environments=_number(first["true_in_environments"]),
        comparisons=tuple(comparison(row, Verdict(row["part_verdict"])) for row in records),
        authors=Verdict(notebook["verdict"]) if notebook else None,
        in_the_notebook=bool(notebook["in_the_notebook"]) if notebook else True,
    )


def _number(cell: Any) -> float | None:
    """Return the number in a cell of the table; None for an empty one."""
    return None if cell == "" or pd.isna(cell) else float(cell)


def not_computed(scored: Sequence[ScoredClaim]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return the id, the statement and the sweeps of each claim that `scored` lacks."""
    computed = {each.id for each in scored}
    return [(claim.id, claim.statement, claim.experiments) for claim in CLAIMS if claim.id not in computed]
