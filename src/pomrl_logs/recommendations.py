"""The recommendation of a report: keep to the decisions of the log, change some of them, or collect more."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from pomrl_logs.departures import Policies

HELD = "99 % of the logs of a benchmark, and in at least 95 % of those of each kind"
"""How often limits were below true gains (docs/models_and_logs.md)."""


@dataclass(frozen=True)
class Improvement:
    """What the recommended changes gain at gamma_eval over the decisions of the log, a mean over tasks and states.

    Where the decisions of the log are kept, all is 0.
    """

    mean: float = 0.0
    """The estimate, in units of rewards."""
    lower: float = 0.0
    """A 95 % lower limit of the gain, which pays for the choice among plans and counts one unseen loss (`gains`)."""

    @property
    def doubt(self) -> float:
        """How near the limit is to the estimate, from 0 to 1: a near one fails more often."""
        return self.lower / self.mean if self.mean else 0.0


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What to do in the tasks of the log."""

    policies: Policies
    """The action in each state of each task, as its position in `Log.actions`; -1 where decisions are kept."""
    changed: Bool[np.ndarray, "K S"]
    """Whether the log has done anything else in a state than is recommended there."""
    gamma: float
    """The discount factor that changes are planned with."""
    support: int
    """How often a task has to have tried an action for a change to it."""
    improvement: Improvement
    transitions: float
    """With about how many transitions the best plan would be known to gain, if it gains as much as it seems to.

    It is the number of those in the log if changes are recommended, and infinite if no plan seems to gain."""

    @property
    def words(self) -> str:
        """The recommendation as a sentence or two."""
        changes, gain = int(self.changed.sum()), self.improvement
        if changes:
            return (
                f"Change {changes} of {self.policies.size} decisions, and keep to all others. That gains about "
                f"{gain.mean:.3g} over the decisions of the log. Its lower limit is {gain.lower:.3g}; such limits held "
                f"in {HELD}."
            )
        if np.isfinite(self.transitions):
            return (
                "Not enough data: keep to the decisions of the log. Some changes look better; about "
                f"{two_digits(self.transitions):,} transitions would show whether they are."
            )
        return "Keep to the decisions of the log: no change that the log has tried often enough looks better."


def two_digits(number: float) -> int:
    """Return the next larger number of two digits and zeros."""
    unit = 10 ** max(len(str(int(number))) - 2, 0)
    return int(np.ceil(number / unit)) * unit
