"""Compute, read and write the losses of learners in cells."""

import csv
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from jaxtyping import Float

import pomrl
from pomrl.components import Estimator
from pomrl.study import PUBLISHED, Experiment, Fixed, Method, Problem, experiment, signature, tables
from pomrl_studies.board.cells import CONF, SEED, Cell
from pomrl_studies.board.learner import Learner

FILE = Path(__file__).parent / "losses.csv"
"""The losses of the shipped learners."""

DIGITS = 5
"""The number of significant digits of all losses."""

TAG = "board"
"""The tag of stored runs."""

TIMED_RUNS = 20
"""The number of runs of the random chains to time a task."""


@dataclass(frozen=True)
class CellLosses:
    """The losses of a learner in a cell."""

    learner: str
    cell: str
    signature: str
    """The signature of its stored runs."""
    milliseconds: float
    """Processor time of a task of the random chains, including drawing, planning at gamma_eval and evaluation."""
    gamma: float
    """The discount factor with the smallest mean loss; NaN if it is chosen in each task."""
    loss_at_gamma: float
    """The mean loss at this discount factor."""
    losses: Float[np.ndarray, " n"]
    """The loss in each run, averaged over tasks, at gamma_eval or the chosen discount factor."""
    author: str = ""
    """The author of the row: `git config user.name`."""
    date: str = ""
    """The day of the computation, such as 2026-11-29."""
    commit: str = ""
    """The commit of the code; empty outside of a checkout."""


Report = Callable[[str], object]
"""A function called with a line about the progress."""


def compute(learner: Learner, cells: Sequence[Cell], report: Report, *, workers: int | None = None) -> list[CellLosses]:
    """Compute the losses of a learner in its cells; use stored runs."""
    milliseconds = time_per_task(learner)
    rows = []
    for cell in filter(learner.is_run_in, cells):
        report(f"{learner.label}: {cell.name}")
        rows.append(compute_cell(learner, cell, milliseconds, workers))
    return rows


def compute_cell(learner: Learner, cell: Cell, milliseconds: float, workers: int | None) -> CellLosses:
    """Compute the losses of a learner in a cell; use stored runs."""
    settings = {"execution.workers": workers, **cell.settings, **learner.settings}
    table = pomrl.run(config_dir=CONF, runs=cell.runs, seed=SEED, yes=True, tag=TAG, **settings)
    by_task = table.groupby(["run", "task"])["planning_loss"]
    losses = by_task.last().groupby("run").mean().to_numpy()  # the last discount factor is gamma_eval
    means = table.groupby("gamma")["planning_loss"].mean()
    chooses = bool((by_task.size() == 1).all())
    gamma, loss = (np.nan, np.nan) if chooses else (means.idxmin(), means.min())
    signature = table.attrs["signature"]
    numbers = (milliseconds, rounded(gamma), rounded(loss), rounded(losses))
    return CellLosses(learner.name, cell.name, signature, *numbers, **provenance())


def provenance() -> dict[str, str]:
    """Return author, date and commit of rows computed now."""
    return {
        "author": _git("config", "user.name"),
        "date": f"{date.today()}",
        "commit": _git("-C", str(FILE.parent), "rev-parse", "--short=8", "HEAD"),
    }


@cache
def _git(*arguments: str) -> str:
    """Return the output of git; empty if it fails."""
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # not installed
        return ""


def rounded(values: Any) -> Any:
    """Round numbers to `DIGITS` significant digits."""
    return np.array([float(f"{value:.{DIGITS}g}") for value in np.atleast_1d(values)]).reshape(np.shape(values))[()]


def time_per_task(learner: Learner) -> float:
    """Measure milliseconds of processor time per task; NaN without random chains."""
    if "chains" not in learner.groups:
        return np.nan
    problem, method = problem_and_method(learner, {"sigma": 0.01})
    schedule = method.gamma_schedule if learner.base else Fixed(gamma=problem.gamma_eval)
    seconds = []
    for _ in range(2):  # the first time warms up
        start = process_time()
        tables(problem, [replace(method, gamma_schedule=schedule)], range(TIMED_RUNS))
        seconds.append(process_time() - start)
    return float(f"{1e3 * min(seconds) / (TIMED_RUNS * problem.T):.2g}")


def problem_and_method(learner: Learner, settings: Mapping[str, Any]) -> tuple[Problem, Method]:
    """Return a problem, and the method of a learner."""
    composed = _experiment(learner, settings)
    return composed.problem, composed.method


def current_signature(learner: Learner, cell: Cell) -> str:
    """Return the present signature of a learner in a cell."""
    return signature(_experiment(learner, cell.settings))


def _experiment(learner: Learner, settings: Mapping[str, Any]) -> Experiment:
    all_settings = {"seed": SEED, **settings, **learner.settings}
    objects = {key: value for key, value in all_settings.items() if isinstance(value, Estimator)}
    overrides = [f"{key}={_yaml(value)}" for key, value in all_settings.items() if key not in objects]
    composed = experiment(PUBLISHED.with_options(CONF), overrides)
    return replace(composed, method=replace(composed.method, **objects))


def _yaml(value: Any) -> str:
    return "null" if value is None else str(value).replace(" ", "")


def read_losses(file: Path = FILE) -> list[CellLosses]:
    """Read a table of losses.

    Raises:
        ValueError: It does not have the columns of `CellLosses`, or a number is wrong.
    """
    with file.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        columns = [field.name for field in fields(CellLosses)]
        if reader.fieldnames != columns:
            raise ValueError(f"{file}: must have the columns {', '.join(columns)}, got {reader.fieldnames}")
        return [_parse_row(row, f"{file}, row {number}") for number, row in enumerate(reader, start=1)]


def _parse_row(row: dict[str, str], where: str) -> CellLosses:
    try:
        numbers = {name: float(row[name]) for name in ("milliseconds", "gamma", "loss_at_gamma")}
        losses = np.array(row["losses"].split(), float)
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{where}: {error}") from error
    return CellLosses(**{**row, **numbers, "losses": losses})  # pyright: ignore[reportArgumentType]


def write_losses(rows: Iterable[CellLosses], file: Path) -> None:
    """Write a table of losses."""
    names = [field.name for field in fields(CellLosses)]
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_format_value(getattr(row, name)) for name in names] for row in rows)


def _format_value(value: str | float | Float[np.ndarray, " n"]) -> str:
    if isinstance(value, str):
        return value
    return " ".join(f"{number:.{DIGITS}g}" for number in np.atleast_1d(value))
