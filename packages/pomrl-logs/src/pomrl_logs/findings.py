"""Define the findings of an audit, and the rows examined."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

Effect = Literal["stops", "weakens", "note"]
"""The effect of a finding on advice: voided (an error), weakened (a warning), or none."""


class LogWarning(UserWarning):
    """A warning about weakened advice."""


@dataclass(frozen=True)
class Finding:
    """A finding of the audit."""

    name: str
    """The name for `accept` or `--accept`."""
    effect: Effect
    line: str
    """The fault, an example row, and the remedy."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The transitions of a table as numbers, in the order of episodes."""

    task: Int[np.ndarray, " n"]
    state: Int[np.ndarray, " n"]
    action: Int[np.ndarray, " n"]
    following: Int[np.ndarray, " n"]
    reward: Float[np.ndarray, " n"]
    ended: Bool[np.ndarray, " n"]
    """Whether the transition ends an episode."""
    group: Int[np.ndarray, " n"]
    """The episode, or the task without a column of episodes."""
    has_episodes: bool
    has_time: bool
    states: tuple
    columns: Mapping[str, str]
    """The names of columns, by role."""
    is_state: Bool[np.ndarray, " S"]
    """Whether each state starts a row, including rows without a next state."""
    position: Int[np.ndarray, " n"]
    """The position of each row in the original table."""
    label: Callable[[int], str]
    """A function from a row to its name in messages."""
