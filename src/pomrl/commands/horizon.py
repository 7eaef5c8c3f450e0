"""Say what to plan the tasks of a log with: `pomrl horizon LOG.parquet`.

The command prints the recommendation, what it rests on, and what each discount factor is expected to lose. It writes a
page, a figure, and tables of losses and of the recommended actions to a folder.
"""

import argparse
import textwrap
from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.progress import progress
from pomrl.commands.terminal import WIDTH, print_frame, printable
from pomrl.models_and_logs.horizon_reports import HorizonReport, horizon_report
from pomrl.models_and_logs.log_tables import COLUMNS, from_log
from pomrl.models_and_logs.logs import Log
from pomrl.outputs import outputs


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where the log is wrong."""
    arguments = _arguments(parser)
    folder = arguments.output or outputs() / "horizon" / arguments.log.stem
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(
            f"{folder}: there is a report already, and nothing is overwritten; --output names another folder"
        )
    columns = {column: getattr(arguments, column) for column in (*COLUMNS, "terminated")}
    log = from_log(arguments.log, **columns)
    with progress("tasks") as advance:
        report = horizon_report(log, arguments.gamma_eval, advance=advance)
    _print(report, log)
    for path in _written(report, log, folder, arguments.log):
        print(path)


def _arguments(parser: Parser) -> argparse.Namespace:
    parser.add_argument("log", type=Path, help="a table of transitions, LOG.parquet or LOG.csv")
    for column in COLUMNS:
        parser.add_argument(
            f"--{column.replace('_', '-')}", metavar="COLUMN", default=column, help=f"its column (default {column})"
        )
    parser.add_argument("--terminated", metavar="COLUMN", help="the column that says where episodes have ended")
    parser.add_argument("--gamma-eval", type=float, default=0.99, help="what policies are judged at (default 0.99)")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="default: outputs/horizon/ and the log's name")
    return parser.parse_args()


def _print(report: HorizonReport, log: Log) -> None:
    for sentence in [*report.words, *log.remarks]:
        print(textwrap.fill(printable(sentence), WIDTH))
    print(f"expected loss at γ_eval = {report.gamma_eval:g} of plans on the")
    print_frame(report.losses.round(2))


def _written(report: HorizonReport, log: Log, folder: Path, source: Path) -> list[Path]:
    """Write the files of a report, and return their paths."""
    from pomrl.drawing import horizon_report as figure  # here, because help and errors need no figures
    from pomrl.drawing.files import Sidecar, save
    from pomrl.report.rendering import rendered

    sidecar = Sidecar("losses", command=f"pomrl horizon {source}")
    paths = save(figure.draw(report), folder, "losses", sidecar)
    actions, page = folder / "actions.csv", folder / "report.html"
    report.actions.to_csv(actions, index=False)
    shown = {"title": source.stem, "report": report, "log": log, "picture": (folder / "losses.png").read_bytes()}
    policies = report.actions.groupby("task", sort=False)["action"].agg(list)
    page.write_text(rendered("log.html.j2", **shown, policies=policies), encoding="utf-8")
    return [page, actions, *paths]
