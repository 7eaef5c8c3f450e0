"""A discrete-time queue with controlled service (cf. Puterman 1994, Markov Decision Processes)."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Latents, Rewards, TaskFamily

_SERVICE = np.array([0.2, 0.5, 0.8])
"""The probability that a service ends in a slot, at each rate."""

_COST = np.array([0.0, 1.0, 4.0])
"""The cost of each rate in a slot; each customer costs 1."""


class Queue(TaskFamily):
    """A queue with a server; the latent is the load, the probability of an arrival in a slot.

    The state is the number of customers, at most `room`; arrivals at a full room are lost. Actions are service rates: a
    customer leaves with probability 0.2, 0.5 or 0.8, independently of arrivals, at a cost of 0, 1 or 4. Each customer
    costs 1 a slot, so rewards are at most 0.
    """

    room: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """The largest number of customers."""

    @property
    def size(self) -> tuple[int, int]:
        return self.room + 1, len(_SERVICE)

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S, A = self.size
        P = np.zeros((len(latent), S, A, S))
        customers = np.arange(S)[:, None]
        leaves = np.where(customers > 0, _SERVICE, 0.0)
        arrives = latent[:, None, None]
        state, action = np.indices((S, A))
        P[:, state, action, np.maximum(state - 1, 0)] += (1.0 - arrives) * leaves
        P[:, state, action, state] += arrives * leaves + (1.0 - arrives) * (1.0 - leaves)
        P[:, state, action, np.minimum(state + 1, S - 1)] += arrives * (1.0 - leaves)
        return P, -(customers + _COST)
