"""Judgements as text, Markdown, LaTeX, HTML, JSON and CSV."""

import json
import textwrap
from collections.abc import Callable
from math import isfinite

import pandas as pd

from verdicts.estimates import MIN_UNITS
from verdicts.judging import Row, result_rows
from verdicts.parts import LOOKS, Verdict, number

SCHEMA = "verdicts/1"
"""The version of the format in JSON; `judgement.schema.json` describes it."""

WIDTH = 80
"""The width of text, in characters."""

MAX_ID_WIDTH = 12
"""The largest width of a column of ids, in characters."""

HEAD = ["id", "claim", "estimate", "n", "verdict", "reason"]

LATEX = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "_%&#${}"},
        "\\": r"\textbackslash{}",
        "~": r"$\sim$",
        "^": r"\^{}",
        "<": "$<$",
        ">": "$>$",
        "∞": r"$\infty$",
        "✓": r"$\surd$",
        "✗": r"$\times$",
        "≈": r"$\approx$",
        "±": r"$\pm$",
        "–": "--",
    }
)
"""LaTeX of characters, with no further package."""


def notes(result: pd.DataFrame) -> list[str]:
    """Return sentences about the units, the error and the lock."""
    roles = result.attrs
    single = f"In {', '.join(roles['by_runs'])}: runs of single problems, not paired."
    sentences = [f"{_units(roles)}.", *[single][: len(roles["by_runs"])], _error(roles["error"], len(roles["ranges"]))]
    few = [row.id for row in result_rows(result) if row.n < MIN_UNITS and row.id not in roles["by_runs"]]
    if few and roles["runs"][-1:] > [1]:
        sentences.append(f"With unit=run, {', '.join(few)} would be about these very problems.")
    return [*sentences, *(f"{note[0].upper()}{note[1:]}." for note in roles["lock"])]


def _units(roles: dict) -> str:
    """Describe the units and the roles of columns."""
    least, largest = roles["runs"] or (1, 1)
    runs = f", means of {least} runs" if least == largest else f", means of {least} to {largest} runs (unequal numbers)"
    within = (
        f", within each {roles['problem']} (only about these)" if roles["problem"] not in ("", roles["unit"]) else ""
    )
    pairs = "paired" if roles["paired"] else "not paired"
    columns = " by ".join(name for name in (roles["value"], roles["method"]) if name)
    return f"Units: {roles['unit']}{runs if largest > 1 else ''}{within}, {pairs}" + (
        f"; numbers: {columns}" * bool(columns)
    )


def _error(error: float, n_claims: int) -> str:
    shared = f", shared by {n_claims} claims" if n_claims > 1 else ""
    return f"Any wrong verdict: at most about {100 * error:.3g} %{shared}."


def verdict_text(row: Row) -> str:
    """Return a verdict with its sign."""
    return f"{LOOKS[Verdict(row.verdict)].sign} {row.verdict}"


def interval(row: Row) -> str:
    """Return an estimate with its interval."""
    return f"{number(row.estimate)} [{number(row.lower)}, {number(row.upper)}]"


def to_text(result: pd.DataFrame) -> str:
    """Format judgements for a terminal, in lines of `WIDTH` characters."""
    width = min(MAX_ID_WIDTH, max(map(len, result["id"])))
    lines = [line for row in result_rows(result) for line in _row_lines(row, width)]
    return "\n".join([*lines, "", *textwrap.wrap(" ".join(notes(result)), WIDTH)])


def _row_lines(row: Row, width: int) -> list[str]:
    """Return a claim with its sign and verdict, and then the reason."""
    indent = " " * (width + 3)
    n = "" if row.verdict == Verdict.UNDECIDED else f"; n = {row.n:,}"  # that reason has it
    texts = f"{verdict_text(row)[0]} {row.id:<{width}} {row.claim}", f"{indent}{row.verdict}: {row.reason}{n}"
    return [line for text in texts for line in textwrap.wrap(text, WIDTH, subsequent_indent=indent)]


def _cells(result: pd.DataFrame) -> list[list[str]]:
    """Return the table for readers, as text."""
    return [
        [row.id, row.claim, interval(row), f"{row.n:,}", verdict_text(row), row.reason] for row in result_rows(result)
    ]


def to_markdown(result: pd.DataFrame) -> str:
    """Format judgements as a Markdown table."""
    rows = [HEAD, ["---"] * len(HEAD), *([_escape(cell) for cell in row] for row in _cells(result))]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", " ".join(notes(result))])


def _escape(cell: str) -> str:
    """Escape characters with a meaning in Markdown tables."""
    for character in "\\|*_<~[":
        cell = cell.replace(character, f"\\{character}")
    return cell


def to_latex(result: pd.DataFrame) -> str:
    """Format judgements as a LaTeX table, without reasons."""
    rows = [" & ".join(cell.translate(LATEX) for cell in row[:-1]) + r" \\" for row in _cells(result)]
    head = r"id & claim & estimate & $n$ & verdict \\ \hline"
    comment = f"% {' '.join(notes(result))}"
    return "\n".join([r"\begin{tabular}{lllrl}", head, *rows, r"\end{tabular}", comment])


def to_html(result: pd.DataFrame) -> str:
    """Format judgements as an HTML table and a paragraph."""
    from html import escape

    rows = []
    for cells, verdict in zip(_cells(result), result["verdict"], strict=True):
        style = f' style="background:{LOOKS[Verdict(verdict)].color}"'
        columns = [
            f"<td{style * (name == 'verdict')}>{escape(cell)}</td>" for name, cell in zip(HEAD, cells, strict=True)
        ]
        rows.append(f"<tr>{''.join(columns)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    return "\n".join(["<table>", f"<tr>{head}</tr>", *rows, "</table>", f"<p>{escape(' '.join(notes(result)))}</p>"])


def to_json(result: pd.DataFrame) -> str:
    """Format judgements as JSON; ends of intervals are null if infinite or unknown."""
    roles = {name: value for name, value in result.attrs.items() if name != "ranges"}
    claims = []
    for row in result_rows(result):
        above, below = result.attrs["ranges"][row.id]
        fields = {**row._asdict(), "above": above, "below": below}
        claims.append({name: _finite(value) for name, value in fields.items()})
    return json.dumps({"schema": SCHEMA, **roles, "claims": claims}, indent=1, ensure_ascii=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not isfinite(value) else value


def to_csv(result: pd.DataFrame) -> str:
    """Format judgements as CSV, for `--against`."""
    return result.to_csv(index=False).rstrip("\n")


FORMATS: dict[str, Callable[[pd.DataFrame], str]] = {
    "text": to_text,
    "markdown": to_markdown,
    "latex": to_latex,
    "html": to_html,
    "json": to_json,
    "csv": to_csv,
}
"""The formats of judgements."""
