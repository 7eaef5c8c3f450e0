"""Write the table of results of the advice in docs/models_and_logs.md.

The numbers are looked up in `benchmarks/results/advice_on_logs.csv`.

python -m docs.build.advice               in the folder of the checkout
"""

import re
from pathlib import Path

import pandas as pd
from scipy.stats import binomtest

from pomrl.results.tables import markdown

TABLE = Path("benchmarks/results/advice_on_logs.csv")

DOCUMENT = Path("docs/models_and_logs.md")

PLACE = re.compile(r"(?<=<!-- advice on logs -->\n\n)(?:\|.*\n)*")
"""The table in the text of the document."""

GROUPS = {
    "the twelve": "twelve, on which the method was made",
    "the four": "four, written by another author after that",
    "the six": "six, tried after the last change",
}
"""The text of each group of families."""

HEAD = ["families", "logs", "told to change", "told, and lost, %", "limit held, %", "gain, % of what is possible"]


def with_table(text: str) -> str:
    """Return the document with the published numbers."""
    table = pd.read_csv(Path(__file__).parents[2] / TABLE)
    groups = table[table["family"].isin(GROUPS)]
    cells = table[table["transitions"].notna() & (table["behaviour"] != "hidden")]
    worst = cells.iloc[int((cells["holds"] / cells["logs"]).argmin())]
    rows = [_row(_name(row), row) for _, row in groups.iterrows()]
    rows.append(_row(f"the worst kind: `{worst['family']}`, {worst['transitions']:,.0f} transitions", worst))
    return PLACE.sub(lambda _: markdown(HEAD, rows), text)


def _name(row: pd.Series) -> str:
    hidden = row["behaviour"] == "hidden"
    return f"the {row['family'].split()[1]}, with hidden causes" if hidden else GROUPS[row["family"]]


def _row(name: str, row: pd.Series) -> list[str]:
    gain = "" if pd.isna(row["advice"]) else f"{100 * row['advice']:.0f}"
    rates = _rate(row["loses"], row["told"]), _rate(row["holds"], row["logs"])
    return [name, f"{row['logs']:,}", f"{row['told']:,}", *rates, gain]


def _rate(count: int, logs: int) -> str:
    """Return a percentage with its exact 95 % interval."""
    low, high = binomtest(int(count), int(logs)).proportion_ci()
    return f"{100 * count / logs:.3g} ({100 * low:.3g} to {100 * high:.3g})"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), encoding="utf-8")
