"""What every engine offers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, TypeVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class ExecutionError(Exception):
    """Work cannot go on; one line. What was done before is kept."""


class MissingPackagesError(ImportError):
    """The packages of an engine are not installed; one line that says which extra has them."""


@plain_dataclass(frozen=True)
class Failure:
    """Why there is no result."""

    reason: str
    traceback: str


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Execution(ABC):
    """Where blocks of runs are computed."""

    runs_at_a_time: Annotated[
        int | None, Field(ge=1, description="runs computed together; null: as many as fit into 256 MiB")
    ] = None

    @property
    @abstractmethod
    def shares_outputs(self) -> bool:
        """Whether workers write to the same folder of outputs as this process."""

    @abstractmethod
    def map_unordered(
        self, function: Callable[[Item], Outcome], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Outcome | Failure]]:
        """The index of each item and what the function gives, in any order, each as soon as it is there.

        seconds is a rough estimate of the work in one process. A Failure stands for an item that no worker survived.
        What the function raises is raised here and ends the work; ExecutionError where workers are gone.
        """
