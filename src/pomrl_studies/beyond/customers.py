"""Batteries of customers with different tariffs."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Candidates, FiniteTasks

_LEVELS, _WEATHERS = 6, 2
"""Numbers of levels of charge, from empty to full, and of weathers with different prices."""

_PRIMES = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0])
"""Primes; multiples of their square roots, modulo 1, place a customer's parameters in their ranges."""

_LOWEST = np.array([0.5, 0.5, 0.5, 0.5, 0.1, 0.1, 0.6])
_HIGHEST = np.array([3.0, 3.0, 4.0, 4.0, 0.5, 0.5, 0.95])
"""The ranges of a customer's parameters: two buying prices, two selling prices, two probabilities of a change of
weather, and the efficiency.
"""

_STORAGE, _EMPTY = 0.1, 2.0
"""The cost of each level of charge in a period, and of a sale from an empty battery."""

_SELLS, _LEAKS = 0.9, 0.05
"""The probability of losing a level of charge by a sale, and by waiting."""


class Tariffs(FiniteTasks):
    """Batteries of customers with different prices, weather and efficiency.

    The state is charge * 2 + weather. Actions are to wait, to charge, and to sell. Charging adds a level with
    probability 0.6 to 0.95, the efficiency. Selling removes one with probability 0.9, waiting with 0.05. The weather
    changes independently with probability 0.1 to 0.5. Depending on the weather, buying costs 0.5 to 3 and a sale earns
    0.5 to 4. A level of charge costs 0.1 a period, and a sale from an empty battery 2.
    """

    customers: Annotated[int, Field(ge=2, le=10_000)] = 64
    """Number of customers; each task draws one uniformly."""
    prices_differ: bool = True
    """Whether customers have different prices. Otherwise all have the mean prices, and tasks share their rewards."""

    @property
    def size(self) -> tuple[int, int]:
        return _LEVELS * _WEATHERS, 3

    def candidate_models(self) -> Candidates:
        customer = np.arange(1, self.customers + 1)
        numbers = _LOWEST + (_HIGHEST - _LOWEST) * (customer[:, None] * np.sqrt(_PRIMES) % 1.0)
        prices = numbers[:, :4] if self.prices_differ else np.broadcast_to(numbers[:, :4].mean(0), (len(customer), 4))
        return Candidates(customer, self._models(numbers[:, 4:6], numbers[:, 6]), self._rewards(prices))

    def _models(self, change: Float[np.ndarray, "k 2"], efficiency: Float[np.ndarray, " k"]) -> np.ndarray:
        k, level, weather = len(change), np.arange(_LEVELS), np.arange(_WEATHERS)
        weathers = np.zeros((k, _WEATHERS, _WEATHERS))
        weathers[:, weather, weather] = 1.0 - change
        weathers[:, weather, 1 - weather] = change
        charges = np.zeros((k, _LEVELS, self.size[1], _LEVELS))
        for action, (step, chance) in enumerate([(-1, _LEAKS), (1, efficiency[:, None]), (-1, _SELLS)]):
            charges[:, level, action, level] += 1.0 - chance
            charges[:, level, action, np.clip(level + step, 0, _LEVELS - 1)] += chance
        S, A = self.size
        return np.einsum("klam,kwv->klwamv", charges, weathers).reshape(k, S, A, S)

    def _rewards(self, prices: Float[np.ndarray, "k 4"]) -> Float[np.ndarray, "k S A"]:
        level, weather = np.divmod(np.arange(self.size[0]), _WEATHERS)
        buy, sell = prices[:, :_WEATHERS][:, weather], prices[:, _WEATHERS:][:, weather]
        trade = np.stack([np.zeros_like(buy), -buy, np.where(level > 0, sell, -_EMPTY)], axis=-1)
        return trade - _STORAGE * level[:, None]
