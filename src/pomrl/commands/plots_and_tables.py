"""The commands `pomrl plot` and `pomrl table`."""

import hashlib
import re
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pomrl.api import read
from pomrl.commands.arguments import with_options_of
from pomrl.commands.terminal import print_frame, warn
from pomrl.configuration.composed import number_of
from pomrl.outputs import outputs
from pomrl.results import cross_tables
from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl.results.selection import describe_runs
from pomrl.results.summaries import STATISTICS

if TYPE_CHECKING:  # slow to import
    import pandas as pd

MAX_NAME_CHARACTERS = 100
"""The maximum length of file names; longer ones end in a digest."""


@with_options_of(read.plot)
def plot(*selectors: Annotated[str, "KEY=VALUE"], name: str | None = None, **options: Any) -> None:
    """Plot stored experiments.

    A curve is the mean over runs of an experiment, with a band. Files are written to outputs/plots/: NAME.pdf,
    NAME.png, NAME.csv (drawn values) and NAME.json (sources).

    Args:
        selectors: Settings as in `pomrl run -m`, tag=NAME, code=all (all versions of the code), or a signature.
        name: The name of the files, without suffix (default: made from the arguments).
        **options: Options of `pomrl.plot`.
    """
    from pomrl.drawing.picture_files import Sidecar, save  # slow to import
    from pomrl.drawing.plots import PlotLayout, PlotOptions, draw

    x, y, hue, col, row, band, task = (options[key] for key in ("x", "y", "hue", "col", "row", "band", "task"))
    selection = read.select(selectors, y, options["where"], options["config_dir"]).with_common_runs()
    drawing = draw(
        selection, x, y, PlotLayout(hue, col, row), PlotOptions(band, task, read.read_method(options["against"]))
    )
    name = name or short_name([y, *sys.argv[1:]])
    command = shlex.join(["pomrl", "plot", *sys.argv[1:]])
    sidecar = Sidecar(name, command=command, sweeps={"stored": selection.origins})
    for path in save(drawing, outputs() / "plots", name, sidecar):
        print(path)
    for note in selection.notes:
        warn(note)


def short_name(arguments: Sequence[str]) -> str:
    """Make a short file name from arguments."""
    name = re.sub(r"[^\w.-]+", "_", "_".join(arguments).replace(",", "-").replace("=", "_").replace("--", ""))
    if len(name) <= MAX_NAME_CHARACTERS:
        return name
    return f"{name[: MAX_NAME_CHARACTERS - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@with_options_of(read.table)
def table(
    *selectors: Annotated[str, "KEY=VALUE"],
    format: Literal["text", "csv", "markdown", "latex"] = "text",
    **options: Any,
) -> None:
    """Tabulate stored experiments as text, CSV, Markdown or LaTeX.

    Rows are experiments. Columns are the mean, interquartile mean and median over runs of the planning loss at
    gamma_eval, averaged over tasks, with confidence intervals. For a paper:
    --rows sigma --columns estimator --best bold --format latex.

    Args:
        selectors: Settings as in `pomrl run -m`, tag=NAME, code=all (all versions of the code), or a signature.
        format: The format of the table (default: text).
        **options: Options of `pomrl.table`.
    """
    where, config_dir = options.pop("where"), options.pop("config_dir")
    selection = read.select(selectors, options["y"], where, config_dir)
    frame = read.tabulate(selection, **options)
    if "caption" in frame.attrs:
        notes = _print_cross_table(frame, format)
    else:
        optional = [f"{name}{end}" for name in reversed(STATISTICS) for end in (" difference", "")][:-2]
        print_frame(frame, format, optional=[*optional, "pairs", *reversed(selection.keys)])
        counts = f"{describe_runs(frame['runs'])} of {number_of(len(frame), 'experiment')}"
        notes = [f"{counts}; {CONFIDENCE_PERCENT} % intervals; iqm is the interquartile mean"]
    for line in (*notes, *selection.notes):
        warn(line)


def _print_cross_table(frame: "pd.DataFrame", form: str) -> list[str]:
    if form == "latex":
        print(cross_tables.latex(frame), end="")
        return []
    print_frame(frame if form == "csv" else cross_tables.cells(frame, form), form)
    return [] if form == "csv" else [cross_tables.caption(frame, form)]
