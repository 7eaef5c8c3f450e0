"""Define the findings of an audit, and the rows examined."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

Effect = Literal["stops", "no limit", "note"]
"""The effect of a finding: an error, a warning and advice without a lower limit, or none."""

KINDS: dict[str, tuple[Effect, str]] = {
    "chain": ("stops", "next states are taken from wrong rows"),
    "coding": ("stops", "no next state occurs as a state"),
    "breaks": ("stops", "many next states differ from the state of the next row of the episode"),
    "unsorted": ("stops", "the rows of episodes are not in the order of time, and give the next states"),
    "shifted": ("stops", "actions or rewards seem to belong to other rows"),
    "padding": ("stops", "first or last rows of episodes are no decisions: action and reward never vary"),
    "truncation": ("stops", "episodes are marked as terminated where they reach the largest length"),
    "cost": ("stops", "costs are given as rewards"),
    "dates": ("stops", "rewards are dates"),
    "units": ("stops", "rewards have another unit, sign or offset in a task, or in later rows"),
    "drift": ("stops", "equal states and actions lead elsewhere, or pay otherwise, in later rows"),
    "independent": ("no limit", "next states are independent of states and actions"),
    "column": ("no limit", "a column without a role is associated with actions and outcomes"),
    "history": ("no limit", "earlier rows are associated with outcomes, or rewards with the next action"),
    "copies": ("no limit", "scattered rows equal earlier rows, and are kept"),
    "repeats": ("note", "rows are repeated; repeated runs of rows are counted once"),
    "ends": (
        "note",
        "states are never left, and not declared by `--ends`; the limit allows for the worst reward there",
    ),
    "offset": ("note", "rewards differ little, compared with a common offset"),
    "names": ("note", "names have blanks at their ends, which are removed"),
    "alike": ("note", "names differ only in case, blanks or accents, and stay separate"),
    "comments": ("note", "lines below the header begin with #, and are left out"),
    "order": ("note", "next states are the states of the next rows of episodes; last rows are left out"),
    "task": ("note", "without a column of tasks, all rows belong to one task"),
    "codes": ("stops", "a state is a number far from others, entered as often from all: a code of missing values?"),
    "decimals": ("note", "numbers have decimal commas, marks of thousands, or a point without need"),
    "form": ("note", "dates have another form than 2025-12-31"),
    "missing": ("note", "rows with missing values are left out; or the name of a state may mean a missing value"),
    "steps": ("note", "times between decisions differ much"),
    "weight": ("note", "rows count transitions, or a column with such a name is not used"),
}
"""The effect and meaning of each finding, by its name for `accept`."""


class LogWarning(UserWarning):
    """A warning about advice without a lower limit."""


@dataclass(frozen=True)
class Finding:
    """A finding of the audit."""

    name: str
    """The name for `accept` or `--accept`, a key of `KINDS`."""
    line: str
    """The fault, an example row, and the remedy."""

    @property
    def effect(self) -> Effect:
        return KINDS[self.name][0]


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
    time: Float[np.ndarray, " n"] | None
    """The times of rows, or None without such a column."""
    states: tuple
    columns: Mapping[str, str]
    """The names of columns, by role."""
    is_state: Bool[np.ndarray, " S"]
    """Whether each state starts a row, including rows without a next state."""
    position: Int[np.ndarray, " n"]
    """The position of each row in the original table."""
    label: Callable[[int], str]
    """A function from a row to its name in messages."""
