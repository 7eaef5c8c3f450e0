"""Define the interface of execution engines."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any

from pydantic import Field

from pomrl.base import Component

Calls = Iterable[tuple[Callable[..., Any], Sequence[Any], Mapping[str, Any]]]
"""Functions with positional and keyword arguments, as in `joblib.delayed`."""

Parallel = Callable[[Calls], Iterator[Any]]
"""A function that makes calls, and yields each result as soon as it is available, in any order."""


class ExecutionError(Exception):
    """A fatal error of the work; results already yielded stay valid."""


class Execution(Component):
    """An engine for calls, with its resources."""

    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None

    def at_once(self, seconds: float) -> int:
        """Return the expected number of concurrent calls."""
        return os.cpu_count() or 1

    @abstractmethod
    def parallel(self, seconds: float) -> AbstractContextManager[Parallel]:
        """Return a context whose value makes picklable, independent calls in parallel.

        `seconds` is a rough estimate for all calls in one process. ExecutionError is raised if a process ends, or
        workers are missing or unsuitable. Any exception of a call ends the work.
        """
