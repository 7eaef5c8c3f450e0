"""Tabulate what is stored: pomrl table [KEY=VALUE ...] [--columns KEY] [--against KEY=VALUE] [--format FORMAT].

Each experiment that the filters choose has a row with the mean, the interquartile mean and the median over runs of its
planning loss at gamma_eval, averaged over tasks, each with its 95 % interval. With --columns the table has a row for
each method and a column for each value of a setting, as in papers. With --against each experiment is compared with
another method on the same problem, in pairs of runs.
"""

import sys
from shutil import get_terminal_size

import pandas as pd

from pomrl.commands.arguments import Parser, add_filters, filters, tasks
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import printable, warn
from pomrl.configuration.wording import number_of
from pomrl.results import tables
from pomrl.results.chosen_runs import VALUES, choose
from pomrl.results.summaries import STATISTICS
from pomrl.results.summary_tables import as_text, pivoted, summarised
from pomrl.results.tables import markdown_text


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print the table on standard output."""
    parser = Parser(prog="pomrl table", description="Tabulate what is stored.")
    add_filters(parser)
    parser.add_argument("--columns", metavar="KEY", help="a setting whose values become columns, as in papers")
    parser.add_argument("--against", metavar="KEY=VALUE", help="a method to compare with, in pairs: estimator=pomrl")
    parser.add_argument("--statistic", choices=STATISTICS, help="only this one (default: all; mean with --columns)")
    parser.add_argument("--y", default="planning_loss", help=f"what is tabulated: {', '.join(VALUES)}, or a metric")
    parser.add_argument("--task", default="all", type=tasks, help="tasks to average: all (default), first, last, 3")
    parser.add_argument("--format", default="text", choices=("text", "csv", "markdown", "latex"))
    arguments = parser.parse_intermixed_args()  # filters may follow options
    chosen = choose(filters(arguments.filter), arguments.y)
    wanted = [arguments.statistic] if arguments.statistic else ["mean"] if arguments.columns else list(STATISTICS)
    against = filters([arguments.against]) if arguments.against else None
    table = summarised(chosen, arguments.y, arguments.task, wanted, against)
    if arguments.columns:
        table = pivoted(table, arguments.columns, wanted[0])
    print(_written(table, arguments.format), end="")
    of_chosen = f"{number_of(chosen.runs, 'run')} of {number_of(len(chosen.stored), 'experiment')}"
    warn(f"{of_chosen}; 95 % intervals; iqm is the interquartile mean")


def _written(table: pd.DataFrame, form: str) -> str:
    """Return a table as CSV with all digits, or with an estimate and its interval in one cell in any other form."""
    if form == "csv":
        return table.to_csv(index=False, lineterminator="\n")
    text = as_text(table)
    head, *rows = [[printable(str(cell)) for cell in row] for row in [list(text.columns), *text.to_numpy().tolist()]]
    if form == "markdown":
        return tables.markdown([*map(markdown_text, head)], [[*map(markdown_text, row)] for row in rows])
    if form == "latex":
        return tables.latex(head, rows)
    return tables.fitted(head, rows, get_terminal_size().columns) if sys.stdout.isatty() else tables.plain(head, rows)
