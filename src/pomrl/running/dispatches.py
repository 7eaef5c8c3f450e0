"""Blocks are handed to an engine in dispatches, and divided again where a process dies or takes too long.

A dispatch is a few blocks that one call computes and stores together, because handing out and storing each small block
by itself would take longer than computing it. How blocks are grouped changes no byte of what is stored.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pomrl.checks import Engine
from pomrl.execution import Execution, Failure, Isolation, Work
from pomrl.running.blocks import Block, Value, store_tables
from pomrl.running.blocks import compute as compute_block
from pomrl.running.versions import require

MOST_BLOCKS = 12
"""The largest number of blocks in a dispatch."""

SECONDS = 1.0
"""Estimated seconds of work beyond which a dispatch gets no further block."""

DISPATCHES_PER_WORKER = 4
"""The number of dispatches that each worker should at least get, so that all of them are busy until the end."""

Dispatch = tuple[Block, ...]


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
        return store_tables(zip(dispatch, computed, strict=True)) if self.stores else computed


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


def compute(execution: Execution, worker: Worker, blocks: Sequence[Block]) -> Iterator[tuple[Block, list[Value]]]:
    """Compute and store blocks, and yield each with the outcomes of its methods as soon as they are there.

    Where a process dies or takes too long, the methods of the blocks that it was computing are tried once more, each by
    itself, so that only those fail which are the cause.

    Raises:
        ExecutionError: If the work cannot go on.
    """
    lost: list[Block] = []
    isolation = Isolation.PROCESS if any(block.is_foreign for block in blocks) else Isolation.NONE
    dispatches = group(blocks, execution.capacity()) if blocks else []
    for index, outcome in _map(execution, worker, dispatches, isolation):
        if isinstance(outcome, Failure):
            lost += dispatches[index]
        else:
            yield from zip(dispatches[index], outcome, strict=True)
    yield from _compute_apart(execution, worker, lost)


def _compute_apart(
    execution: Execution, worker: Worker, blocks: Sequence[Block]
) -> Iterator[tuple[Block, list[Value]]]:
    """Compute each method of blocks by itself, and yield each block with the outcomes of all its methods."""
    pieces = [(number, index) for number, block in enumerate(blocks) for index in range(len(block.methods))]
    alone = [(replace(blocks[number], methods=(blocks[number].methods[index],)),) for number, index in pieces]
    found: dict[int, dict[int, Value]] = defaultdict(dict)
    for piece, outcome in _map(execution, worker, alone, Isolation.ALONE):
        number, index = pieces[piece]
        block, values = blocks[number], found[number]
        values[index] = _of(block, outcome) if isinstance(outcome, Failure) else outcome[0][0]
        if len(values) == len(block.methods):
            yield block, [values[index] for index in sorted(values)]


def _of(block: Block, failure: Failure) -> Failure:
    """Return the failure with a reason that names the runs of the block."""
    runs = f"runs {block.runs.start} to {block.runs.stop - 1}"
    return replace(failure, reason=f"{runs}, tried twice: {failure.reason}")


def _map(
    execution: Execution, worker: Worker, dispatches: Sequence[Dispatch], isolation: Isolation
) -> Iterator[tuple[int, list[list[Value]] | Failure]]:
    """Yield the index of each dispatch with the outcomes of its blocks, tables stored, or a failure of its process."""
    work = [Work(dispatch, sum(map(_seconds, dispatch)), len(dispatch)) for dispatch in dispatches]
    for index, outcome in execution.map_unordered(worker, work, isolation) if work else ():
        if not (isinstance(outcome, Failure) or execution.shares_outputs):
            outcome = store_tables(zip(dispatches[index], outcome, strict=True))
        yield index, outcome
