"""Check in a later log whether the promised gain came true."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pomrl.planning import one_thread
from pomrl_logs.amounts import Unit, amount
from pomrl_logs.gains import FOLDS, fold_evaluators
from pomrl_logs.horizon_reports import HorizonReport, horizon_report
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import Improvement
from pomrl_logs.safe_improvement import KEEP

QUANTILE_95 = 1.645
"""The number of standard errors between an estimate and its 95 % lower limit."""


@dataclass(frozen=True)
class FollowUp:
    """The gain of a later log, and the promised gain."""

    promised: Improvement
    gain: float
    """The estimated gain, a mean over the old log's tasks and first states."""
    deviation: float
    """The standard error of the gain."""
    unit: Unit
    followed: float
    """The share of later decisions that follow the recommendation, in states with a recommended change."""

    @property
    def words(self) -> str:
        if not self.promised.mean:
            return "Nothing was promised: the report on the old log recommends to keep to its decisions."
        if np.isnan(self.promised.lower):
            return "Nothing was promised: a finding of the audit of the old log removes the lower limit."
        low, high = self.gain - QUANTILE_95 * self.deviation, self.gain + QUANTILE_95 * self.deviation
        summary = (
            f"It was promised that {self.unit.rises} by more than {amount(self.promised.lower)}. With the decisions of "
            f"the later log it {self.unit.rose} by {amount(self.gain)} (90 % interval: {amount(low)} to "
            f"{amount(high)}). Where a change was recommended, {self.followed:.0%} of the later decisions follow it."
        )
        if low >= self.promised.lower:
            return f"The promise came true. {summary}"
        if high < self.promised.lower:
            return f"The promise did not come true. {summary}"
        return f"The later log does not yet show whether the promise came true. {summary}"


def follow_up(old: Log, new: Log, gamma_eval: float = 0.99, *, seed: int = 0) -> FollowUp:
    """Estimate the gain of a later log over an old log.

    New tasks are left out. ValueError if the logs are equal, or a task of the old log is missing in the later one.
    """
    if _are_equal(old, new):
        raise ValueError("the later log must differ from the earlier one, got the same transitions twice")
    if missing := [task for task in old.tasks if task not in new.tasks]:
        raise ValueError(f"task {missing[0]!r} is missing in the later log; remove it from the old log too")
    report, joined = horizon_report(old, gamma_eval, seed=seed), _join(old, new).merge_ends()
    sign = np.repeat([-1.0, 1.0], len(old.tasks)) / (FOLDS * len(old.tasks))
    baseline = np.full(joined.visits.shape[:2], KEEP)
    fold = joined.split(FOLDS, np.random.default_rng(seed))
    with one_thread():
        evaluators = fold_evaluators(joined, gamma_eval, None, fold, joined.worst_ends)
        fold_values = [evaluator.value(baseline) for evaluator in evaluators]
    gain = sum(float(sign @ fold.corrected) for fold in fold_values)
    deviation = np.sqrt(sum(float(fold.errors @ fold.errors) for fold in fold_values)) / (FOLDS * len(old.tasks))
    return FollowUp(
        report.improvement, gain, float(deviation), old.unit, _share_followed(report, joined.visits[len(old.tasks) :])
    )


def _are_equal(old: Log, new: Log) -> bool:
    names = [(log.tasks, log.states, log.actions) for log in (old, new)]
    return names[0] == names[1] and np.array_equal(old.cell, new.cell) and np.array_equal(old.paid, new.paid)


def _join(old: Log, new: Log) -> Log:
    # Each old task becomes two tasks, with its decisions in the old log and in the new log.
    states, actions = (tuple(dict.fromkeys(values)) for values in (old.states + new.states, old.actions + new.actions))
    tasks = tuple((log, task) for log in ("old", "new") for task in old.tasks)
    axes = tasks, states, actions, states
    columns = list[tuple[np.ndarray, ...]]()
    for name, log in (("old", old), ("new", new)):
        own = [(name, task) for task in log.tasks], log.states, log.actions, log.states
        indices = [_positions(*names)[index] for *names, index in zip(own, axes, log.indices, strict=True)]
        inside = indices[0] >= 0
        cell = np.ravel_multi_index([index[inside] for index in indices], [len(names) for names in axes])
        columns.append((cell, log.paid[inside], 2 * log.episode[inside] + (name == "new")))
    cell, reward, episode = (np.concatenate(values) for values in zip(*columns, strict=True))
    starts = np.tile(np.pad(old.starts, ((0, 0), (0, len(states) - len(old.states)))), (2, 1))
    return Log(cell, reward, episode, tasks, states, actions, ends=old.ends | new.ends, start_shares=starts)


def _positions(names: Sequence[Hashable], among: Sequence[Hashable]) -> Int[np.ndarray, " n"]:
    position = {name: number for number, name in enumerate(among)}
    return np.array([position.get(name, -1) for name in names])


def _share_followed(report: HorizonReport, visits: Int[np.ndarray, "K S A"]) -> float:
    policies, changed = report.recommendation.policies, report.recommendation.changed
    visits_changed = visits[:, : policies.shape[1]][changed]
    followed = np.take_along_axis(visits_changed, policies[changed][:, None], 1)
    return float(followed.sum() / max(visits_changed.sum(), 1))
