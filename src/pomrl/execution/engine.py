"""The interface that every engine implements."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, TypeVar

from pydantic import Field

from pomrl.checks import Component

Item = TypeVar("Item")
Result = TypeVar("Result")


class ExecutionError(Exception):
    """The work cannot go on. The message is one line; results that were yielded before remain valid."""


class Execution(Component):
    """An engine: where work is computed, and with which resources."""

    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None

    def at_once(self, seconds: float) -> int:
        """Return how many items of work that takes so many seconds are computed at a time, as far as that is known."""
        return os.cpu_count() or 1

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Item], Result], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Result]]:
        """Apply a function to each item and yield the results in any order, each as soon as it is there.

        BLAS has one thread in the function (`parallel.one_thread`).

        Args:
            function: What to compute. It has to be picklable, as have the items and the results.
            items: The items, which have to be independent of each other.
            seconds: A rough estimate of the time that one process needs for all of them.

        Yields:
            The index of an item and its result.

        Raises:
            ExecutionError: If a process ends while it computes, there are no workers left, or they cannot be used.
            Exception: Whatever the function raises; it ends the work.
        """
