"""Say what to change in the decisions of a log: `pomrl horizon LOG.parquet`.

The command prints the recommendation and the largest changes. It writes a page, a figure, and tables of the recommended
changes and of gains to a folder. With `--after OLD.parquet` it says instead whether what was promised for the old log
came true in this one.
"""

import argparse
import textwrap
from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import WIDTH, print_frame, printable
from pomrl.models_and_logs.horizon_reports import HorizonReport, horizon_report
from pomrl.models_and_logs.log_tables import COLUMNS, from_log
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.promises import outcome
from pomrl.outputs import outputs

MOST_CHANGES = 20
"""The number of changes that are printed."""


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where the log is wrong."""
    arguments = _arguments(parser)
    columns = {column: getattr(arguments, column) for column in (*COLUMNS, "terminated", "episode")}
    log = from_log(arguments.log, **columns)
    if arguments.after:
        _say(outcome(from_log(arguments.after, **columns), log, arguments.gamma_eval).words)
        return
    folder = arguments.output or outputs() / "horizon" / arguments.log.stem
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(
            f"{folder}: there is a report already, and nothing is overwritten; --output names another folder"
        )
    report = horizon_report(log, arguments.gamma_eval)
    _print(report, log)
    for path in _write(report, log, folder, arguments.log):
        print(path)


def _arguments(parser: Parser) -> argparse.Namespace:
    parser.add_argument("log", type=Path, help="a table of transitions, LOG.parquet or LOG.csv")
    for column in COLUMNS:
        parser.add_argument(
            f"--{column.replace('_', '-')}", metavar="COLUMN", default=column, help=f"its column (default {column})"
        )
    parser.add_argument("--terminated", metavar="COLUMN", help="the column that says where episodes have ended")
    parser.add_argument("--episode", metavar="COLUMN", help="the column that says which episode a transition is of")
    parser.add_argument("--gamma-eval", type=float, default=0.99, help="what policies are judged at (default 0.99)")
    parser.add_argument("--after", type=Path, metavar="OLD", help="whether what the log OLD promised came true in LOG")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="default: outputs/horizon/ and the log's name")
    return parser.parse_args()


def _say(*sentences: str) -> None:
    for sentence in sentences:
        print(textwrap.fill(printable(sentence), WIDTH))


def _print(report: HorizonReport, log: Log) -> None:
    _say(*report.words, *log.remarks)
    if len(report.changes):
        print_frame(report.changes.head(MOST_CHANGES).round({"gain": 3, "difference": 3, "probability": 2}))
        if len(report.changes) > MOST_CHANGES:
            print(f"and {len(report.changes) - MOST_CHANGES} more, which changes.csv has")


def _write(report: HorizonReport, log: Log, folder: Path, source: Path) -> list[Path]:
    """Write the files of a report, and return their paths."""
    from pomrl.drawing import horizon_report as figure  # here, because help and errors need no figures
    from pomrl.drawing.files import Sidecar, save
    from pomrl.report.rendering import render

    paths = save(figure.draw(report), folder, "gains", Sidecar("gains", command=f"pomrl horizon {source}"))
    changes, page = folder / "changes.csv", folder / "report.html"
    report.changes.to_csv(changes, index=False)
    shown = {"title": source.stem, "report": report, "log": log, "picture": (folder / "gains.png").read_bytes()}
    page.write_text(render("log.html.j2", **shown), encoding="utf-8")
    return [page, changes, *paths]
