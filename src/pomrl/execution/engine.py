"""The interface that every engine implements."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any

from pydantic import Field

from pomrl.base import Component

Calls = Iterable[tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]]
"""Calls of functions with their arguments, as `joblib.delayed` makes them."""

Parallel = Callable[[Calls], Iterator[Any]]
"""A function that makes calls, and yields their results in any order, each as soon as it is there."""


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
    def parallel(self, seconds: float) -> AbstractContextManager[Parallel]:
        """Return a context whose value makes calls in parallel: what `joblib.Parallel` is on this machine.

        The calls are those of `joblib.delayed`. They must be picklable and independent of each other.

        Args:
            seconds: A rough estimate of the time that one process needs for all of them.

        Raises:
            ExecutionError: In the context: a process ends while it computes, or there are no workers, or other ones.
            Exception: In the context: whatever a call raises; it ends the work.
        """
