"""Tabulate what is stored: pomrl table [KEY=VALUE ...] [--against KEY=VALUE] [--format FORMAT].

Each experiment that `pomrl run -m` with the same words computes has a row with the mean, the interquartile mean and the
median over runs of its planning loss at gamma_eval, averaged over tasks,
each with its 95 % interval. With --against each experiment is compared with another method on the same problem, in
pairs of runs.
"""

from pomrl.commands.arguments import Parser, add_asked, add_format, add_number, choose_experiments, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import print_frame, warn
from pomrl.configuration.composed import number_of
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.selection import runs_in_words
from pomrl.results.summaries import STATISTICS, summarise


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Run the command and print the table on standard output."""
    add_asked(parser)
    add_number(parser)
    parser.add_argument("--statistic", choices=STATISTICS, help="only this one (default: all)")
    add_format(parser)
    arguments = parser.parse_intermixed_args()  # filters may follow options
    of = choose_experiments(arguments, arguments.y)
    wanted = [arguments.statistic] if arguments.statistic else STATISTICS
    frame = summarise(of, arguments.y, arguments.task, wanted, filters(arguments.against))
    optional = [f"{name}{end}" for name in reversed(STATISTICS) for end in (" difference", "")][:-2]
    print_frame(frame, arguments.format, optional=[*optional, "runs", "pairs", *reversed(of.keys)])
    of_chosen = f"{runs_in_words(of.runs)} of {number_of(len(of.results), 'experiment')}"
    for line in (f"{of_chosen}; {CONFIDENCE_PERCENT} % intervals; iqm is the interquartile mean", *of.notes):
        warn(line)
