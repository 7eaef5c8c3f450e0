"""Write the tables of docs/logs.md: results of the advice, how logs are read, and findings of the audit.

The results are looked up in `results/advice_on_logs.csv` and `results/damaged_logs.csv`.

python packages/pomrl-logs/benchmarks/page_tables.py
"""

import re
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from pomrl.study import markdown_table
from pomrl_logs.findings import KINDS
from pomrl_logs.log_tables import CONVENTIONS
from pomrl_logs.recommendations import NOT_SHOWN

PACKAGE = Path(__file__).parents[1]

RESULTS = PACKAGE / "benchmarks" / "results" / "advice_on_logs.csv"

DAMAGED = RESULTS.with_name("damaged_logs.csv")

PAGE = PACKAGE / "docs" / "logs.md"

GROUPS = {
    "the twelve": "twelve, on which the method was made",
    "the four": "four, written by another author after that",
    "the six": "six, tried after the last change",
}
"""The text of each group of families."""

HEAD = ["families", "logs", "told to change", "told, and lost, %", "limit held, %", "gain, % of what is possible"]

DAMAGED_HEAD = ["logs of", "logs", "stopped", "advised without limit", "advised with limit", "limit above the truth"]

HIDDEN = "hidden types of patients"


def with_tables(text: str) -> str:
    """Return the page with the present tables."""
    findings = [[f"`{name}`", *row] for name, row in KINDS.items()]
    tables = {
        "advice on logs": markdown_table(HEAD, results()),
        "not shown": markdown_table(["fault of the log", "effect"], [[*row] for row in NOT_SHOWN.items()]),
        "conventions": markdown_table(["input", "interpretation"], [*CONVENTIONS.items()]),
        "damaged logs": markdown_table(DAMAGED_HEAD, damaged()),
        "findings": markdown_table(["finding", "effect", "meaning"], findings),
    }
    for name, table in tables.items():
        pattern = re.compile(rf"(?<=<!-- {name} -->\n\n)(?:\|.*\n)*")
        text = pattern.sub(lambda _, table=table: table, text)
    return text


def results() -> list[list[str]]:
    """Return the rows of the published results."""
    table = pd.read_csv(RESULTS)
    groups = table[table["family"].isin(GROUPS)]
    cells = table[table["transitions"].notna() & (table["behaviour"] != "hidden")]
    worst = cells.iloc[int((cells["holds"] / cells["logs"]).argmin())]
    rows = [_row(_name(row), row) for _, row in groups.iterrows()]
    return [*rows, _row(f"the worst kind: `{worst['family']}`, {worst['transitions']:,.0f} transitions", worst)]


def damaged() -> list[list[str]]:
    """Return a row for each group of damaged and right logs."""
    table = pd.read_csv(DAMAGED)
    is_hidden = table["kind"] == HIDDEN
    groups = [table[(table["group"] == "damaged") & ~is_hidden], table[is_hidden]]
    groups += [table[table["group"] == group] for group in ("ward", "families")]
    texts = [f"{len(groups[0])} kinds of damage", HIDDEN, "a ward, right", f"{len(groups[3])} families, right"]
    counts = ["logs", "stopped", "no_limit", "limit", "fails"]
    return [[text, *(f"{group[name].sum():,}" for name in counts)] for text, group in zip(texts, groups, strict=True)]


def _name(row: pd.Series) -> str:
    hidden = row["behaviour"] == "hidden"
    return f"the {row['family'].split()[1]}, with hidden causes" if hidden else GROUPS[row["family"]]


def _row(name: str, row: pd.Series) -> list[str]:
    is_hidden = row["behaviour"] == "hidden"  # what is possible does not know the hidden cause either
    gain = "" if is_hidden or pd.isna(row["advice"]) else f"{100 * row['advice']:.0f}"
    rates = _rate(row["loses"], row["told"]), _rate(row["holds"], row["logs"])
    return [name, f"{row['logs']:,}", f"{row['told']:,}", *rates, gain]


def _rate(count: int, logs: int) -> str:
    """Return a percentage with its exact 95 % interval."""
    low, high = binomtest(int(count), int(logs)).proportion_ci()
    return f"{100 * count / logs:.3g} ({100 * low:.3g} to {100 * high:.3g})"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), encoding="utf-8")
