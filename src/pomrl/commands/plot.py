"""Plot what is stored of one's own sweeps: pomrl plot [KEY=VALUE ...] [--x task] [--hue estimator] ...

A curve is the mean over runs of an experiment, with a band. The experiments are those that `pomrl run -m` with the same
words computes; the settings in which they differ tell the curves apart. The plot is written to outputs/plots/:
NAME.pdf, NAME.png, NAME.csv (the values that are drawn) and NAME.json (the experiments that they come from).
"""

import shlex
import sys

from pomrl.commands.arguments import Parser, add_asked, add_code, asked, tasks
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.relational import BANDS, Roles, draw
from pomrl.outputs import outputs
from pomrl.results.chosen_runs import VALUES, choose
from pomrl.store.provenance import commit


@one_line_errors(ValueError)
def main() -> None:
    """Run the command with the arguments of the process, and print the paths of the files."""
    parser = Parser(prog="pomrl plot", description="Plot what is stored of your own sweeps.")
    add_asked(parser)
    add_code(parser)
    parser.add_argument("--x", default="task", help="the horizontal axis: task (default), gamma, or a setting: sigma")
    parser.add_argument("--y", default="planning_loss", help=f"the vertical axis: {', '.join(VALUES)}, or a metric")
    for role, what in (("hue", "colours"), ("col", "columns"), ("row", "rows"), ("style", "kinds of line")):
        parser.add_argument(f"--{role}", metavar="KEY", help=f"the setting that {what} are for")
    parser.add_argument("--band", default="ci", choices=BANDS, help="95 %% interval, standard error or deviation")
    parser.add_argument("--task", default="all", type=tasks, help="tasks to average: all (default), first, last, 3")
    parser.add_argument("--name", help="the name of the files, without suffix")
    arguments = parser.parse_intermixed_args()  # filters may follow options
    chosen = choose(asked(arguments, arguments.y), arguments.y)
    roles = Roles(arguments.hue, arguments.col, arguments.row, arguments.style)
    drawing = draw(chosen, arguments.x, arguments.y, roles, arguments.band, arguments.task)
    name = arguments.name or f"{arguments.y}_against_{arguments.x}"
    command = shlex.join(["pomrl", "plot", *sys.argv[1:]])
    sidecar = Sidecar(name, command=command, **commit(), sweeps={"stored": chosen.sources()})
    for path in save(drawing, outputs() / "plots", name, sidecar):
        print(path)
    for note in chosen.notes:
        warn(note)
