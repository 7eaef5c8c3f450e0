"""CliffWalking (Sutton and Barto 2018, Example 6.6), from Gymnasium."""

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily
from pomrl_studies.beyond.families.gymnasium_tables import slipping, table

_SIDEWAYS = ((1, 3), (0, 2), (1, 3), (0, 2))
"""The two perpendicular actions of up, right, down and left."""


class CliffWalking(TaskFamily):
    """A walk along a cliff; the latent is the probability of slipping sideways.

    Both sides are equally likely. A step pays -1; a fall pays -100 and leads to the start. The goal is absorbing and
    pays nothing.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 48, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        return slipping(table("CliffWalkingEnv"), latent, _SIDEWAYS)
