"""Blocks are handed to an engine in dispatches, and divided again where a process dies or takes too long.

A dispatch is a few blocks that one call computes and stores together, because handing out and storing each small block
by itself would take longer than computing it. How blocks are grouped changes no byte of what is stored.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from pomrl.checks import Engine
from pomrl.execution import Execution, Failure, Isolation, Work
from pomrl.running.blocks import Block, MethodResult, Status, store_tables
from pomrl.running.blocks import compute as compute_block
from pomrl.running.versions import require
from pomrl.science.experiment import Problem

MOST_BLOCKS = 12
"""The largest number of blocks in a dispatch."""

SECONDS = 1.0
"""Estimated seconds of work beyond which a dispatch gets no further block."""

DISPATCHES_PER_WORKER = 4
"""The number of dispatches that each worker should at least get, so that all of them are busy until the end."""

Dispatch = tuple[Block, ...]

Value = pd.DataFrame | Status | Failure
"""What became of a method of a block."""


@dataclass(frozen=True)
class Worker:
    """The function that an engine applies to dispatches: it computes blocks and, where it can, stores the tables."""

    versions: Mapping[str, str]
    """The versions of packages and code that the worker has to have."""
    components: tuple[str, ...]
    runs_at_a_time: int | None
    engine: Engine
    stores: bool
    """Whether workers see the folder of outputs."""

    def __call__(self, dispatch: Dispatch) -> list[list[Value]]:
        """Return, for each block, what became of each of its methods.

        Raises:
            ExecutionError: The versions of packages or code differ from those of the calling process.
        """
        require(self.versions, self.components, self.engine)
        computed = [compute_block(block, self.runs_at_a_time, self.engine) for block in dispatch]
        results = store_tables(zip(dispatch, computed, strict=True)) if self.stores else computed
        return [[result.value for result in of_block] for of_block in results]


def group(blocks: Sequence[Block], capacity: int) -> list[Dispatch]:
    """Group blocks into dispatches of about `SECONDS` of work each.

    Args:
        blocks: The blocks, of which neighbours are grouped.
        capacity: The number of dispatches that can be computed at the same time.
    """
    most = min(MOST_BLOCKS, max(1, len(blocks) // (DISPATCHES_PER_WORKER * capacity)))
    dispatches: list[list[Block]] = [[]]
    for block in blocks:
        if len(dispatches[-1]) == most or sum(map(_seconds, dispatches[-1])) >= SECONDS:
            dispatches.append([])
        dispatches[-1].append(block)
    return [tuple(dispatch) for dispatch in dispatches if dispatch]


def _seconds(block: Block) -> float:
    """Return an estimate of the time of a block, of which little is known if it has components that are not ours."""
    return max(block.seconds, SECONDS) if block.is_foreign else block.seconds


def compute(
    execution: Execution, worker: Worker, blocks: Sequence[Block]
) -> Iterator[tuple[Block, list[MethodResult]]]:
    """Compute and store blocks, and yield each with the results of its methods as soon as they are there.

    Where a process dies or takes too long, the methods of the blocks that it was computing are tried once more, each by
    itself, so that only those fail which are the cause.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    lost: list[Block] = []
    isolation = Isolation.PROCESS if any(block.is_foreign for block in blocks) else Isolation.NONE
    for dispatch, outcome in _map(execution, worker, group(blocks, execution.capacity()) if blocks else [], isolation):
        if isinstance(outcome, Failure):
            lost += dispatch
        else:
            yield from zip(dispatch, outcome, strict=True)
    yield from _compute_apart(execution, worker, lost)


def _compute_apart(
    execution: Execution, worker: Worker, blocks: Sequence[Block]
) -> Iterator[tuple[Block, list[MethodResult]]]:
    """Compute each method of blocks by itself, and yield each block with the results of all its methods."""
    whole = {(block.problem, block.runs): block for block in blocks}
    found: dict[tuple[Problem, range], list[MethodResult]] = defaultdict(list)
    pieces = [(replace(block, methods=(method,)),) for block in blocks for method in block.methods]
    for (piece,), outcome in _map(execution, worker, pieces, Isolation.ALONE):
        key = (piece.problem, piece.runs)
        failed = isinstance(outcome, Failure)
        found[key] += [MethodResult(piece.methods[0], _of(piece, outcome))] if failed else outcome[0]
        if len(found[key]) == len(whole[key].methods):
            yield whole[key], found.pop(key)


def _of(block: Block, failure: Failure) -> Failure:
    """Return the failure with a reason that names the runs of the block."""
    runs = f"runs {block.runs.start} to {block.runs.stop - 1}"
    return replace(failure, reason=f"{runs}, tried twice: {failure.reason}")


def _map(
    execution: Execution, worker: Worker, dispatches: Sequence[Dispatch], isolation: Isolation
) -> Iterator[tuple[Dispatch, list[list[MethodResult]] | Failure]]:
    """Yield each dispatch with the results of its blocks, whose tables are stored, or with a failure of its process."""
    work = [Work(dispatch, sum(map(_seconds, dispatch)), len(dispatch)) for dispatch in dispatches]
    if not work:
        return
    for index, outcome in execution.map_unordered(worker, work, isolation):
        dispatch = dispatches[index]
        if isinstance(outcome, Failure):
            yield dispatch, outcome
        else:
            results = [_named(block, values) for block, values in zip(dispatch, outcome, strict=True)]
            yield dispatch, results if execution.shares_outputs else store_tables(zip(dispatch, results, strict=True))


def _named(block: Block, values: Sequence[Value]) -> list[MethodResult]:
    return [MethodResult(method, value) for method, value in zip(block.methods, values, strict=True)]
