"""Blocks of runs, the unit of work: some runs of one problem by one or more methods, computed together and stored."""

# threadpoolctl comes without types.
# pyright: reportMissingTypeStubs=false

import random
import traceback
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl import store
from pomrl.checks import Engine
from pomrl.execution import Failure
from pomrl.running import costs
from pomrl.science.experiment import STACK_BYTES, Method, Problem, components, tables
from pomrl.science.solvers import compiled
from pomrl.store import StoredExperiment

MEMORY = 256 * 2**20
"""Bytes that the runs which are computed together may take, unless a number of runs is given."""


@dataclass(frozen=True)
class MethodOfBlock:
    """One method of a block, and where its table belongs."""

    method: Method
    stored: StoredExperiment
    replace: bool
    """Whether the table replaces the runs that are stored already."""
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
        return costs.seconds(self.problem, [each.method for each in self.methods], len(self.runs))

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


class Status(Enum):
    """A mark that a worker returns in place of a table that it has stored already."""

    STORED = "stored"


@dataclass(frozen=True)
class MethodResult:
    """The outcome of one method of a block: a table, or a failure."""

    method: MethodOfBlock
    value: pd.DataFrame | Status | Failure
    """The table; `Status.STORED` if the worker has stored it; or the failure because of which there is none."""


def compute(block: Block, runs_at_a_time: int | None = None, engine: Engine = "auto") -> list[MethodResult]:
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
            results = _compute_together(block, runs_at_a_time)
            return _compared(block, results, runs_at_a_time)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a component of somebody's own may even exit
        if len(block.methods) == 1:
            return [MethodResult(block.methods[0], Failure(f"{type(error).__name__}: {error}", traceback.format_exc()))]
        return [compute(replace(block, methods=(each,)), runs_at_a_time, engine)[0] for each in block.methods]


def runs_together(problem: Problem, methods: int, runs: int, asked: int | None) -> int:
    """Return how many runs of a block are computed together.

    Args:
        problem: The problem.
        methods: The number of methods that are applied to it.
        runs: The number of runs of the block.
        asked: How many runs are computed together at most, or None for as many as fit into `MEMORY`.
    """
    if asked is not None:
        return min(asked, runs)
    most = MEMORY // (problem.bytes_of_model * (4 + 2 * methods))
    if problem.copies > 1:  # the batches of a single task can be many
        most = min(most, STACK_BYTES // (problem.bytes_of_model * problem.copies))
    return int(np.clip(most, 1, runs))


def _compute_together(block: Block, runs_at_a_time: int | None) -> list[MethodResult]:
    problem, methods = block.problem, [each.method for each in block.methods]
    size = runs_together(problem, len(methods), len(block.runs), runs_at_a_time)
    chunks = [block.runs[i : i + size] for i in range(0, len(block.runs), size)]
    computed = [tables(problem, methods, chunk) for chunk in chunks]
    return [
        MethodResult(each, pd.concat([of_chunk[i] for of_chunk in computed], ignore_index=True))
        for i, each in enumerate(block.methods)
    ]


def _compared(block: Block, results: Sequence[MethodResult], runs_at_a_time: int | None) -> list[MethodResult]:
    """Return the results, with a failure in the place of each table that is not the same when it is computed again."""
    twice = tuple(each for each in block.methods if each.twice)
    if not twice:
        return list(results)
    with _other_global_state():
        again = {each.method.stored: each for each in _compute_together(replace(block, methods=twice), runs_at_a_time)}
    return [
        replace(result, value=_unrepeatable(block.problem, result.method.method))
        if result.method.stored in again and _bytes(result) != _bytes(again[result.method.stored])
        else result
        for result in results
    ]


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


def _bytes(result: MethodResult) -> bytes:
    assert isinstance(result.value, pd.DataFrame)
    return result.value.to_records(index=False).tobytes()


def _unrepeatable(problem: Problem, method: Method) -> Unrepeatable:
    names = ", ".join(type(component).__qualname__ for component in _foreign_components(problem, method))
    reason = (
        f"{names} does not depend on its arguments alone: the same block, computed twice, gave two tables; random "
        "numbers have to be drawn from the rng that a method is given, and not from NumPy's global state, and a result "
        "may not depend on the clock or on what is kept between calls"
    )
    return Unrepeatable(reason, reason)


def store_tables(computed: Iterable[tuple[Block, Sequence[MethodResult]]]) -> list[list[MethodResult]]:
    """Store the tables among the results of blocks, those of one experiment together.

    Returns:
        The results of each block, in which `Status.STORED` has taken the place of each table.
    """
    tables_of: dict[tuple[StoredExperiment, bool], list[tuple[range, pd.DataFrame]]] = defaultdict(list)
    without_tables: list[list[MethodResult]] = []
    for block, results in computed:
        for result in results:
            if isinstance(result.value, pd.DataFrame):
                tables_of[result.method.stored, result.method.replace].append((block.runs, result.value))
        without_tables.append([_without_table(result) for result in results])
    for (stored, replaces), of_stored in tables_of.items():
        store.add_blocks(stored, of_stored, replace=replaces)
        store.log(stored, "\n".join(f"stored runs {runs.start} to {runs.stop - 1}" for runs, _ in of_stored))
    return without_tables


def _without_table(result: MethodResult) -> MethodResult:
    return replace(result, value=Status.STORED) if isinstance(result.value, pd.DataFrame) else result
