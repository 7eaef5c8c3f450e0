"""Whether what the report on a log promised came true in a later log of the same tasks."""

from dataclasses import dataclass, replace

import numpy as np

from pomrl.models_and_logs.departures import KEEP
from pomrl.models_and_logs.gains import PARTS, judges
from pomrl.models_and_logs.horizon_reports import HorizonReport, horizon_report
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.recommendations import Improvement

QUANTILE = 1.645
"""The number of standard errors that an estimate is above its 95 % lower limit."""


@dataclass(frozen=True)
class Outcome:
    """What the decisions of a later log gained over those of an old one, and what had been promised."""

    promised: Improvement
    gain: float
    """The estimated gain of the tasks in both logs, a mean over tasks and states."""
    deviation: float
    """Its standard error."""
    followed: float
    """The share of the decisions of the later log that are as recommended, in states in which a change was."""

    @property
    def words(self) -> str:
        """The outcome as sentences."""
        if not self.promised.mean:
            return "Nothing was promised: the report on the old log says to keep to its decisions."
        low, high = self.gain - QUANTILE * self.deviation, self.gain + QUANTILE * self.deviation
        found = (
            f"A gain of more than {self.promised.lower:.3g} was promised. The decisions of the later log gained "
            f"{self.gain:.3g} ({low:.3g} to {high:.3g}) over those of the old one; {self.followed:.0%} of those that "
            "were to be changed are as recommended."
        )
        if low >= self.promised.lower:
            return f"The promise came true. {found}"
        if high < self.promised.lower:
            return f"The promise did not come true. {found}"
        return f"The later log does not yet say whether the promise came true. {found}"


def outcome(old: Log, new: Log, gamma_eval: float = 0.99, *, seed: int = 0) -> Outcome:
    """Return what the decisions of a later log gained, beside what the report on the old log promises.

    Raises:
        ValueError: The logs have no task in common.
    """
    old, new = together(old, new)
    report = horizon_report(old, gamma_eval, seed=seed)
    both = _joined(old, new)
    sign = np.repeat([-1.0, 1.0], len(old.tasks)) / len(old.tasks)
    kept = np.full(both.visits.shape[:2], KEEP)
    parts = [judge.value(kept) for judge in judges(both, gamma_eval, None, np.random.default_rng(seed))]
    gain = np.mean([sign @ part.of_tasks for part in parts])
    deviation = np.sqrt(sum(((sign[part.task] * part.errors) ** 2).sum() for part in parts)) / PARTS
    return Outcome(report.improvement, float(gain), float(deviation), _followed(report, new))


def together(old: Log, new: Log) -> tuple[Log, Log]:
    """Return the tasks in both logs, with the states and actions of either."""
    tasks = [task for task in old.tasks if task in new.tasks]
    if not tasks:
        raise ValueError("the two logs have no task in common, so that nothing can be compared")
    states, actions = (
        tuple(dict.fromkeys([*of_old, *of_new]))
        for of_old, of_new in ((old.states, new.states), (old.actions, new.actions))
    )
    return old.over(tasks, states, actions), new.over(tasks, states, actions)


def _joined(old: Log, new: Log) -> Log:
    """Return one log in which each task is there twice, first as in the old log."""
    arrays = {name: np.concatenate([getattr(old, name), getattr(new, name)]) for name in ("counts", "total", "squares")}
    return replace(old, **arrays, tasks=tuple((when, task) for when in ("old", "new") for task in old.tasks))


def _followed(report: HorizonReport, new: Log) -> float:
    policies, changed = report.recommendation.policies, report.recommendation.changed
    as_said = np.arange(new.visits.shape[-1]) == policies[..., None]
    of_changed = new.visits * changed[..., None]
    return float((of_changed * as_said).sum() / max(of_changed.sum(), 1))
