"""Define the interface of engines."""

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
    """Report that the work cannot go on; results already yielded stay valid."""


class Execution(Component):
    """An engine: where calls are made, and with which resources."""

    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None

    def at_once(self, seconds: float) -> int:
        """Return the number of concurrent calls for such work, if known."""
        return os.cpu_count() or 1

    @abstractmethod
    def parallel(self, seconds: float) -> AbstractContextManager[Parallel]:
        """Return a context whose value makes picklable, independent calls in parallel.

        `seconds` is a rough estimate for all calls in one process. In the context, ExecutionError is raised if a
        process ends, or workers are missing or unsuitable; whatever a call raises ends the work.
        """
