"""Say what to change in the decisions of a log: `pomrl horizon LOG.parquet`.

The command prints what the audit of the log found, the recommendation and the largest changes. It writes a page, a
figure, and tables of the recommended changes and of gains to a folder. With `--after OLD.parquet` it says instead
whether what was promised for the old log came true in this one.
"""

import argparse
import textwrap
from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import WIDTH, print_frame, printable
from pomrl.outputs import outputs
from pomrl_logs.follow_up import follow_up
from pomrl_logs.horizon_reports import HorizonReport, horizon_report
from pomrl_logs.log_files import table_name
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

MOST_CHANGES = 20
"""The number of changes that are printed."""

SEVERAL = "column, or A,B for several"
"""What the columns of states and actions may be."""


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where the log is wrong."""
    arguments = _arguments(parser)
    folder = arguments.output.expanduser() if arguments.output else outputs() / "horizon" / table_name(arguments.log[0])
    if not arguments.after and folder.exists() and any(folder.iterdir()):
        raise ValueError(
            f"{folder}: there is a report already, and nothing is overwritten; --output names another folder"
        )
    log = _read(arguments, arguments.log)
    if arguments.after:
        old = _read(arguments, arguments.after)
        _say(*(finding.line for each in (old, log) for finding in each.findings))
        _say(follow_up(old, log, arguments.gamma_eval).words)
        return
    report = horizon_report(log, arguments.gamma_eval)
    paths = _write(report, log, folder, arguments.log[0])
    _print(report, log)
    for path in paths:
        print(path)


def _read(arguments: argparse.Namespace, paths: list[Path]) -> Log:
    """Return the log in some files, with the columns that the arguments name."""
    several = {name: _several(getattr(arguments, name)) for name in ("state", "action", "next_state")}
    names = ("task", "reward", "cost", "terminated", "episode", "time")
    roles = ColumnRoles(**several, **{name: getattr(arguments, name) for name in names})
    options = {name: getattr(arguments, name) for name in ("ends", "missing", "accept")}
    return read_log(paths, roles, bins=_bins(arguments.bins), **options)


def _several(names: str | None) -> str | list[str] | None:
    return names.split(",") if names and "," in names else names


def _bins(words: list[str]) -> dict[str, int]:
    """Return the number of bins of each column; ValueError unless each word is COLUMN=NUMBER."""
    found = dict[str, int]()
    for word in words:
        column, _, count = word.rpartition("=")
        if not column or not count.isdigit() or int(count) < 2:
            raise ValueError(f"--bins must be COLUMN=NUMBER, such as age=5, got {word!r}")
        found[column] = int(count)
    return found


def _arguments(parser: Parser) -> argparse.Namespace:
    add = parser.add_argument
    add("log", type=Path, nargs="+", help="tables of transitions: .parquet, .csv, .tsv, .jsonl, also .gz")
    add("--task", metavar="COLUMN", help="its column (default task, if there is one)")
    add("--state", metavar="COLUMN", default="state", help=f"its {SEVERAL} (default state)")
    add("--action", metavar="COLUMN", default="action", help=f"its {SEVERAL} (default action)")
    add("--reward", metavar="COLUMN", help="its column (default reward)")
    add("--cost", metavar="COLUMN", help="the column of costs, in the place of rewards")
    add("--next-state", metavar="COLUMN", help="its column (default next_state, or the state of the next row)")
    add("--terminated", metavar="COLUMN", help="the column that says where episodes have ended")
    add("--episode", metavar="COLUMN", help="the column that says which episode a transition is of")
    add("--time", metavar="COLUMN", help="the column by which the rows of an episode are in order")
    add("--ends", metavar="STATE", nargs="+", action="extend", default=[], help="states after which nothing is paid")
    add("--bins", metavar="COLUMN=N", nargs="+", action="extend", default=[], help="numbers in a state, as N bins")
    add("--missing", metavar="NAME", nargs="+", action="extend", default=[], help="names that mean: missing")
    add("--accept", metavar="FINDING", nargs="+", action="extend", default=[], help="findings that are meant")
    add("--gamma-eval", type=float, default=0.99, help="what policies are judged at (default 0.99)")
    add("--after", type=Path, nargs="+", metavar="OLD", help="whether what the log OLD promised came true in LOG")
    add("--output", type=Path, metavar="FOLDER", help="default: outputs/horizon/ and the log's name")
    return parser.parse_intermixed_args()


def _say(*sentences: str) -> None:
    for sentence in sentences:
        print(textwrap.fill(printable(sentence), WIDTH))


def _print(report: HorizonReport, log: Log) -> None:
    _say(*log.audit, *report.words[len(report.findings) :], *log.remarks)
    if len(report.changes):
        print_frame(report.changes.head(MOST_CHANGES).round({"gain": 3, "difference": 3, "probability": 2}))
        if len(report.changes) > MOST_CHANGES:
            print(f"and {len(report.changes) - MOST_CHANGES} more, which changes.csv has")


def _write(report: HorizonReport, log: Log, folder: Path, source: Path) -> list[Path]:
    """Write the files of a report, and return their paths."""
    from pomrl.drawing.files import Sidecar, save
    from pomrl.report.rendering import render
    from pomrl.store import files
    from pomrl_logs import figure  # here, because help and errors need no figures

    paths = save(figure.draw(report), folder, "gains", Sidecar("gains", command=f"pomrl horizon {source}"))
    changes, page = folder / "changes.csv", folder / "report.html"
    files.write(changes, report.changes.to_csv(index=False).encode())
    shown = {"title": table_name(source), "report": report, "log": log, "picture": (folder / "gains.png").read_bytes()}
    files.write(page, render("log.html.j2", **shown).encode())
    return [page, changes, *paths]
