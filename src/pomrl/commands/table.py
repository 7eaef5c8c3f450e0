"""Tabulate what is stored: pomrl table [KEY=VALUE ...] [--columns KEY] [--against KEY=VALUE] [--format FORMAT].

Each experiment that `pomrl run -m` with the same words computes has a row with the mean, the interquartile mean and the
median over runs of its planning loss at gamma_eval, averaged over tasks,
each with its 95 % interval. With --columns the table has a row for
each method and a column for each value of a setting, as in papers. With --against each experiment is compared with
another method on the same problem, in pairs of runs.
"""

import pandas as pd

from pomrl.commands.arguments import Parser, add_asked, add_code, asked, filters, tasks
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import as_printed, printable, warn
from pomrl.configuration.wording import number_of
from pomrl.results import tables
from pomrl.results.chosen_runs import VALUES, choose
from pomrl.results.summaries import STATISTICS
from pomrl.results.summary_tables import as_text, pivoted, summarised
from pomrl.results.tables import markdown_text

FORMATS = ("text", "csv", "markdown", "latex")


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print the table on standard output."""
    parser = Parser(prog="pomrl table", description="Tabulate what is stored.")
    add_asked(parser)
    add_code(parser)
    parser.add_argument("--columns", metavar="KEY", help="a setting whose values become columns, as in papers")
    of_method = "a setting of the method to compare with, in pairs: estimator=pomrl"
    parser.add_argument("--against", metavar="KEY=VALUE", action="append", help=of_method)
    parser.add_argument("--statistic", choices=STATISTICS, help="only this one (default: all; mean with --columns)")
    parser.add_argument("--y", default="planning_loss", help=f"what is tabulated: {', '.join(VALUES)}, or a metric")
    parser.add_argument("--task", default="all", type=tasks, help="tasks to average: all (default), first, last, 3")
    parser.add_argument("--format", default="text", choices=FORMATS)
    arguments = parser.parse_intermixed_args()  # filters may follow options
    chosen = choose(asked(arguments, arguments.y), arguments.y)
    wanted = [arguments.statistic] if arguments.statistic else ["mean"] if arguments.columns else list(STATISTICS)
    against = filters(arguments.against) if arguments.against else None
    table = summarised(chosen, arguments.y, arguments.task, wanted, against)
    if arguments.columns:
        table = pivoted(table, arguments.columns, wanted[0])
    print(written(table, arguments.format), end="")
    of_chosen = f"{number_of(chosen.runs, 'run')} of {number_of(len(chosen.stored), 'experiment')}"
    warn(f"{of_chosen}; 95 % intervals; iqm is the interquartile mean")
    for note in chosen.notes:
        warn(note)


def written(table: "pd.DataFrame", form: str) -> str:
    """Return a table as CSV with all digits, or with an estimate and its interval in one cell in any other form."""
    if form == "csv":
        return table.to_csv(index=False, lineterminator="\n")
    text = as_text(table)
    head, *rows = [[printable(str(cell)) for cell in row] for row in [list(text.columns), *text.to_numpy().tolist()]]
    if form == "markdown":
        return tables.markdown([*map(markdown_text, head)], [[*map(markdown_text, row)] for row in rows])
    if form == "latex":
        return tables.latex(head, rows)
    return as_printed(head, rows)
