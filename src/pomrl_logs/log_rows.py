"""The transitions of a table as numbers, as the audit looks at them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, eq=False)
class Rows:
    """The transitions of a table as numbers, in the order of episodes, with the names for messages."""

    task: Int[np.ndarray, " n"]
    state: Int[np.ndarray, " n"]
    action: Int[np.ndarray, " n"]
    following: Int[np.ndarray, " n"]
    reward: Float[np.ndarray, " n"]
    ended: Bool[np.ndarray, " n"]
    """Whether an episode ends with the transition."""
    group: Int[np.ndarray, " n"]
    """The episode, or the task where no episodes are named."""
    has_episodes: bool
    has_time: bool
    states: tuple
    columns: Mapping[str, str]
    """The names of columns, by role."""
    is_state: Bool[np.ndarray, " S"]
    """Whether each state is that of a row, rows without a next state included."""
    position: Int[np.ndarray, " n"]
    """Where each row stands in the table as it was given."""
    place: Callable[[int], str]
    """What a message calls a row."""
