"""Taxi (Dietterich 2000, Hierarchical reinforcement learning with the MAXQ value function), with Gymnasium's table."""

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily
from pomrl_studies.beyond.families.gymnasium_tables import slipping, table

_SIDEWAYS = ((2, 3), (2, 3), (0, 1), (0, 1), (), ())
"""For south, north, east and west the two actions at a right angle; passengers get in and out as they should."""


class Taxi(TaskFamily):
    """A taxi in a town; the latent is the rain, the probability that a move goes to one of the two sides.

    Each side is as likely as the other, and a move into a wall stays; Gymnasium's rainy town has a rain of 0.2. A step
    pays -1, a passenger who gets out where it should pays 20, and one who gets in or out elsewhere -10. An episode ends
    with the ride: its last state is never left and pays nothing.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 500, 6

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        of_town = table("TaxiEnv")
        P, _ = slipping(of_town, latent, _SIDEWAYS, blocked_slips=False)
        return P, np.where(of_town.terminal[:, None], 0.0, of_town.reward)
