"""Forest management (`forest` in the MDP toolbox, Chadès et al. 2014)."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Latents, Rewards, TaskFamily


class Forest(TaskFamily):
    """A growing forest; the latent is the yearly probability of a fire.

    The state is the age class. Action 0 waits: the forest burns down to age 0, or grows by a class up to the oldest.
    Action 1 cuts it down. Waiting pays 4 in the oldest class. Cutting pays 2 there, 0 at age 0 and otherwise 1.
    """

    ages: Annotated[int, Field(ge=2, le=1000)] = 10
    """Number of age classes."""

    @property
    def size(self) -> tuple[int, int]:
        return self.ages, 2

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S = self.ages
        age = np.arange(S)
        P, R = np.zeros((len(latent), S, 2, S)), np.zeros((S, 2))
        P[:, :, 0, 0] = latent[:, None]
        P[:, age, 0, np.minimum(age + 1, S - 1)] = 1.0 - latent[:, None]
        P[:, :, 1, 0] = 1.0
        R[1:, 1] = 1.0
        R[-1] = 4.0, 2.0
        return P, R
