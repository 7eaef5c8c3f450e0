"""Look at what is stored in a browser: pomrl view [KEY=VALUE ...].

The page has a table of experiments, which can be filtered, grouped and sorted, with their tags and notes, and the
losses of those that are selected. It is one file, and needs neither a server nor a network. Until ^C it is written
anew when something is stored, and an open page follows.
"""

import time
import warnings
import webbrowser
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pomrl import store
from pomrl.commands.arguments import Parser, filters
from pomrl.commands.runs import describe
from pomrl.commands.terminal import exit_with, warn
from pomrl.drawing.style import hues
from pomrl.outputs import outputs
from pomrl.report.rendering import render
from pomrl.results.intervals import half_width
from pomrl.store import StoredExperiment, StoreError, StoreWarning
from pomrl.store.derived import write_file

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

SECONDS = 2.0
"""The time between two looks at the store."""

MOST = 300
"""The number of the newest experiments whose losses the page has; with all of them it would be slow."""


def main(parser: Parser) -> None:
    """Write the page, open it and keep it up to date until ^C; the exit status is 1 where nothing is stored."""
    parser.add_argument("filter", nargs="*", metavar="KEY=VALUE", help="only those with this setting: sigma=0.01,0.02")
    parser.add_argument("--once", action="store_true", help="write the page, print its path and stop")
    arguments = parser.parse_intermixed_args()
    wanted = filters(arguments.filter)
    table = _describe_stored(wanted)
    if table.empty:
        exit_with(f"{store.root()}: nothing is stored{' with these settings' * bool(wanted)}")
    path = write(table, is_live=not arguments.once)
    print(path, flush=True)
    if arguments.once:
        return
    warn("the page follows what is stored until ^C")
    webbrowser.open(path.absolute().as_uri())
    try:
        while True:
            time.sleep(SECONDS)
            before, table = table, _describe_stored(wanted)
            if not table.equals(before):
                write(table, is_live=True)
    except KeyboardInterrupt:
        write(table, is_live=False)


def _describe_stored(wanted: dict[str, Any]) -> "pd.DataFrame":
    return describe(store.find(**wanted) if wanted else store.usable_experiments())


def write(table: "pd.DataFrame", *, is_live: bool) -> Path:
    """Write the page of experiments, each a row of a table that `runs.describe` returns; return its path."""
    newest = [pair for pair in zip(table["signature"], table["runs"], strict=True) if pair[1]][:MOST]
    losses = {name: found for name, runs in newest if (found := loss_by_task(name, runs))}
    data = {"table": table.astype(object).fillna("").to_dict("split", index=False), "losses": losses, "colors": hues(9)}
    path = outputs() / "view" / "index.html"
    write_file(path, render("view.html.j2", data=data, is_live=is_live, most=MOST).encode(), "pomrl view")
    return path


@cache
def loss_by_task(signature: str, runs: int) -> dict[str, list[float]] | None:
    """Return the mean loss in each task, at gamma_eval or the gamma that a schedule chose, and half its interval.

    One run has no interval. None is returned where no run is stored, or a file is damaged (`pomrl runs --verify`).
    """
    try:
        losses = StoredExperiment(store.root() / signature).mean_losses(runs)[0]
    except StoreError as error:
        warnings.warn(str(error), StoreWarning, stacklevel=2)
        return None
    half = half_width(losses) if runs > 1 else np.array([])
    return {"mean": losses.mean(0).round(6).tolist(), "half": half.round(6).tolist()}
