"""Show that user-defined components are reproducible when they are first used."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

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
    classes = foreign_classes(problem, method)
    run = int(table["run"].iloc[-1])
    if run == table["run"].iloc[0] > 0:  # a part of one run has no other runs
        (table,) = tables(problem, [method], [run - 1, run])
    with recorded_environment({cls.__module__.partition(".")[0] for cls in classes}) as variables:
        (alone,) = tables(problem, [method], [run])
    in_block = table[table["run"] == run].reset_index(drop=True)
    if variables:
        fault, remedy = f"the environment variable {min(variables)} is read", "declare a field for its value"
    elif differing := [name for name in alone if not alone[name].equals(in_block[name])]:
        is_repeated = tables(problem, [method], [run])[0].equals(alone)
        what, remedy = ("alone", MIXES_RUNS) if is_repeated else ("again", KEEPS_STATE)
        fault = f"run {run} computed {what} gives different numbers ({differing[0]}) than in its block"
    else:
        return
    names = ", ".join(map(class_name, classes))
    raise ComponentError(f"{names} fails the check that runs are independent: {fault}. Remedy: {remedy}")


@contextmanager
def recorded_environment(packages: set[str]) -> Generator[set[str]]:
    """Record the environment variables read by code of packages in this thread.

    A profile function is of one thread, so other threads keep their environment.
    """
    variables: set[str] = set()
    read = type(os.environ).__getitem__.__code__

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is read and _package_of_reader(frame) in packages:
            variables.add(str(frame.f_locals["key"]))

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        yield variables
    finally:
        sys.setprofile(before)


def _package_of_reader(frame: FrameType | None) -> str:
    while frame and frame.f_globals["__name__"] in ("os", "collections.abc"):  # os.getenv and Mapping.get
        frame = frame.f_back
    return str(frame.f_globals["__name__"]).partition(".")[0] if frame else ""
