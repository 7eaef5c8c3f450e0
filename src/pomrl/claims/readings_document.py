"""The generated tables of docs/readings.md, made from a stored readings.csv and environments.csv."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pomrl.claims.robustness import effects, over_readings, ranking
from pomrl.claims.verdict import Verdict
from pomrl.configuration.readings import DEFAULT
from pomrl.results import markdown
from pomrl.results.intervals import Interval

SHORT = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "does not", Verdict.UNDECIDED: "undecided"}
"""The verdicts in a word or two."""

COUNTS = ("hold", "do not", "undecided")
"""The heads of the columns that count verdicts."""


def tables(matrix: pd.DataFrame, environments: pd.DataFrame | None) -> dict[str, str]:
    """Return the tables of docs/readings.md by the names of their places.

    Args:
        matrix: A readings.csv: a row for each reading and claim.
        environments: An environments.csv: a row for each claim; None leaves its table as it is.
    """
    made = {
        "readings": _of_readings(matrix),
        "choices": _of_choices(matrix),
        "claims under readings": _of_claims(matrix),
    }
    return made if environments is None else made | {"environments": _of_environments(environments)}


def _of_readings(matrix: pd.DataFrame) -> str:
    """Return how many claims hold under each reading, those first under which most do."""
    verdicts = [str(verdict) for verdict in Verdict]
    rows = [
        [f"`{row['reading']}`", *(f"{row[verdict]}" for verdict in verdicts)]
        for row in ranking(matrix).to_dict("records")
    ]
    return markdown.table(["reading", *COUNTS], rows)


def _of_choices(matrix: pd.DataFrame) -> str:
    """Return the verdicts that a single choice changes, with the comparison that decides under that choice."""
    single = [name for name in matrix["reading"].unique() if name != DEFAULT and " + " not in name]
    by_key = matrix.set_index(["reading", "claim"])
    rows = [
        [f"`{row['choice']}`", row["claim"], _word(row["from"]), _word(row["to"]), _comparison(by_key, row)]
        for row in effects(matrix, single).sort_values("choice", kind="stable").to_dict("records")
    ]
    return markdown.table(["choice", "claim", "by default", "under the choice", "comparison [interval]"], rows)


def _comparison(by_key: pd.DataFrame, row: Mapping[Any, Any]) -> str:
    found = by_key.loc[row["choice"], row["claim"]]
    if pd.isna(found["estimate"]):
        return ""
    interval = Interval(found["estimate"], found["lower"], found["upper"]).text()
    return f"{found['compared']}: {interval}, {found['runs']:,.0f} runs"


def _of_claims(matrix: pd.DataFrame) -> str:
    """Return under how many readings each claim holds."""
    verdicts = [str(verdict) for verdict in Verdict]
    rows = [
        [row["claim"], *(f"{row[verdict]}" for verdict in verdicts)] for row in over_readings(matrix).to_dict("records")
    ]
    return markdown.table(["claim", *COUNTS], rows)


def _of_environments(environments: pd.DataFrame) -> str:
    """Return the share of environments in which each claim is true."""
    rows = [
        [
            row["claim"],
            ("at most " if row["parts"] > 1 else "") + Interval(row["share"], row["lower"], row["upper"]).percent(),
        ]
        for row in environments.to_dict("records")
    ]
    return markdown.table(["claim", "true in environments"], rows)


def _word(verdict: str) -> str:
    return SHORT[Verdict(verdict)]
