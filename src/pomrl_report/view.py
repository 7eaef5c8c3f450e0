"""The command `view`."""

import shlex
import sys
import time
import warnings
import webbrowser
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from pomrl import store
from pomrl.commands.runs import describe
from pomrl.commands.terminal import exit_with, warn
from pomrl.drawing.style import hues
from pomrl.outputs import outputs
from pomrl.results.intervals import half_width
from pomrl.results.selection import filters
from pomrl.store import StoredExperiment, StoreError, StoreWarning
from pomrl.store.derived import write_file
from pomrl_report.rendering import render

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

POLL_SECONDS = 2.0
"""The time between two checks of the store, in seconds."""

MAX_EXPERIMENTS = 300
"""The number of newest experiments with losses on the page; more would be slow."""


def view(
    *selectors: Annotated[str, "KEY=VALUE"],
    once: bool = False,
    report: bool = False,
    where: Mapping[str, Any] | None = None,
    config_dir: Path | None = None,
) -> None:
    """Show stored experiments in a browser, even during a sweep.

    The page is one file without a server or network. It has a table of experiments to filter, group and sort, with tags
    and notes, and the losses of selected ones. Until ^C, the file and the open page are renewed when something is
    stored.

    Args:
        selectors: Show only experiments with this setting, as in sigma=0.01,0.02.
        once: Write the page, print its path and stop.
        report: Write a page of curves, settings and provenance instead, print its path and stop. KEY=VALUE selects
            experiments as in `pomrl run -m`; tag=NAME and signatures also work.
        where: With --report, additional settings of stored experiments.
        config_dir: With --report, a folder like conf/ with your own options.
    """
    if report:
        _report(selectors, where, config_dir)
        return
    settings = filters(selectors)
    table = _describe_stored(settings)
    if table.empty:
        exit_with(f"{store.root()}: no stored experiments{' with these settings' * bool(settings)}")
    path = write(table, is_live=not once)
    print(path, flush=True)
    if not once:
        _follow(path, table, settings)


def _follow(path: Path, table: "pd.DataFrame", settings: dict[str, Any]) -> None:
    warn("the page is renewed when results are stored, until ^C")
    webbrowser.open(path.absolute().as_uri())
    try:
        while True:
            time.sleep(POLL_SECONDS)
            before, table = table, _describe_stored(settings)
            if not table.equals(before):
                write(table, is_live=True)
    except KeyboardInterrupt:
        write(table, is_live=False)


def _report(selectors: Sequence[str], where: Any, config_dir: Path | None) -> None:
    if not (selectors or where):
        exit_with("--report must have settings of stored experiments, such as estimator=pomrl", 2)
    from pomrl.api import read
    from pomrl.commands.plots_and_tables import short_name
    from pomrl_report.report_files import write_selection  # here, because the table needs no figures

    selection = read.select(selectors, where=where, config_dir=config_dir)
    name = short_name([argument for argument in sys.argv[1:] if argument != "--report"])
    command = shlex.join(["pomrl", "view", *sys.argv[1:]])
    print(write_selection(selection, outputs() / "reports" / name, command, warn))


def _describe_stored(settings: dict[str, Any]) -> "pd.DataFrame":
    return describe(store.find(**settings) if settings else store.usable_experiments())


def write(table: "pd.DataFrame", *, is_live: bool) -> Path:
    """Write the page of a table of experiments; return its path."""
    newest = [pair for pair in zip(table["signature"], table["runs"], strict=True) if pair[1]][:MAX_EXPERIMENTS]
    losses = {name: loss for name, runs in newest if (loss := loss_by_task(name, runs))}
    data = {"table": table.astype(object).fillna("").to_dict("split", index=False), "losses": losses, "colors": hues(9)}
    path = outputs() / "view" / "index.html"
    write_file(path, render("view.html.j2", data=data, is_live=is_live, most=MAX_EXPERIMENTS).encode(), "pomrl view")
    return path


@cache
def loss_by_task(signature: str, runs: int) -> dict[str, list[float]] | None:
    """Return the mean loss by task, and half its interval's width.

    `half` is empty for one run. None with a damaged file or losses near the largest number.
    """
    try:
        losses = StoredExperiment(store.root() / signature).mean_losses(runs)[0]
    except StoreError as error:
        warnings.warn(str(error), StoreWarning, stacklevel=2)
        return None
    half = half_width(losses) if runs > 1 else np.array([])
    if not (np.isfinite(losses.mean(0)).all() and np.isfinite(half).all()):
        folder = store.root() / signature
        warnings.warn(f"{folder}: its losses are too large for the page; left out", StoreWarning, stacklevel=2)
        return None
    return {"mean": losses.mean(0).round(6).tolist(), "half": half.round(6).tolist()}
