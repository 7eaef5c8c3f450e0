"""Compare two versions of code: pomrl compare [KEY=VALUE ...] [--code OLD NEW] [--y planning_loss] [--format FORMAT].

Each setting of which both versions have computed runs has a row with the differences, new less old, in pairs of runs,
and `better`, the probability that a run of the new version has the smaller number. By default the present code is
compared with the last one before it.
"""

from pomrl.commands.arguments import Parser, add_asked, asked, tasks
from pomrl.commands.errors import one_line_errors
from pomrl.commands.table import FORMATS, written
from pomrl.commands.terminal import warn
from pomrl.configuration.wording import number_of
from pomrl.results.chosen_runs import PRESENT, PREVIOUS, VALUES, choose_pairs
from pomrl.results.summaries import STATISTICS
from pomrl.results.summary_tables import compared


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print the table on standard output."""
    parser = Parser(prog="pomrl compare", description="Compare what two versions of code computed, in pairs of runs.")
    add_asked(parser)
    parser.add_argument(
        "--code",
        nargs=2,
        metavar=("OLD", "NEW"),
        default=(PREVIOUS, PRESENT),
        help="labels as pomrl runs has them, previous, or present (default: previous present)",
    )
    parser.add_argument("--statistic", choices=STATISTICS, help="only this one (default: all)")
    parser.add_argument("--y", default="planning_loss", help=f"what is compared: {', '.join(VALUES)}, or a metric")
    parser.add_argument("--task", default="all", type=tasks, help="tasks to average: all (default), first, last, 3")
    parser.add_argument("--format", default="text", choices=FORMATS)
    arguments = parser.parse_intermixed_args()
    before, after = arguments.code
    old, new = choose_pairs(asked(arguments, arguments.y), before, after, arguments.y)
    wanted = [arguments.statistic] if arguments.statistic else list(STATISTICS)
    print(written(compared(old, new, arguments.y, arguments.task, wanted), arguments.format), end="")
    warn(f"new less old, in pairs of {number_of(new.runs, 'run')}; 95 % intervals; iqm is the interquartile mean")
