"""Show that user-defined components are reproducible when they are first used."""

from typing import TYPE_CHECKING

from pomrl.configuration.settings import class_name
from pomrl.contracts import KEEPS_STATE, MIXES_RUNS
from pomrl.running.plan import foreign_classes
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem
from pomrl.science.validation import ComponentError

if TYPE_CHECKING:  # slow to import
    import pandas as pd


def check_first_use(problem: Problem, method: Method, table: "pd.DataFrame") -> None:
    """Compute the last run of a table again, alone; ComponentError if it differs.

    The last run, because a generator with a constant seed gives the first run of any block the same draws.
    """
    run = int(table["run"].iloc[-1])
    if run == table["run"].iloc[0] > 0:  # a part of one run has no other runs
        (table,) = tables(problem, [method], [run - 1, run])
    (alone,) = tables(problem, [method], [run])
    in_block = table[table["run"] == run].reset_index(drop=True)
    if not (differing := [name for name in alone if not alone[name].equals(in_block[name])]):
        return
    is_repeated = tables(problem, [method], [run])[0].equals(alone)
    what, remedy = ("alone", MIXES_RUNS) if is_repeated else ("again", KEEPS_STATE)
    fault = f"run {run} computed {what} gives different numbers ({differing[0]}) than in its block"
    names = ", ".join(map(class_name, foreign_classes(problem, method)))
    raise ComponentError(f"{names} fails the check that runs are independent: {fault}. Remedy: {remedy}")
