"""What draws the tasks of a log.

A family (`Family`) is a function of a random generator and a number of tasks K. It draws K tasks, independently of each
other, and returns

- P[k, s, a, s'], their transition probabilities, in rows that sum to 1;
- R[k, s, a, s'], what transitions pay, in any unit;
- the `Structure` that a user could declare, or None.

All tasks have the same states and actions. Episodes may begin in any state, and never end by themselves. Up to 50
states a log takes less than a second. New families join `families_after_the_freeze.AFTER_THE_FREEZE`.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pomrl.components import TaskFamily
from pomrl_logs.safe_improvement import Structure

Tasks = tuple[Float[np.ndarray, "K S A S"], Float[np.ndarray, "K S A S"], Structure | None]

Family = Callable[[np.random.Generator, int], Tasks]
"""What draws tasks, as the module says."""


def latent_family(family: TaskFamily) -> Family:
    """Return the family whose tasks have one of the latents of a family of the library."""

    def draw(rng: np.random.Generator, tasks: int) -> Tasks:
        candidates = family.candidate_models()
        indices = rng.integers(len(candidates.P), size=tasks)
        P, R = candidates.P[indices], candidates.R[indices]
        R = R if R.ndim == P.ndim else np.broadcast_to(R[..., None], P.shape)
        return P, R, Structure(candidates.latent, lambda latent: family.models(latent)[0])

    return draw
