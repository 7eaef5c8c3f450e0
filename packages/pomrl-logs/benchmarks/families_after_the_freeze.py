"""Families that are written after the method of the advice on logs is frozen, by somebody who has not read it.

Each has something that is hard for some way to use a log: `mountain_passes` for one that trusts few data, because large
losses are rare; `playlist` for one that pools tasks, because their mean says nothing; `dosing` for one that plans for
a mean task, because what helps one task harms another; and `fermentation` for one that keeps tasks apart, because they
are equal and rewards are rare.
"""

from itertools import product

import numpy as np
from families_of_tasks import Family, latent_family
from jaxtyping import Float
from scipy.special import expit

from pomrl.components import Latents, Rewards, TaskFamily


class MountainPasses(TaskFamily):
    """A lorry that crosses mountains; the latent is the snow line, from 0 at the lowest pass to 1 at the highest one.

    Each of five roads has four stretches, and the third of these is its pass. Action 0 drives on to the next stretch,
    and action 1 or 2 goes to the same stretch of the next lower or higher road. Driving on from the last stretch
    delivers the goods and begins the road anew; a delivery pays 4 on the lowest road and 2 more on each higher one.

    An avalanche hits a lorry that drives on at a pass above the snow line, with probability 0.03 if the pass is one
    road or more above it, and in proportion below that. The wreck costs 50 a period, and is cleared with probability
    0.1; a new lorry then starts on the lowest road. All else is deterministic.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 21, 3

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R, wreck = np.zeros((len(latent), 21, 3, 21)), np.zeros((21, 3)), 20
        for road, stretch in product(range(5), range(4)):
            state = 4 * road + stretch
            avalanche = 0.03 * np.clip(road - 4.0 * latent, 0.0, 1.0) * (stretch == 2)
            P[:, state, 0, 4 * road + (stretch + 1) % 4] = 1.0 - avalanche
            P[:, state, 0, wreck] = avalanche
            P[:, state, 1, 4 * max(road - 1, 0) + stretch] = 1.0
            P[:, state, 2, 4 * min(road + 1, 4) + stretch] = 1.0
            R[state, 0] = (4.0 + 2.0 * road) * (stretch == 3)
        P[:, wreck, :, wreck], P[:, wreck, :, 0] = 0.9, 0.1
        R[wreck] = -50.0
        return P, R


class Playlist(TaskFamily):
    """A radio station and its listener; the latent is the listener's taste, a place on a circle of length 1.

    Five genres are equally spaced on the circle, and each action plays one of them. The state is the attention of the
    listener, from 0 to 5, and the genre played last. A genre raises attention by one with probability 0.8 if it agrees
    with the taste and 0.1 if it is opposite, and half as often if it was played last too; otherwise attention falls by
    one. A period pays the attention at its start.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 30, 5

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 30, 5, 30)), np.zeros((30, 5))
        for attention, last, genre in product(range(6), range(5), range(5)):
            state = 5 * attention + last
            agreement = 0.5 + 0.5 * np.cos(2.0 * np.pi * (latent - genre / 5))
            rises = (0.1 + 0.7 * agreement) * (0.5 if genre == last else 1.0)
            P[:, state, genre, 5 * min(attention + 1, 5) + genre] += rises
            P[:, state, genre, 5 * max(attention - 1, 0) + genre] += 1.0 - rises
            R[state, genre] = attention
        return P, R


class Dosing(TaskFamily):
    """The treatment of a patient; the latent is tolerance, the dose that builds up toxicity in half of all periods.

    The state is the severity of the illness, from 0 to 4, and the toxicity, from 0 to 3. Action a gives a third of the
    largest dose a times. Toxicity rises by one with a probability that is logistic in the dose, and steep: at a third
    of the largest dose above the tolerance it is 0.97, and at a third below it 0.03. Otherwise toxicity falls by one.

    Severity falls by one with probability 0.05 without a dose, and 0.25 more for each third of the largest dose. If it
    does not fall, it rises by one with probability 0.2, or 0.9 at the highest toxicity. Each level of severity costs 2
    a period, and toxicity costs its square.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 20, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R = np.zeros((len(latent), 20, 4, 20)), np.zeros((20, 4))
        for severity, toxicity, thirds in product(range(5), range(4), range(4)):
            state = 4 * severity + toxicity, thirds
            poisoned = expit(10.5 * (thirds / 3 - latent))
            better = 0.05 + 0.25 * thirds
            worse = (1.0 - better) * (0.9 if toxicity == 3 else 0.2)
            for change, severity_chance in ((-1, better), (0, 1.0 - better - worse), (1, worse)):
                level = 4 * min(max(severity + change, 0), 4)
                P[:, *state, level + min(toxicity + 1, 3)] += severity_chance * poisoned
                P[:, *state, level + max(toxicity - 1, 0)] += severity_chance * (1.0 - poisoned)
            R[state] = -2.0 * severity - toxicity**2
        return P, R


class Fermentation(TaskFamily):
    """A vat of wine; the latent is the altitude of the cellar, on which nothing depends, so that all tasks are equal.

    The state is the ripeness of the wine, from 0 to 9, and the temperature: cold, mild or warm. Actions leave the vat
    alone, cool it by one level, heat it by one level, or bottle the wine and begin anew with a mild vat. Bottling pays
    50 at ripeness 8, and nothing else pays: before that wine is sour, and at ripeness 9 it is vinegar.

    In a period the wine ripens by one with probability 0.1, 0.5 or 0.9 in a cold, mild or warm vat. A warm vat goes bad
    with probability 0.08, and then begins anew. A vat that is left alone gets one level colder with probability 0.2.
    """

    @property
    def size(self) -> tuple[int, int]:
        return 30, 4

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        P, R, new = np.zeros((len(latent), 30, 4, 30)), np.zeros((30, 4)), 1
        for ripeness, temperature, action in product(range(10), range(3), range(3)):
            state = 3 * ripeness + temperature, action
            bad, ripens = (0.0, 0.0, 0.08)[temperature], (0.1, 0.5, 0.9)[temperature]
            P[:, *state, new] += bad
            for change, chance in (((0, 0.8), (-1, 0.2)), ((-1, 1.0),), ((1, 1.0),))[action]:
                following = 3 * ripeness + min(max(temperature + change, 0), 2)
                P[:, *state, min(following + 3, 27 + following % 3)] += (1.0 - bad) * chance * ripens
                P[:, *state, following] += (1.0 - bad) * chance * (1.0 - ripens)
        P[:, :, 3, new] = 1.0
        R[3 * 8 : 3 * 9, 3] = 50.0
        return P, R


LATENT_FAMILIES: dict[str, TaskFamily] = {
    "mountain_passes": MountainPasses(centre=0.5, spread=0.5),
    "playlist": Playlist(centre=0.5, spread=0.45),
    "dosing": Dosing(centre=0.55, spread=0.35),
    "fermentation": Fermentation(centre=0.5, spread=0.4),
}
"""The families, with the latents that tasks may have."""

AFTER_THE_FREEZE: dict[str, Family] = {name: latent_family(family) for name, family in LATENT_FAMILIES.items()}
"""They join `logs_with_truth.FAMILIES`."""
