"""Say which horizons the transitions of a log support: `pomrl horizon LOG.parquet`.

The command prints what each discount factor is expected to lose, beside cross-validation, and when not to trust it. It
writes the table and a figure to outputs/horizon/, under the name of the log.
"""

from pathlib import Path

from pomrl.commands.arguments import Parser
from pomrl.commands.errors import one_line_errors
from pomrl.commands.tables import print_table
from pomrl.models_and_logs.horizon_reports import horizon_report
from pomrl.models_and_logs.logs import COLUMNS, from_log
from pomrl.outputs import outputs
from pomrl.store.provenance import commit


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process; exit with status 1 and one line where the log is wrong."""
    parser = Parser(prog="pomrl horizon", description="Compare discount factors on the transitions of a log.")
    parser.add_argument("log", type=Path, help="a table of transitions, LOG.parquet or LOG.csv")
    for column in COLUMNS:
        parser.add_argument(
            f"--{column.replace('_', '-')}", metavar="COLUMN", default=column, help=f"its column (default {column})"
        )
    parser.add_argument("--gamma-eval", type=float, default=0.99, help="what policies are judged at (default 0.99)")
    parser.add_argument("--prior", choices=("learned", "uniform"), default="learned", help="(default learned)")
    arguments = parser.parse_args()
    log = from_log(arguments.log, **{column: getattr(arguments, column) for column in COLUMNS})
    report = horizon_report(log, arguments.gamma_eval, prior=arguments.prior)
    shown = report.table.drop(columns=["lower_of_frequencies", "upper_of_frequencies"])
    print_table("loss against the best policy, a mean over states and tasks", shown)
    for sentence in [*log.remarks, *report.words]:
        print(sentence)
    from pomrl.drawing import horizon_report as figure  # here, because help and errors need no figures
    from pomrl.drawing.files import Sidecar, save

    name = arguments.log.stem
    for path in save(
        figure.draw(report),
        outputs() / "horizon",
        name,
        Sidecar(name, command=f"pomrl horizon {arguments.log}", **commit()),
    ):
        print(path)
