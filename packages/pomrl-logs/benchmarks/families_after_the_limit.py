"""Families with rare losses that were written after the limits of gains count losses that a log has missed.

The author knew the method, and had tried it on no log of theirs. In `reservoir` a rare storm is worse the fuller it is,
and in `servers` a rare breach is likelier the longer they are not updated.
"""

from itertools import product

import numpy as np
from jaxtyping import Float

from pomrl.components import Latents, Rewards, TaskFamily


class Reservoir(TaskFamily):
    """A reservoir with a power station; the latent is the chance that a river brings one unit of water in a period.

    The state is the level, from 0 to 9, and state 10 a valley that is flooded. The action is how much is released, 0 to
    2 units, and pays that times 1 and a tenth of the level. With probability 0.005 a storm brings five units instead.
    What does not fit floods the valley, which costs 40 a period and lasts five periods in the mean; the reservoir is
    then empty.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 11, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R, flood, storm = np.zeros((len(latent), 11, 3, 11)), np.zeros((11, 3)), 10, 0.005
        for level, release in product(range(10), range(3)):
            remaining = max(level - release, 0)
            for inflow, chance in ((5, storm), (1, (1.0 - storm) * latent), (0, (1.0 - storm) * (1.0 - latent))):
                P[:, level, release, min(remaining + inflow, flood)] += chance
            R[level, release] = (level - remaining) * (1.0 + level / 10)
        P[:, flood, :, flood], P[:, flood, :, 0] = 0.8, 0.2
        R[flood] = -40.0
        return P, R


class Servers(TaskFamily):
    """Servers that are attacked; the latent is how likely a breach is, from 0 to 1.

    The state is the number of periods since the last update, from 0 to 7, and the load, low or high; state 16 is a
    breach. Action 0 serves and pays 1 or 3 by the load, action 1 serves half of it, and action 2 updates and pays
    nothing. Serving is breached with probability 0.004 times the latent and the periods since the update, and serving
    half with a quarter of that. A breach costs 60 a period and is repaired with probability 0.25. The load changes with
    probability 0.3.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 17, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R, down = np.zeros((len(latent), 17, 3, 17)), np.zeros((17, 3)), 16
        for age, load, action in product(range(8), range(2), range(3)):
            state = 2 * age + load, action
            breach = 0.004 * latent * age * (1.0, 0.25, 0.0)[action]
            P[:, *state, down] = breach
            for following, chance in ((load, 0.7), (1 - load, 0.3)):
                P[:, *state, following + (0 if action == 2 else 2 * min(age + 1, 7))] += (1.0 - breach) * chance
            R[state] = (1.0 + 2.0 * load) * (1.0, 0.5, 0.0)[action]
        P[:, down, :, down], P[:, down, :, 0] = 0.75, 0.25
        R[down] = -60.0
        return P, R


AFTER_THE_LIMIT: dict[str, TaskFamily] = {
    "reservoir": Reservoir(centre=0.5, spread=0.3),
    "servers": Servers(centre=0.5, spread=0.45),
}
"""The families, with the latents that tasks may have."""
