"""Families that were written after the rule by which equal tasks compete (`EqualOrTied`) was fixed.

Two have states in an order and two have not, so that moves explain some and not others.
"""

from itertools import product

import numpy as np
from jaxtyping import Float

from pomrl.science.mdp import Rewards
from pomrl.science.tasks.distribution import Latents, TaskFamily


class Gambler(TaskFamily):
    """A gambler who wants to own 20 (Sutton and Barto, 2018, example 4.3); the latent is the chance to win a toss.

    The state is the capital. Action a stakes a + 1, at most what is owned and what is needed, and wins or loses the
    stake. Owning 20 pays 1, once. Who owns nothing or 20 stays so.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 21, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 21, 4, 21)), np.zeros((21, 4, 21))
        for capital, action in product(range(21), range(4)):
            stake = min(action + 1, capital, 20 - capital)
            P[:, capital, action, capital + stake] += latent
            P[:, capital, action, capital - stake] += 1.0 - latent
        R[:20, :, 20] = 1.0
        return P, R


class Computers(TaskFamily):
    """Five computers in a ring (Guestrin et al., 2003); the latent is the chance that one crashes in a period.

    The state has a bit for each computer, 1 if it runs. Action 0 does nothing, and action i restarts computer i, which
    then runs and pays nothing in this period. Any other one that runs pays 1, and crashes with the latent as
    probability, and 0.3 more if the computer before it is down. One that is down starts with probability 0.05.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 32, 6

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        bits = np.arange(32)[:, None] >> np.arange(5) & 1
        before = np.roll(bits, 1, 1)
        up = np.where(bits, 1.0 - latent[:, None, None] - 0.3 * (1 - before), 0.05)[:, :, None].repeat(6, 2)
        up[:, :, np.arange(1, 6), np.arange(5)] = 1.0
        P = np.where(bits, up[..., None, :], 1.0 - up[..., None, :]).prod(-1)
        R = bits.sum(1)[:, None] - np.concatenate([np.zeros((32, 1), int), bits], 1)
        return P, R.astype(float)


class Seats(TaskFamily):
    """Seats of a flight that are sold in six periods (Talluri and van Ryzin, 2004); the latent is the demand.

    The state is the period and the number of seats that are left, period * 6 + seats. The actions are the prices 1, 2
    and 3. In each period somebody asks with the latent as probability, and buys with probability 1, 0.7 or 0.3 by the
    price. After the last period the next flight begins with five seats.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 36, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 36, 3, 36)), np.zeros((len(latent), 36, 3))
        for period, seats, price in product(range(6), range(6), range(3)):
            sold = latent * (1.0, 0.7, 0.3)[price] * (seats > 0)
            state, last = 6 * period + seats, period == 5
            P[:, state, price, 5 if last else state + 6] += 1.0 - sold
            P[:, state, price, 5 if last else state + 5] += sold
            R[:, state, price] = sold * (price + 1)
        return P, R


class Cabs(TaskFamily):
    """A cab in a city of 15 places; the latent is the chance of a passenger at a place of mean demand.

    Places have numbers at random. Action 0 waits, and the others drive to one of three places nearby. Where the cab is
    then, a passenger gets in with the latent times the demand of that place as probability, and pays 1 and three times
    the distance to a destination, which is any place by its size. Driving there takes no time. A drive costs 0.5.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 15, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        rng = np.random.default_rng(11)
        positions, demand = rng.random((15, 2)), rng.uniform(0.2, 1.8, 15)
        sizes = rng.dirichlet(np.ones(15))
        distance = np.linalg.norm(positions[:, None] - positions, axis=-1)
        nearest = distance.argsort(1)[:, :4]  # the place itself and the three that are nearest
        busy = np.clip(latent[:, None] * demand, 0.0, 1.0)[:, nearest]
        P = busy[..., None] * sizes + (1.0 - busy[..., None]) * np.eye(15)[nearest]
        fare = (sizes * (1.0 + 3.0 * distance)).sum(1)[nearest]
        return P, busy * fare - 0.5 * (np.arange(4) > 0)


AFTER_THE_RULE: dict[str, tuple[type[TaskFamily], float]] = {
    "gambler": (Gambler, 0.45),
    "computers": (Computers, 0.2),
    "seats": (Seats, 0.6),
    "cabs": (Cabs, 0.4),
}
"""The families, with the mean of the latent."""
