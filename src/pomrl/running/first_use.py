"""Show that user-defined components are reproducible when they are first used."""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pomrl.configuration.settings import class_name
from pomrl.contracts import KEEPS_STATE, MIXES_RUNS
from pomrl.execution.local import one_thread
from pomrl.running.plan import foreign_components
from pomrl.science.component_output import ComponentError
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem
from pomrl.store.notebook_classes import is_of_session

if TYPE_CHECKING:  # slow to import
    import pandas as pd

DEPENDS_ON_PROCESS = (
    f"{KEEPS_STATE}; use no order of a set, hash of text, time, or number of a process; restart Python after an edit"
)
"""The remedy for a component with other numbers in a new process."""

HASH_SEED = "PYTHONHASHSEED"
"""The environment variable with the seed of hashes, which order sets of text."""

_PROGRAM = """
import os, pickle, sys
answer = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # for what a component prints
sys.path[:] = pickle.load(sys.stdin.buffer)
pickle.dump(pickle.load(sys.stdin.buffer)(), answer)
"""
"""A program that makes a pickled call, after it has set the search path of modules."""

Blocks = Sequence[tuple[Method, "pd.DataFrame"]]
"""Methods of a problem with their tables of a block."""

_proven: set[tuple[Any, ...]] = set()
"""The user-defined components that gave the same numbers in a new process."""


def check_alone(problem: Problem, blocks: Blocks) -> None:
    """Compute the last run of each table again, alone; ComponentError if it differs.

    The last run, because a generator with a constant seed gives the first run of any block the same draws.
    """
    for method, table in blocks:
        _check_alone(problem, method, table)


def _check_alone(problem: Problem, method: Method, table: "pd.DataFrame") -> None:
    run = _last_run(table)
    if run == table["run"].iloc[0] > 0:  # a chunk of one run has no other runs
        (table,) = tables(problem, [method], [run - 1, run])
    (single_run,) = tables(problem, [method], [run])
    if not (differing := _differing_columns(single_run, table)):
        return
    is_repeated = tables(problem, [method], [run])[0].equals(single_run)
    what, remedy = ("alone", MIXES_RUNS) if is_repeated else ("again", KEEPS_STATE)
    fault = f"run {run} computed {what} gives different numbers ({differing[0]}) than in its block"
    raise _error(problem, method, "runs are independent", fault, remedy)


def check_in_new_process(problem: Problem, blocks: Blocks) -> None:
    """Compute the last run of each table in a new process; ComponentError if it differs.

    A new process imports the present code, hashes text with another seed, and has its own number, time and memory. It
    shares files and the environment, so that numbers from them are not found. It cannot import code of a notebook, a
    program or a function. Each combination of user-defined components is computed once.
    """
    by_components = {tuple(foreign_components(problem, method)): (method, table) for method, table in blocks}
    new = {key: pair for key, pair in by_components.items() if key not in _proven and all(map(_is_importable, key))}
    if not new:
        return
    run = _last_run(blocks[0][1])
    computed = _compute_in_new_process(problem, [method for method, _ in new.values()], run)
    for (method, table), other in zip(new.values(), computed, strict=True):
        if differing := _differing_columns(other, table):
            fault = f"run {run} computed in a new process gives different numbers ({differing[0]}) than in this one"
            raise _error(problem, method, "processes give the same numbers", fault, DEPENDS_ON_PROCESS)
    _proven.update(new)


def _compute_in_new_process(problem: Problem, methods: Sequence[Method], run: int) -> "list[pd.DataFrame]":
    call = pickle.dumps(sys.path) + pickle.dumps(partial(_compute, problem, methods, run))
    other_seed = "2" if os.environ.get(HASH_SEED) == "1" else "1"
    environment = {**os.environ, HASH_SEED: other_seed}
    program = [sys.executable, "-c", _PROGRAM]
    process = subprocess.run(program, input=call, capture_output=True, env=environment, check=False)
    if process.returncode:
        lines = process.stderr.decode(errors="replace").splitlines() or [f"exit status {process.returncode}"]
        fault = f"run {run} fails in a new process ({lines[-1]})"
        raise _error(problem, methods[0], "processes give the same numbers", fault, DEPENDS_ON_PROCESS)
    return pickle.loads(process.stdout)


def _compute(problem: Problem, methods: Sequence[Method], run: int) -> "list[pd.DataFrame]":
    with one_thread():
        return tables(problem, methods, [run])


def _is_importable(component: object) -> bool:
    cls = type(component)
    return not is_of_session(cls) and getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls


def _last_run(table: "pd.DataFrame") -> int:
    return int(table["run"].iloc[-1])


def _differing_columns(single_run: "pd.DataFrame", table: "pd.DataFrame") -> list[str]:
    in_table = table[table["run"] == _last_run(single_run)].reset_index(drop=True)
    return [str(name) for name in single_run if not single_run[name].equals(in_table[name])]


def _error(problem: Problem, method: Method, check: str, fault: str, remedy: str) -> ComponentError:
    classes: list[type] = list(map(type, foreign_components(problem, method)))
    names = ", ".join(map(class_name, classes))
    return ComponentError(f"{names} fails the check that {check}: {fault}. Remedy: {remedy}")
