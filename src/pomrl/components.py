"""Everything that the author of a component needs, in one place.

A component is a plain subclass of one of the base classes below, with annotated attributes as its fields: its keys in a
configuration. It is a frozen dataclass whose values are checked, without a decorator. `Field` gives a key a range and a
description:

    class Constant(GammaSchedule):
        gamma: float = Field(ge=0, lt=1, description="the discount factor")

        def select(self, state: TaskState) -> np.ndarray:
            return np.full((len(state.alpha), 1), self.gamma)

This module is a face: it only gathers names from the floors below it. Studies, components of one's own, examples and
tests import it, and nothing else does. The digest of a component's code covers the modules that define the names which
the component imports from here, and not those of all names.
"""

from typing import Any

from pydantic import Field, field_validator, model_validator

from pomrl.checks import Component, DataFile
from pomrl.science.data import Batch, Counts, Data
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.memory import Memory, Models, PerPair
from pomrl.science.estimators.regularised_least_squares import RegularisedLeastSquares
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.mdp import Rewards
from pomrl.science.meta_batches import MetaBatch
from pomrl.science.planners import Planner
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution, Tasks
from pomrl.science.tasks.families.family import Candidates, FiniteTasks, Latents, TaskFamily
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import TaskStream

__all__ = [
    "Batch",
    "Candidates",
    "Component",
    "Counts",
    "Data",
    "DataFile",
    "Estimator",
    "Field",
    "FiniteTasks",
    "GammaSchedule",
    "Latents",
    "MeanModel",
    "Memory",
    "MetaBatch",
    "Models",
    "PerPair",
    "Planner",
    "RandomChains",
    "RegularisedLeastSquares",
    "Rewards",
    "TaskDistribution",
    "TaskFamily",
    "TaskState",
    "TaskStream",
    "Tasks",
    "Truth",
    "field_validator",
    "model_validator",
]


def __getattr__(name: str) -> Any:
    if name == "CHECKED":
        raise ImportError("a component is a plain subclass now: leave out @dataclass(...) and the import of CHECKED")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
