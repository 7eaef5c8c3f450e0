"""Models of Gymnasium's tables of transitions, in which the outcome of an action may be that of another action."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.components import Latents, Rewards


@dataclass(frozen=True)
class Table:
    """A table of a deterministic environment."""

    following: Int[np.ndarray, "S A"]
    """The next state."""
    reward: Float[np.ndarray, "S A"]
    """The reward of the transition."""
    terminal: Bool[np.ndarray, " S"]
    """Whether an episode ends in a state."""


def table(environment: str, **options: Any) -> Table:
    """Return the table of an environment, a class of Gymnasium's toy texts that is deterministic with these options.

    Raises:
        ValueError: If Gymnasium is not installed; the message names the extra to install.
    """
    try:
        from gymnasium.envs import toy_text
    except ImportError as error:
        raise ValueError(f"{environment} is an environment of Gymnasium: pip install 'pomrl[families]'") from error
    entries: Mapping[int, Mapping[int, Any]] = getattr(toy_text, environment)(**options).P
    outcomes = np.array([[entries[s][a][0] for a in sorted(entries[s])] for s in sorted(entries)], float)
    following, reward, ends = outcomes[..., 1].astype(int), outcomes[..., 2], outcomes[..., 3].astype(bool)
    return Table(following, reward, np.isin(np.arange(len(following)), following[ends]))


def slipping(
    of: Table, slip: Latents, others: Sequence[Sequence[int]], *, blocked_slips: bool = True
) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
    """Return the models in which an action has the outcome of another one with a given probability.

    States in which episodes end are never left and pay nothing.

    Args:
        of: The outcomes of the actions.
        slip: The probability that the outcome is that of another action, for each of k models.
        others: For each action the actions whose outcomes it may have, each equally likely; none if it never slips.
        blocked_slips: Whether an action may slip in a state that it does not lead out of.

    Returns:
        The transition probabilities, and the rewards R(s, a, s'): the mean of the rewards of the actions that lead from
        s to s'. For transitions that a model does not have, they are those of a model that has a slip of 1/2.
    """
    slips = np.broadcast_to(blocked_slips | (of.following != np.arange(len(of.following))[:, None]), of.following.shape)
    P, total = _outcomes(of, slip, others, slips)
    P_half, total_half = _outcomes(of, np.array([0.5]), others, slips)
    known = np.divide(total_half, P_half, out=np.zeros_like(P_half), where=P_half > 0)
    R = np.divide(total, P, out=np.broadcast_to(known, P.shape).copy(), where=P > 0)
    return P, R


def _outcomes(
    of: Table, slip: Latents, others: Sequence[Sequence[int]], slips: Bool[np.ndarray, "S A"]
) -> tuple[Float[np.ndarray, "k S A S"], Float[np.ndarray, "k S A S"]]:
    """Return the probabilities of next states, and these times the rewards of the actions that lead there."""
    (S, A), k = of.following.shape, len(slip)
    P, total = np.zeros((2, k, S, A, S))
    alive = np.flatnonzero(~of.terminal)
    for action, slipped in enumerate(others):
        chance_to_slip = slip[:, None] * (slips[alive, action] & bool(slipped))
        chances = [(action, 1.0 - chance_to_slip), *((other, chance_to_slip / len(slipped)) for other in slipped)]
        for outcome, chance in chances:
            where = np.s_[:, alive, action, of.following[alive, outcome]]
            P[where] += chance
            total[where] += chance * of.reward[alive, outcome]
    ended = np.flatnonzero(of.terminal)
    P[:, ended, :, ended] = 1.0
    return P, total
