"""The interface that every engine implements."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from pomrl.checks import Component, Engine

Item = TypeVar("Item")
Result = TypeVar("Result")


class ExecutionError(Exception):
    """The work cannot go on. The message is one line; results that were yielded before remain valid."""


class EngineUnavailableError(ExecutionError):
    """The engine cannot be reached, or does not accept the work. The message is one line."""


class MissingPackagesError(ImportError):
    """The packages of an engine are not installed. The message is one line that names the extra that has them."""


@dataclass(frozen=True)
class Failure:
    """Why an item has no result."""

    reason: str
    traceback: str


@dataclass(frozen=True)
class Work(Generic[Item]):
    """An item to compute, and how much work it is."""

    item: Item
    seconds: float
    """A rough estimate of the time that one process needs."""
    blocks: int = 1
    """The number of blocks that it consists of, each of which may take `block_timeout`."""


class Isolation(Enum):
    """What an item has to be kept away from, because it may kill the process that computes it."""

    NONE = "little work may be computed in the process that asks for it"
    PROCESS = "all items are computed in other processes than the one that asks for them"
    ALONE = "besides, no two items are computed at the same time, so that none can do another one harm"


BlockTimeout = Annotated[
    float | None,
    Field(gt=0, description="seconds that a block may take; null: 50 times the estimate, and at least 10 minutes"),
]


def time_limit(work: Work[Item], block_timeout: float | None) -> float:
    """Return the seconds after which an item is given up because it has frozen or never ends."""
    return max(600.0, 50 * work.seconds) if block_timeout is None else block_timeout * work.blocks


def too_long(limit: float) -> Failure:
    """Return the failure of an item that had not ended after `limit` seconds."""
    reason = f"it had not ended after {limit:g} s and was given up (execution.block_timeout)"
    return Failure(reason, reason)


class Execution(Component):
    """An engine: where work is computed, and with which resources."""

    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None
    engine: Annotated[
        Engine, Field(description="what solves small models; auto: the compiled engine where it was built, else NumPy")
    ] = "auto"

    @property
    def shares_outputs(self) -> bool:
        """Return whether workers write to the same folder of outputs as this process. Engines may override this."""
        return True

    @abstractmethod
    def capacity(self) -> int:
        """Return how many items can be computed at the same time, as far as this is known.

        Raises:
            ExecutionError: If the engine cannot be reached.
        """

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Apply a function to each item and yield the results in any order, each as soon as it is there.

        Args:
            function: What to compute. It has to be picklable, as have the items and the results.
            work: The items, which have to be independent of each other.
            isolation: What the items have to be kept away from.

        Yields:
            The index of an item and its result, or a `Failure` if the process that computed it died or took too long.

        Raises:
            ExecutionError: If there are no workers left, or they cannot be used.
            Exception: Whatever the function raises; it ends the work.
        """
