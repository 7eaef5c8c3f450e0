"""Three problems that are in no family of the project, on which the advice on logs is tried (`advice_on_logs`)."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily


class TwoMachines(TaskFamily):
    """The maintenance of two machines; the latent is the probability that the first one gets worse in a period.

    The second one gets worse half as often. Each is new, worn or broken, earns 4, 3 or 0, and is repaired for 5; one
    crew repairs one machine in a period.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 9, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 9, 3, 9)), np.zeros((9, 3))
        for (first, second), repaired in product(product(range(3), range(3)), range(3)):
            pair = 3 * first + second, repaired
            R[pair] = (4.0, 3.0, 0.0)[first] + (4.0, 3.0, 0.0)[second] - 5.0 * (repaired > 0)
            for first_after, chance in _wear(first, latent, is_repaired=repaired == 1):
                for second_after, second_chance in _wear(second, latent / 2.0, is_repaired=repaired == 2):
                    P[:, *pair, 3 * first_after + second_after] += chance * second_chance
        return P, R


def _wear(state: int, chance: Latents, *, is_repaired: bool) -> Iterator[tuple[int, Latents]]:
    """Yield what a machine may be in the next period, with the probability of each."""
    if is_repaired:
        yield 0, np.ones_like(chance)
    else:
        yield min(state + 1, 2), chance
        yield state, 1.0 - chance


class Promotions(TaskFamily):
    """A shop with promotions; the latent is how fast customers lose interest, and what they buy grows with it too.

    Interest has five levels. Full price earns more with interest; a promotion earns little, and raises interest with
    probability 0.6; a campaign costs 3 and raises it by two levels. So rewards differ from shop to shop.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 5, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 5, 3, 5)), np.zeros((len(latent), 5, 3))
        for level in range(5):
            below, above = max(level - 1, 0), min(level + 1, 4)
            P[:, level, 0, below] += latent
            P[:, level, 0, level] += 1.0 - latent
            P[:, level, 1, above] += 0.6 * (1.0 - latent)
            P[:, level, 1, level] += 1.0 - 0.6 * (1.0 - latent)
            P[:, level, 2, min(level + 2, 4)] += 1.0
            R[:, level, 0] = (1.0 + 2.0 * latent) * level
            R[:, level, 1] = 0.5 * level
            R[:, level, 2] = -3.0
        return P, R


class Triage(TaskFamily):
    """A line of patients; the latent is the probability that an urgent one arrives in a period.

    At most two urgent and three others wait, who cost 6 and 1 a period each. The doctor sees an urgent patient, who is
    done with probability 0.6, or another one, who is done with probability 0.9. Others arrive with probability 0.4.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 12, 2

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 12, 2, 12)), np.zeros((12, 2))
        for urgent, regular, action in product(range(3), range(4), range(2)):
            state, done = 4 * urgent + regular, (0.6, 0.9)[action] * float((urgent, regular)[action] > 0)
            R[state, action] = -6.0 * urgent - regular
            for leaves, comes, another in product(range(2), range(2), range(2)):
                remaining = urgent - leaves * (action == 0), regular - leaves * (action == 1)
                following = 4 * min(max(remaining[0], 0) + comes, 2) + min(max(remaining[1], 0) + another, 3)
                chance = (done if leaves else 1.0 - done) * (0.4 if another else 0.6)
                P[:, state, action, following] += chance * (latent if comes else 1.0 - latent)
        return P, R
