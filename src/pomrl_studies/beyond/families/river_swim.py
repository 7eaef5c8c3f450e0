"""RiverSwim (Strehl and Littman 2008, Model-based interval estimation for MDPs)."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Latents, Rewards, TaskFamily

_STAY = 0.6
"""The probability of staying while swimming upstream; current and progress share the rest."""


class RiverSwim(TaskFamily):
    """A swimmer in a river; the latent is the current, the probability of drifting back while swimming upstream.

    States are places along the river. Action 0 goes one place downstream. Action 1 swims upstream: it stays with
    probability 0.6, and succeeds with probability 0.4 minus the current. At the lower end action 0 pays 5, at the upper
    end action 1 pays 10,000.
    """

    domain: ClassVar[tuple[float, float]] = (0.0, 0.4)

    places: Annotated[int, Field(ge=2, le=1000)] = 6
    """Number of places along the river, the states."""

    @property
    def size(self) -> tuple[int, int]:
        return self.places, 2

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S, k = self.places, len(latent)
        state = np.arange(S)
        below, above = np.maximum(state - 1, 0), np.minimum(state + 1, S - 1)
        P, R = np.zeros((k, S, 2, S)), np.zeros((S, 2))
        P[:, state, 0, below] = 1.0
        for where, chance in ((below, latent), (state, np.full(k, _STAY)), (above, 1.0 - _STAY - latent)):
            P[:, state, 1, where] += chance[:, None]
        R[0, 0], R[-1, 1] = 5.0, 10_000.0
        return P, R
