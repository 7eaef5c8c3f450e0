"""Blocks of runs, the unit of work: some runs of one problem by one or more methods, computed together and stored."""

# threadpoolctl comes without types.
# pyright: reportMissingTypeStubs=false

import random
import traceback
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl import store
from pomrl.checks import Engine
from pomrl.execution import Failure
from pomrl.execution.children import can_be_interrupted
from pomrl.running import cpu_time
from pomrl.science.drawn_tasks import STACK_BYTES
from pomrl.science.experiment import tables
from pomrl.science.problem import Method, Problem, components
from pomrl.science.solvers import compiled
from pomrl.store import StoredExperiment

MEMORY = 256 * 2**20
"""Bytes that the runs which are computed together may take, unless a number of runs is given."""


@dataclass(frozen=True)
class MethodOfBlock:
    """One method of a block, and where its table belongs."""

    method: Method
    stored: StoredExperiment
    twice: bool = False
    """Whether the table is computed twice, to see whether it is the same."""


@dataclass(frozen=True)
class Block:
    """Runs of one problem, and the methods that are applied to them. It may travel to another machine."""

    problem: Problem
    runs: range
    methods: tuple[MethodOfBlock, ...]

    @property
    def seconds(self) -> float:
        """A rough estimate of the time to compute the block in one process."""
        return cpu_time.seconds(self.problem, [each.method for each in self.methods], len(self.runs))

    @property
    def is_foreign(self) -> bool:
        """Return whether the block has a component that is not of this package."""
        return any(is_foreign(self.problem, each.method) for each in self.methods)

    @property
    def is_computed_twice(self) -> bool:
        """Return whether the table of any method of the block is computed twice."""
        return any(each.twice for each in self.methods)


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether a component of an experiment is not of this package."""
    return bool(_foreign_components(problem, method))


def _foreign_components(problem: Problem, method: Method) -> list[object]:
    parts = components(problem, method).values()
    return [component for component in parts if type(component).__module__.partition(".")[0] != "pomrl"]


@dataclass(frozen=True)
class Unrepeatable(Failure):
    """Why the tables of a method are not stored at all: the same computation gives other numbers each time."""


Value: TypeAlias = "pd.DataFrame | Failure | None"
"""The outcome of one method of a block: its table, None if this is stored already, or why there is none."""


def compute(block: Block, runs_at_a_time: int | None = None, engine: Engine = "auto") -> list[Value]:
    """Compute the table of each method of a block.

    BLAS gets one thread: blocks are the only level of parallelism, and its number of threads can change bits.

    Args:
        block: The runs and the methods.
        runs_at_a_time: How many runs are computed together; by default as many as fit into `MEMORY`. It changes no bit.
        engine: What solves small models. It changes no bit.

    Returns:
        A table or a failure for each method of the block, in their order. If one fails, the others are not affected.
    """
    try:
        with threadpool_limits(limits=1, user_api="blas"), compiled.using(engine):
            return _compared(block, _compute_together(block, runs_at_a_time), runs_at_a_time)
    except BaseException as error:  # a component of somebody's own may even exit
        if isinstance(error, KeyboardInterrupt) and can_be_interrupted():
            raise
        if len(block.methods) == 1:
            return [Failure(f"{type(error).__name__}: {error}", traceback.format_exc())]
        return [compute(replace(block, methods=(each,)), runs_at_a_time, engine)[0] for each in block.methods]


def runs_together(problem: Problem, methods: Sequence[Method], runs: int, asked: int | None) -> int:
    """Return how many runs of a block are computed together.

    Args:
        problem: The problem.
        methods: The methods that are applied to it.
        runs: The number of runs of the block.
        asked: How many runs are computed together at most, or None for as many as fit into `MEMORY`.
    """
    if asked is not None:
        return min(asked, runs)
    most = MEMORY // (problem.bytes_of_model * (4 + 2 * len(methods) + models_held(problem, methods)))
    if problem.copies > 1:  # the batches of a single task can be many
        most = min(most, STACK_BYTES // (problem.bytes_of_model * problem.copies))
    return int(np.clip(most, 1, runs))


def models_held(problem: Problem, methods: Sequence[Method]) -> int:
    """Return how many arrays of the size of a model the estimators of methods take in each run, beyond a few."""
    visits = problem.data.most_visits(problem.m)
    return problem.copies * sum(each.estimator.models_held(visits) for each in methods)


def _compute_together(block: Block, runs_at_a_time: int | None) -> "list[pd.DataFrame]":
    problem, methods = block.problem, [each.method for each in block.methods]
    size = runs_together(problem, methods, len(block.runs), runs_at_a_time)
    computed = [tables(problem, methods, block.runs[i : i + size]) for i in range(0, len(block.runs), size)]
    return [pd.concat(of_method, ignore_index=True) for of_method in zip(*computed, strict=True)]


def _compared(block: Block, tables: "Sequence[pd.DataFrame]", runs_at_a_time: int | None) -> list[Value]:
    """Return the tables, with a failure in the place of each that is not the same when it is computed again."""
    twice = [index for index, each in enumerate(block.methods) if each.twice]
    compared: list[Value] = list(tables)
    if twice:
        again = replace(block, methods=tuple(block.methods[index] for index in twice))
        with _other_global_state():
            recomputed = _compute_together(again, runs_at_a_time)
        for index, table in zip(twice, recomputed, strict=True):
            if _bytes(table) != _bytes(tables[index]):
                where = _first_difference(table, tables[index])
                compared[index] = _unrepeatable(block.problem, block.methods[index].method, where)
    return compared


@contextmanager
def _other_global_state() -> Generator[None, None, None]:
    """Give the global generators of NumPy and Python another state than they have, for a while."""
    kept, kept_by_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002, components of others may use it
    random.seed(random.random())
    np.random.seed(random.getrandbits(32))  # noqa: NPY002, the state that such components would draw from
    try:
        yield
    finally:
        random.setstate(kept)
        np.random.set_state(kept_by_numpy)  # noqa: NPY002


def _bytes(table: "pd.DataFrame") -> bytes:
    return table.to_records(index=False).tobytes()


def _first_difference(table: "pd.DataFrame", other: "pd.DataFrame") -> str:
    """Return the run and the task of the first row in which two tables differ."""
    differs = (table.to_numpy() != other.to_numpy()) & ~(table.isna() & other.isna()).to_numpy()
    run, task = table.loc[int(differs.any(1).argmax()), ["run", "task"]].astype(int)
    return f"run {run}, task {task}"


def _unrepeatable(problem: Problem, method: Method, where: str) -> Unrepeatable:
    names = ", ".join(type(component).__qualname__ for component in _foreign_components(problem, method))
    reason = (
        f"{names} does not depend on its arguments alone: the same block, computed twice, gave two tables, which "
        f"differ first in {where}; random numbers have to be drawn from the rng that a method is given, and not from "
        "NumPy's global state, and a result may not depend on the clock or on what is kept between calls"
    )
    return Unrepeatable(reason, reason)


def store_tables(computed: Iterable[tuple[Block, Sequence[Value]]]) -> list[list[Value]]:
    """Store the tables of blocks, those of one experiment together.

    Returns:
        The outcomes of each block, in which None has taken the place of each table.
    """
    tables_of: dict[StoredExperiment, list[tuple[range, pd.DataFrame]]] = defaultdict(list)
    without_tables: list[list[Value]] = []
    for block, values in computed:
        for method, value in zip(block.methods, values, strict=True):
            if isinstance(value, pd.DataFrame):
                tables_of[method.stored].append((block.runs, value))
        without_tables.append([None if isinstance(value, pd.DataFrame) else value for value in values])
    for stored, of_stored in tables_of.items():
        store.add_blocks(stored, of_stored)
        store.log(stored, "\n".join(f"stored runs {runs.start} to {runs.stop - 1}" for runs, _ in of_stored))
    return without_tables
