"""Machine replacement (cf. Puterman 1994, Markov Decision Processes)."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Latents, Rewards, TaskFamily

_INCOME, _NEW_MACHINE = 10.0, 20.0
"""The income of a new machine in a period, and its price."""


class MachineReplacement(TaskFamily):
    """A machine under wear; the latent is the probability of each of two possible steps of wear a period.

    The state is the wear, from 0 for a new machine. Action 0 keeps the machine; its wear grows by 0 to 2 states, up to
    the worst. Action 1 buys a new one for 20, which works in the same period. A machine in state s earns 10 - s.
    """

    states: Annotated[int, Field(ge=2, le=1000)] = 10
    """Number of states of the machine."""

    @property
    def size(self) -> tuple[int, int]:
        return self.states, 2

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S = self.states
        state = np.arange(S)
        P = np.zeros((len(latent), S, 2, S))
        for worse, chance in enumerate([(1.0 - latent) ** 2, 2.0 * latent * (1.0 - latent), latent**2]):
            P[:, state, 0, np.minimum(state + worse, S - 1)] += chance[:, None]
        P[:, :, 1] = P[:, :1, 0]
        R = np.stack([_INCOME - state, np.full(S, _INCOME - _NEW_MACHINE)], axis=1)
        return P, R
