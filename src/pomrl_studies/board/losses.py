"""Compute, read and write the losses of learners in cells."""

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
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

RECOMPUTED = ("garnet 0.15", "chains 0.01")
"""The cells recomputed before signatures are renewed."""


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


Report = Callable[[str], object]
"""A function called with a line about the progress."""


def compute(learner: Learner, cells: Sequence[Cell], report: Report, *, workers: int | None = None) -> list[CellLosses]:
    """Compute the losses of a learner in its cells; use stored runs."""
    milliseconds = time_per_task(learner)
    rows = []
    for cell in filter(learner.is_run_in, cells):
        report(f"{learner.label}: {cell.name}")
        rows.append(_compute_cell(learner, cell, milliseconds, workers))
    return rows


def _compute_cell(learner: Learner, cell: Cell, milliseconds: float, workers: int | None) -> CellLosses:
    settings = {"execution.workers": workers, **cell.settings, **learner.settings}
    table = pomrl.run(config_dir=CONF, runs=cell.runs, seed=SEED, yes=True, tag=TAG, **settings)
    by_task = table.groupby(["run", "task"])["planning_loss"]
    losses = by_task.last().groupby("run").mean().to_numpy()  # the last discount factor is gamma_eval
    means = table.groupby("gamma")["planning_loss"].mean()
    chooses = bool((by_task.size() == 1).all())
    gamma, loss = (np.nan, np.nan) if chooses else (means.idxmin(), means.min())
    signature = table.attrs["signature"]
    return CellLosses(learner.name, cell.name, signature, milliseconds, rounded(gamma), rounded(loss), rounded(losses))


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


def with_current_signatures(
    rows: Sequence[CellLosses], learners: Mapping[str, Learner], cells: Sequence[Cell]
) -> list[CellLosses]:
    """Return rows with present signatures.

    Raises:
        ValueError: Losses in a cell of `RECOMPUTED` differ.
    """
    by_name = {cell.name: cell for cell in cells}
    for row in rows:
        if row.cell in RECOMPUTED:
            computed = _compute_cell(learners[row.learner], by_name[row.cell], row.milliseconds, 1)
            if not np.array_equal(computed.losses, row.losses):
                raise ValueError(
                    f"{FILE}: the losses of {row.learner} in {row.cell} differ from the present code; "
                    f"run `python -m pomrl_studies.board {row.learner}` to compute them again"
                )
    return [replace(row, signature=current_signature(learners[row.learner], by_name[row.cell])) for row in rows]


def _experiment(learner: Learner, settings: Mapping[str, Any]) -> Experiment:
    all_settings = {"seed": SEED, **settings, **learner.settings}
    objects = {key: value for key, value in all_settings.items() if isinstance(value, Estimator)}
    overrides = [f"{key}={_yaml(value)}" for key, value in all_settings.items() if key not in objects]
    composed = experiment(PUBLISHED.with_options(CONF), overrides)
    return replace(composed, method=replace(composed.method, **objects))


def _yaml(value: Any) -> str:
    return "null" if value is None else str(value).replace(" ", "")


def read_losses(file: Path = FILE) -> list[CellLosses]:
    """Read a table of losses."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            CellLosses(
                row["learner"],
                row["cell"],
                row["signature"],
                float(row["milliseconds"]),
                float(row["gamma"]),
                float(row["loss_at_gamma"]),
                np.array(row["losses"].split(), float),
            )
            for row in csv.DictReader(lines)
        ]


def write_losses(rows: Iterable[CellLosses], file: Path) -> None:
    """Write a table of losses."""
    frame = pd.DataFrame([{**vars(row), "losses": " ".join(f"{x:.{DIGITS}g}" for x in row.losses)} for row in rows])
    frame.to_csv(file, index=False, na_rep="nan", float_format=f"%.{DIGITS}g", lineterminator="\n")
