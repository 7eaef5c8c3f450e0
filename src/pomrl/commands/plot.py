"""Plot what is stored of one's own sweeps: pomrl plot [KEY=VALUE ...] [--x task] [--hue estimator] ...

A curve is the mean over runs of an experiment, with a band; --against draws differences in pairs. The experiments are
those that `pomrl run -m` with the same words computes; the settings in which they differ tell the curves apart. The
plot is written to outputs/plots/: NAME.pdf, NAME.png, NAME.csv (the values that are drawn) and NAME.json (the
experiments that they come from), where NAME says what is shown.
"""

import hashlib
import re
import shlex
import sys
from collections.abc import Sequence

from pomrl.commands.arguments import Parser, add_asked, add_number, choose_experiments, filters
from pomrl.commands.errors import one_line_errors
from pomrl.commands.terminal import warn
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.plots import PlotLayout, PlotOptions, draw
from pomrl.outputs import outputs
from pomrl.results.intervals import BAND_NAMES, CONFIDENCE_PERCENT

LONGEST = 100
"""The most characters of a name; the end of a longer one is a digest."""


@one_line_errors(ValueError)
def main(parser: Parser) -> None:
    """Run the command and print the paths of the files."""
    _add_arguments(parser)
    arguments = parser.parse_intermixed_args()  # filters may follow options
    of = choose_experiments(arguments, arguments.y)
    layout = PlotLayout(arguments.hue, arguments.col, arguments.row)
    options = PlotOptions(arguments.band, arguments.task, filters(arguments.against) or None)
    drawing = draw(of, arguments.x, arguments.y, layout, options)
    name = arguments.name or short_name([arguments.y, *sys.argv[1:]])
    command = shlex.join(["pomrl", "plot", *sys.argv[1:]])
    sidecar = Sidecar(name, command=command, sweeps={"stored": of.origins})
    for path in save(drawing, outputs() / "plots", name, sidecar):
        print(path)
    for note in of.notes:
        warn(note)


def _add_arguments(parser: Parser) -> None:
    add_asked(parser)
    parser.add_argument("--x", default="task", help="the horizontal axis: task (default), gamma, or any setting: sigma")
    add_number(parser)
    for role, what in (("hue", "colours"), ("col", "columns"), ("row", "rows")):
        parser.add_argument(f"--{role}", metavar="KEY", help=f"the setting that {what} are for")
    parser.add_argument(
        "--band",
        default="ci",
        choices=BAND_NAMES,
        help=f"{CONFIDENCE_PERCENT} %% interval, standard error or deviation",
    )
    parser.add_argument("--name", help="the name of the files, without suffix; by default it says what they show")


def short_name(words: Sequence[str]) -> str:
    """Return the words of a command as the name of a file of at most `LONGEST` characters."""
    name = re.sub(r"[^\w.-]+", "_", "_".join(words).replace(",", "-").replace("=", "_").replace("--", ""))
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
