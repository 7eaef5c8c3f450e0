"""A schedule of one's own: an effective horizon that grows by the same amount with each task."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.gamma_schedules import GammaSchedule, PerRun


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class GrowingHorizon(GammaSchedule):
    """1 / (1 - gamma_t) = 1 + growth t, cut to gamma_eval."""

    growth: Annotated[float, Field(ge=0, description="by how much the effective horizon grows with each task")]

    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n 1"]:
        gamma = 1.0 - 1.0 / (1.0 + self.growth * t)
        return np.full((len(alpha), 1), min(gamma, gamma_eval))
