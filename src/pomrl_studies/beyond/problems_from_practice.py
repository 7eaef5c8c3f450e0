"""Maintenance, promotions and triage: families written without knowledge of `tied_rows`."""

from typing import Annotated

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field

from pomrl.components import Latents, Rewards, TaskFamily

_NEW_MACHINE_INCOME = 10.0
"""Income of a new machine in a period; a machine with the share x of full wear earns the fraction 1 - x^2."""

_CALL_OUT, _REPAIR, _REPLACEMENT = 8.0, 6.0, 16.0
"""The costs of calling the crew, of a repair, and of replacing a failed machine."""

_REPAIRS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
"""Whether each action repairs the first and the second machine."""


class Maintenance(TaskFamily):
    """Two machines and a repair crew; the latent is the probability of wear of a machine in a period.

    The state is w1 * classes + w2, the wear of both machines from 0 (new) to failed. Actions run both machines (0), or
    repair the first (1), the second (2) or both (3). Each running machine independently gets a class worse with the
    probability of wear. A repaired one is new in the next period. A running machine earns 10 (1 - (w / (classes -
    1))^2). Calling the crew costs 8, and each repair 6, or 16 after a failure (cf. Dekker, Wildeman and van der Duyn
    Schouten 1997, A review of multi-component maintenance models with economic dependence).
    """

    classes: Annotated[int, Field(ge=2, le=30)] = 6
    """Number of classes of wear of a machine, including new and failed."""

    @property
    def size(self) -> tuple[int, int]:
        return self.classes**2, len(_REPAIRS)

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        W = self.classes
        wear = np.arange(W)
        machine = np.zeros((2, len(latent), W, W))  # a running and a repaired machine
        machine[0, :, wear, wear] += 1.0 - latent
        machine[0, :, wear, np.minimum(wear + 1, W - 1)] += latent
        machine[1, :, :, 0] = 1.0
        runs = _NEW_MACHINE_INCOME * (1.0 - (wear / (W - 1)) ** 2)
        repaired = -np.where(wear < W - 1, _REPAIR, _REPLACEMENT)
        earned = np.stack([runs, repaired])

        first, second = _REPAIRS.astype(np.intp).T
        S, A = self.size
        P = np.einsum("akij,akmn->kimajn", machine[first], machine[second]).reshape(len(latent), S, A, S)
        R = (earned[first][:, :, None] + earned[second][:, None, :]).reshape(A, S).T
        return P, R - _CALL_OUT * _REPAIRS.any(1)


_SEASON_FACTORS = np.array([0.7, 1.0, 0.8, 1.5])
"""Relative sales in winter, spring, summer and autumn."""

_STRANGERS, _LOYAL = 4.0, 4.0
"""Hundreds of sales in a quarter of season factor 1: without goodwill, and added at the highest goodwill."""

_EARNINGS_PER_SALE = np.array([1.0, 0.75, 0.4])
"""Earnings per sale without a promotion, with a small and with a large discount."""

_SALES_FACTORS = np.array([1.0, 1.1, 1.3])
"""Relative sales in the quarter of a promotion."""

_RESPONSE_FACTORS = np.array([0.0, 0.6, 1.0])
"""The probability that each promotion raises goodwill, relative to the latent."""

_FORGETTING_PROBABILITY = 0.25
"""The probability that goodwill falls by a level in a quarter."""


class Promotions(TaskFamily):
    """A shop with promotions; the latent is the response, the probability of more goodwill after a large discount.

    The state is goodwill * 4 + quarter, from winter to autumn in cycles. Actions are no promotion, a small discount and
    a large one. A large discount raises goodwill by a level with the probability of the response, a small one with 0.6
    times this probability. Independently, goodwill falls by a level with probability 0.25 (cf. Nerlove and Arrow 1962,
    Optimal advertising policy under dynamic conditions). Sales are 4 to 8, linear in goodwill. The season multiplies
    them by 0.7, 1, 0.8 or 1.5, and the promotion by 1, 1.1 or 1.3. Each sale earns 1, 0.75 or 0.4.
    """

    levels: Annotated[int, Field(ge=2, le=200)] = 8
    """Number of levels of goodwill."""

    @property
    def size(self) -> tuple[int, int]:
        return self.levels * len(_SEASON_FACTORS), len(_EARNINGS_PER_SALE)

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S, A = self.size
        goodwill, quarter = np.divmod(np.arange(S), len(_SEASON_FACTORS))
        after = (quarter + 1) % len(_SEASON_FACTORS)
        rises = latent[:, None] * _RESPONSE_FACTORS
        P = np.zeros((len(latent), S, A, S))
        for step, chance in [
            (-1, (1.0 - rises) * _FORGETTING_PROBABILITY),
            (0, rises * _FORGETTING_PROBABILITY + (1.0 - rises) * (1.0 - _FORGETTING_PROBABILITY)),
            (1, rises * (1.0 - _FORGETTING_PROBABILITY)),
        ]:
            for s, level in enumerate(np.clip(goodwill + step, 0, self.levels - 1)):
                P[:, s, :, level * len(_SEASON_FACTORS) + after[s]] += chance
        sales = _SEASON_FACTORS[quarter] * (_STRANGERS + _LOYAL * goodwill / (self.levels - 1))
        return P, sales[:, None] * (_SALES_FACTORS * _EARNINGS_PER_SALE)


_RECOVERY_PROBABILITIES = np.array([0.4, 0.8])
"""The probability that the treatment of a severe and of a mild case ends in a slot."""

_SEVERE_SHARE = 0.3
"""The share of severe cases among arrivals."""

_WORSENING_PROBABILITY = 0.03
"""The probability that a waiting mild case becomes severe in a slot; at most one does."""

_CASE_COSTS = np.array([3.0, 1.0])
"""The cost of a severe and of a mild case in a slot."""

_SECOND_TEAM_COST = 16.0
"""The cost of a second team in a slot."""


class Triage(TaskFamily):
    """An emergency department with two rooms; the latent is the load, the probability of an arrival in a slot.

    The state is severe * (mild_room + 1) + mild, the numbers of cases. Actions are to treat a severe case, to treat a
    mild case, and to call a second team and treat one of each. In a slot, a treated severe case first leaves with
    probability 0.4 and a mild one with 0.8. Then one of m mild cases becomes severe with probability 0.03 m, if there
    is room. Then a patient may arrive, severe with probability 0.3; a full room rejects patients. A severe case costs 3
    and a mild case 1 a slot, and the second team 16 (cf. Argon and Ziya 2009, Priority assignment under imperfect
    information on customer type identities).
    """

    severe_room: Annotated[int, Field(ge=1, le=30)] = 5
    """The largest number of severe cases."""
    mild_room: Annotated[int, Field(ge=1, le=30)] = 6
    """The largest number of mild cases."""

    @property
    def size(self) -> tuple[int, int]:
        return (self.severe_room + 1) * (self.mild_room + 1), 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        S, A = self.size
        severe, mild = np.divmod(np.arange(S), self.mild_room + 1)
        severe_leaves = self._moves(_RECOVERY_PROBABILITIES[0] * (severe > 0), severe - 1, mild)
        mild_leaves = self._moves(_RECOVERY_PROBABILITIES[1] * (mild > 0), severe, mild - 1)
        treatment = np.stack([severe_leaves, mild_leaves, severe_leaves @ mild_leaves])
        can_worsen = (mild > 0) & (severe < self.severe_room)
        worsening = self._moves(np.minimum(_WORSENING_PROBABILITY * mild, 1.0) * can_worsen, severe + 1, mild - 1)
        severe_arrives = self._moves(1.0 * (severe < self.severe_room), severe + 1, mild)
        mild_arrives = self._moves(1.0 * (mild < self.mild_room), severe, mild + 1)
        arrives = _SEVERE_SHARE * severe_arrives + (1.0 - _SEVERE_SHARE) * mild_arrives
        load = latent[:, None, None]
        arrival = (1.0 - load) * np.eye(S) + load * arrives
        P = np.einsum("ast,ktu->ksau", treatment @ worsening, arrival)
        waiting = _CASE_COSTS[0] * severe + _CASE_COSTS[1] * mild
        return P, -(waiting[:, None] + _SECOND_TEAM_COST * (np.arange(A) == A - 1))

    def _moves(
        self, chance: Float[np.ndarray, " S"], severe: Int[np.ndarray, " S"], mild: Int[np.ndarray, " S"]
    ) -> Float[np.ndarray, "S S"]:
        S, _ = self.size
        state = np.arange(S)
        target = np.clip(severe, 0, self.severe_room) * (self.mild_room + 1) + np.clip(mild, 0, self.mild_room)
        P = np.diag(1.0 - chance)
        P[state, target] += chance
        return P
