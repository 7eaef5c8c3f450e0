"""Tabulate what is stored: pomrl table [KEY=VALUE ...] [--columns KEY] [--against KEY=VALUE] [--format FORMAT].

Each experiment that the filters choose has a row with the mean, the interquartile mean and the median over runs of its
planning loss at gamma_eval, averaged over tasks, each with its 95 % interval. With --columns the table has a row for
each method and a column for each value of a setting, as in papers. With --against each experiment is compared with
another method on the same problem, in pairs of runs.
"""

import re

import pandas as pd

from pomrl.commands.arguments import Parser, add_filters, filters, tasks
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import printable, warn
from pomrl.results.chosen_runs import VALUES, choose
from pomrl.results.summaries import STATISTICS
from pomrl.results.summary_tables import as_text, pivoted, summarised

_SPECIAL = re.compile(r"([&%$#_{}])")
"""Characters with a meaning in LaTeX."""


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print the table on standard output."""
    parser = Parser(prog="pomrl table", description="Tabulate what is stored.")
    add_filters(parser)
    parser.add_argument("--columns", metavar="KEY", help="a setting whose values become columns, as in papers")
    parser.add_argument("--against", metavar="KEY=VALUE", help="a method to compare with, in pairs: estimator=pomrl")
    parser.add_argument("--statistic", choices=STATISTICS, help="only this one (default: all; mean with --columns)")
    parser.add_argument("--y", default="planning_loss", choices=VALUES, help="the number that is tabulated")
    parser.add_argument("--task", default="all", type=tasks, help="tasks to average: all (default), first, last, 3")
    parser.add_argument("--format", default="text", choices=("text", "csv", "markdown", "latex"))
    arguments = parser.parse_args()
    chosen = choose(filters(arguments.filter))
    wanted = [arguments.statistic] if arguments.statistic else ["mean"] if arguments.columns else list(STATISTICS)
    against = filters([arguments.against]) if arguments.against else None
    table = summarised(chosen, arguments.y, arguments.task, wanted, against)
    if arguments.columns:
        table = pivoted(table, arguments.columns, wanted[0])
    print(_written(table, arguments.format), end="")
    warn(f"{chosen.runs} runs of {len(chosen.stored)} experiments; 95 % intervals; iqm is the interquartile mean")


def _written(table: pd.DataFrame, form: str) -> str:
    """Return a table as CSV with all digits, or with an estimate and its interval in one cell in any other form."""
    if form == "csv":
        return table.to_csv(index=False, lineterminator="\n")
    text = as_text(table)
    rows = [[printable(str(cell)) for cell in row] for row in [list(text.columns), *text.to_numpy().tolist()]]
    return {"text": _plain, "markdown": _markdown, "latex": _latex}[form](rows)


def _plain(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines) + "\n"


def _markdown(rows: list[list[str]]) -> str:
    header, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [header, ["---"] * len(header), *body])


def _latex(rows: list[list[str]]) -> str:
    """Return a table for the package booktabs."""
    header, *body = [" & ".join(_SPECIAL.sub(r"\\\1", cell) for cell in row) + r" \\" for row in rows]
    columns = "l" * len(rows[0])
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", header, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([*lines, r"\end{tabular}"]) + "\n"
