"""docs/claims.md and the answer at the head of the README, made from a stored claims.csv.

The document has a row for each claim, with the verdicts on both bases. The README has the sentences that sum it up.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pomrl.claims import authors
from pomrl.claims.scorecard import AUTHORS, SELECTED, turned
from pomrl.claims.summary import answer
from pomrl.claims.verdict import Verdict, claimed_range
from pomrl.results import markdown
from pomrl.results.intervals import Interval

ANSWER = "the answer, made by python -m src.claims --document"
"""The name of the generated part of the README (`results.markdown.renewed`)."""

GENERATED = "<!-- made by python -m src.claims --document -->"
"""The first line of a document of which everything is generated."""

HEADS = (
    "claim",
    "by the text",
    "as the authors computed it",
    "estimate by the text [interval], claimed",
    "the paper's runs show it",
    "true in environments",
    "opposite under readings",
)

COMPARISONS = ("claim", "basis", "compared", "estimate [interval]", "claimed", "runs", "verdict")

NOTES = (
    "Each claim was computed until it was decided. Its estimate is that of the decisive comparison, with the interval "
    "that decided it. Then follow the probability that the number of runs of the paper shows it, judged by itself, "
    "and the share of environments in which it is true ('at most': for its hardest part), both with 95 % intervals; "
    f"and the single readings of the text under which the verdict is the opposite, if they are stored. {SELECTED}"
)


def summed_up(claims: pd.DataFrame) -> str:
    """Return the sentences that sum up a claims.csv."""
    of_bases = [_verdicts(claims, basis) for basis in (authors.TEXT, authors.NOTEBOOK)]
    return answer(*(verdicts for verdicts in of_bases if verdicts))


def document(claims: pd.DataFrame, flips: Mapping[str, Sequence[str]]) -> str:
    """Return the table of all claims in Markdown.

    Args:
        claims: A claims.csv.
        flips: The readings of the text that turn the verdict on each claim, by the claim's id.
    """
    decisive = claims[claims["decisive"]]
    text, notebook = (_by_id(decisive, basis) for basis in (authors.TEXT, authors.NOTEBOOK))
    rows = [_cells(row, notebook.get(id), flips.get(id, ())) for id, row in text.items()]
    lines = ["# The claims of the paper", "", GENERATED, "", summed_up(claims), "", NOTES, "", AUTHORS, ""]
    lines += [markdown.table(HEADS, rows), "## What turns a verdict, and what is open, as the authors computed it", ""]
    lines += [line for id, row in text.items() for line in _other(row, notebook.get(id))]
    comparisons = [_comparison(row) for row in claims.to_dict("records")]
    lines += ["", "## All comparisons", "", markdown.table(COMPARISONS, comparisons)]
    return "\n".join(lines)


def _comparison(row: dict[Any, Any]) -> list[str]:
    claimed = claimed_range(row["above"], row["below"])
    runs = f"{row['part_runs']:,.0f}"
    return [row["claim"], row["basis"], row["compared"], _estimate(row), claimed, runs, row["part_verdict"]]


def _verdicts(claims: pd.DataFrame, basis: str) -> dict[str, Verdict]:
    return {id: Verdict(row["verdict"]) for id, row in _by_id(claims[claims["decisive"]], basis).items()}


def _by_id(decisive: pd.DataFrame, basis: str) -> dict[str, dict[Any, Any]]:
    return {row["claim"]: row for row in decisive[decisive["basis"] == basis].to_dict("records")}


def _cells(row: dict[Any, Any], theirs: dict[Any, Any] | None, flips: Sequence[str]) -> list[str]:
    claimed = claimed_range(row["above"], row["below"])
    mark = " (s)" if row["selected_on"] else ""
    shown = _share(row, "paper_runs_show_it")
    hardest = "at most " if row["parts"] > 1 else ""
    environments = _share(row, "true_in_environments")
    return [
        f"**{row['claim']}**{mark} {row['statement']} ({row['where']})",
        row["verdict"],
        (theirs["verdict"] + ("" if theirs["in_the_notebook"] else " *")) if theirs else "",
        f"{row['compared']}: {_estimate(row)}, claimed {claimed}",
        f"{shown} of {row['paper_runs']:.0f} runs" if shown else "",
        hardest + environments if environments else "",
        ", ".join(flips),
    ]


def _other(row: dict[Any, Any], theirs: dict[Any, Any] | None) -> list[str]:
    """Return a line on a claim that is turned, open or not judged on the notebook's basis, or none."""
    id = row["claim"]
    if theirs is None:
        return [f"- **{id}** is not judged: {authors.NOT_JUDGED.get(id, 'its experiments are not stored')}."]
    verdict = Verdict(theirs["verdict"])
    found = f"{theirs['compared']}: {_estimate(theirs)}, claimed {claimed_range(theirs['above'], theirs['below'])}"
    if verdict is Verdict.UNDECIDED:
        return [f"- **{id}** is undecided after {theirs['runs']:,.0f} runs, more of which exceed the budget. {found}."]
    if turned(Verdict(row["verdict"]), verdict):
        return [f"- **{id}** is {verdict}, by the text {row['verdict']}. {found}. {authors.difference(id)}"]
    return []


def _estimate(row: dict[Any, Any]) -> str:
    return Interval(row["estimate"], row["lower"], row["upper"]).text()


def _share(row: dict[Any, Any], name: str) -> str:
    """Return a share in percent with its interval; empty where it is not known."""
    if pd.isna(row[name]):
        return ""
    return Interval(row[name], row[f"{name}_lower"], row[f"{name}_upper"]).percent()
