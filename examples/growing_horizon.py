"""An example of a schedule: the effective horizon grows linearly."""

import numpy as np
from jaxtyping import Float

from pomrl.components import Field, GammaSchedule, TaskState


class GrowingHorizon(GammaSchedule):
    """The effective horizon 1 / (1 - gamma_t) = 1 + growth t; gamma_t is at most gamma_eval."""

    growth: float = Field(ge=0, description="by how much the effective horizon grows with each task")

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        gamma = 1.0 - 1.0 / (1.0 + self.growth * state.t)
        return np.full((len(state.alpha), 1), min(gamma, state.gamma_eval))
