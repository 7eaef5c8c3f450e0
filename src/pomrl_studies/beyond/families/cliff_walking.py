"""CliffWalking (Sutton and Barto 2018, Example 6.6), with the table of Gymnasium."""

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily
from pomrl_studies.beyond.families.gymnasium_tables import slipping, table

_SIDEWAYS = ((1, 3), (0, 2), (1, 3), (0, 2))
"""For each of the actions up, right, down and left, the two at a right angle to it."""


class CliffWalking(TaskFamily):
    """A walk along a cliff; the latent is the probability of slipping to one of the two sides.

    Each side is as likely as the other. A step pays -1, and a fall pays -100 and leads back to the start. The goal is
    never left and pays nothing.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 48, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        return slipping(table("CliffWalkingEnv"), latent, _SIDEWAYS)
