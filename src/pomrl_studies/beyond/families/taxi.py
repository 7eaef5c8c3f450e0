"""Taxi (Dietterich 2000, Hierarchical reinforcement learning with the MAXQ value function), from Gymnasium."""

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily
from pomrl_studies.beyond.families.gymnasium_tables import slipping, table

_SIDEWAYS = ((2, 3), (2, 3), (0, 1), (0, 1), (), ())
"""The two perpendicular actions of south, north, east and west; pick-up and drop-off never slip."""


class Taxi(TaskFamily):
    """A taxi in a town; the latent is the rain, the probability of slipping sideways.

    Both sides are equally likely; moves into walls stay. The rainy town of Gymnasium has a rain of 0.2. A step pays -1,
    a drop-off at the destination 20, and a pick-up or drop-off elsewhere -10. The last state of a ride is absorbing and
    pays nothing.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 500, 6

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        town = table("TaxiEnv")
        P, _ = slipping(town, latent, _SIDEWAYS, blocked_slips=False)
        return P, np.where(town.terminal[:, None], 0.0, town.reward)
