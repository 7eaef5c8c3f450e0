"""Build models from Gymnasium's transition tables, with slips to other actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.components import Latents, Rewards


@dataclass(frozen=True)
class TransitionTable:
    """The transition table of a deterministic environment."""

    following: Int[np.ndarray, "S A"]
    """The next state."""
    reward: Float[np.ndarray, "S A"]
    """The reward of the transition."""
    terminal: Bool[np.ndarray, " S"]
    """Whether an episode ends in the state."""


def table(environment: str, **options: Any) -> TransitionTable:
    """Load the transition table of a deterministic toy-text environment of Gymnasium.

    Raises:
        ValueError: Gymnasium is not installed.
    """
    try:
        from gymnasium.envs import toy_text
    except ImportError as error:
        raise ValueError(
            f"{environment} needs Gymnasium, which is not installed; run pip install 'pomrl[families]'"
        ) from error
    entries: Mapping[int, Mapping[int, Any]] = getattr(toy_text, environment)(**options).P
    outcomes = np.array([[entries[s][a][0] for a in sorted(entries[s])] for s in sorted(entries)], float)
    following, reward, ends = outcomes[..., 1].astype(int), outcomes[..., 2], outcomes[..., 3].astype(bool)
    return TransitionTable(following, reward, np.isin(np.arange(len(following)), following[ends]))


def slipping(
    outcomes: TransitionTable, slip: Latents, slips_to: Sequence[Sequence[int]], *, blocked_slips: bool = True
) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
    """Return models with slips to the outcomes of other actions.

    Terminal states are absorbing and pay nothing.

    Args:
        outcomes: The table without slips.
        slip: The probability of a slip in each model.
        slips_to: The equally likely replacements of each action in a slip.
        blocked_slips: Whether an action may slip in a state that it leaves unchanged.

    Returns:
        Transition probabilities and mean rewards R(s, a, s'). Transitions of probability 0 get their reward at a slip
        probability of 1/2.
    """
    slips = np.broadcast_to(
        blocked_slips | (outcomes.following != np.arange(len(outcomes.following))[:, None]), outcomes.following.shape
    )
    P, total = _outcomes(outcomes, slip, slips_to, slips)
    P_half, total_half = _outcomes(outcomes, np.array([0.5]), slips_to, slips)
    default = np.divide(total_half, P_half, out=np.zeros_like(P_half), where=P_half > 0)
    R = np.divide(total, P, out=np.broadcast_to(default, P.shape).copy(), where=P > 0)
    return P, R


def _outcomes(
    outcomes: TransitionTable, slip: Latents, slips_to: Sequence[Sequence[int]], slips: Bool[np.ndarray, "S A"]
) -> tuple[Float[np.ndarray, "k S A S"], Float[np.ndarray, "k S A S"]]:
    (S, A), k = outcomes.following.shape, len(slip)
    P, total = np.zeros((2, k, S, A, S))
    alive = np.flatnonzero(~outcomes.terminal)
    for action, slipped in enumerate(slips_to):
        chance_to_slip = slip[:, None] * (slips[alive, action] & bool(slipped))
        chances = [(action, 1.0 - chance_to_slip), *((other, chance_to_slip / len(slipped)) for other in slipped)]
        for outcome, chance in chances:
            where = np.s_[:, alive, action, outcomes.following[alive, outcome]]
            P[where] += chance
            total[where] += chance * outcomes.reward[alive, outcome]
    ended = np.flatnonzero(outcomes.terminal)
    P[:, ended, :, ended] = 1.0
    return P, total
