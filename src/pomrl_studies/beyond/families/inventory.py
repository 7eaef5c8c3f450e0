"""Inventory control with lost sales (cf. Puterman 1994, Markov Decision Processes, Sec. 3.2)."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field
from scipy.stats import poisson

from pomrl.components import Latents, Rewards, TaskFamily

_PRICE, _UNIT_COST, _ORDER_COST, _HOLDING_COST = 8.0, 2.0, 4.0, 1.0
"""The price and the cost of a unit, the fixed cost of an order, and the cost of holding a unit for a period."""


class Inventory(TaskFamily):
    """A shop with random demand; the latent is the mean demand in a period, as a share of capacity.

    The state is the stock. Action a orders a units, at most up to capacity, with immediate delivery. Demand is Poisson;
    unmet demand is lost. A unit sells for 8 and costs 2, an order costs 4, and holding a unit after ordering costs 1 a
    period. Rewards depend on the next state, which determines the sales.
    """

    domain: ClassVar[tuple[float, float]] = (0.0, 10.0)

    capacity: Annotated[int, Field(ge=1, le=1000)] = 10
    """The largest stock, in units."""
    largest_order: Annotated[int, Field(ge=1, le=1000)] = 5
    """The largest order, in units."""

    @property
    def size(self) -> tuple[int, int]:
        return self.capacity + 1, self.largest_order + 1

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S, A = self.size
        stock, order = np.arange(S)[:, None], np.arange(A)
        delivered = np.minimum(order, self.capacity - stock)
        available = stock + delivered
        sold = available[..., None] - np.arange(S)
        demand = self.capacity * latent[:, None, None, None]
        P = np.where(sold >= 0, poisson.pmf(np.maximum(sold, 0), demand), 0.0)
        P[..., 0] = poisson.sf(available - 1, demand[..., 0])  # demand is at least the available stock
        cost = _UNIT_COST * delivered + _ORDER_COST * (delivered > 0) + _HOLDING_COST * available
        R = _PRICE * np.maximum(sold, 0) - cost[..., None]
        return P, R
