"""FrozenLake, from Gymnasium (Towers et al. 2024)."""

from typing import Literal

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily
from pomrl_studies.beyond.families.gymnasium_tables import slipping, table

_SIDEWAYS = ((3, 1), (0, 2), (1, 3), (2, 0))
"""The two perpendicular actions of left, down, right and up."""


class FrozenLake(TaskFamily):
    """A walk over ice with holes; the latent is the probability of slipping sideways.

    Both sides are equally likely; the slippery lake of Gymnasium has a slip of 2/3. The goal pays 1. Goal and holes
    are absorbing.
    """

    map: Literal["4x4", "8x8"] = "4x4"
    """Name of the map in Gymnasium."""

    @property
    def size(self) -> tuple[int, int]:
        return (16 if self.map == "4x4" else 64), 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        return slipping(table("FrozenLakeEnv", map_name=self.map, is_slippery=False), latent, _SIDEWAYS)
