"""An example of a schedule: the effective horizon grows by the same amount with each task."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.checks import CHECKED
from pomrl.science.gamma_schedules import GammaSchedule, TaskState


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class GrowingHorizon(GammaSchedule):
    """The effective horizon 1 / (1 - gamma_t) = 1 + growth t, with gamma_t cut to gamma_eval."""

    growth: Annotated[float, Field(ge=0, description="by how much the effective horizon grows with each task")]

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        gamma = 1.0 - 1.0 / (1.0 + self.growth * state.t)
        return np.full((len(state.alpha), 1), min(gamma, state.gamma_eval))
