"""A later log of the same tasks says whether what the report on an old log promised came true."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pomrl_logs.departures import KEEP
from pomrl_logs.gains import PARTS, judges
from pomrl_logs.horizon_reports import HorizonReport, horizon_report
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import Improvement

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

    Tasks that are new in the later log are left out.

    Raises:
        ValueError: A task of the old log is not in the later one.
    """
    if missing := [task for task in old.tasks if task not in new.tasks]:
        raise ValueError(f"the later log lacks the task {missing[0]!r}: leave it out of the old log too")
    report, both = horizon_report(old, gamma_eval, seed=seed), _join(old, new)
    sign = np.repeat([-1.0, 1.0], len(old.tasks)) / (PARTS * len(old.tasks))
    kept = np.full(both.visits.shape[:2], KEEP)
    part = both.parts(PARTS, np.random.default_rng(seed))
    parts = [judge.value(kept) for judge in judges(both, gamma_eval, None, part, both.worst_ends)]
    gain = sum(float(sign @ part.corrected) for part in parts)
    deviation = np.sqrt(sum(float(part.errors @ part.errors) for part in parts)) / (PARTS * len(old.tasks))
    return Outcome(report.improvement, gain, float(deviation), _share_followed(report, both.visits[len(old.tasks) :]))


def _join(old: Log, new: Log) -> Log:
    """Return one log in which each task of the old one is there twice, first as it was; old names come first."""
    states, actions = (tuple(dict.fromkeys(both)) for both in (old.states + new.states, old.actions + new.actions))
    tasks = tuple((log, task) for log in ("old", "new") for task in old.tasks)
    wanted = tasks, states, actions, states
    columns = list[tuple[np.ndarray, ...]]()
    for name, log in (("old", old), ("new", new)):
        own = [(name, task) for task in log.tasks], log.states, log.actions, log.states
        places = [_positions(*names)[place] for *names, place in zip(own, wanted, log.places, strict=True)]
        inside = places[0] >= 0
        cell = np.ravel_multi_index([place[inside] for place in places], [len(names) for names in wanted])
        columns.append((cell, log.paid[inside], 2 * log.episode[inside] + (name == "new")))
    cell, reward, episode = (np.concatenate(both) for both in zip(*columns, strict=True))
    return Log(cell, reward, episode, tasks, states, actions, ends=old.ends | new.ends)


def _positions(names: Sequence[Hashable], among: Sequence[Hashable]) -> Int[np.ndarray, " n"]:
    """Return the position of each name among others, or -1."""
    position = {name: number for number, name in enumerate(among)}
    return np.array([position.get(name, -1) for name in names])


def _share_followed(report: HorizonReport, visits: Int[np.ndarray, "K S A"]) -> float:
    policies, changed = report.recommendation.policies, report.recommendation.changed
    of_changed = visits[:, : policies.shape[1]][changed]
    as_said = np.take_along_axis(of_changed, policies[changed][:, None], 1)
    return float(as_said.sum() / max(of_changed.sum(), 1))
