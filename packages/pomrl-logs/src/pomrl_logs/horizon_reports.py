"""Recommend changes to the decisions recorded in a log.

The task itself must have tried a change often enough. The joint gain of all changes must have a lower limit above 0
(see `gains`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl.planning import check_gamma_eval, check_memory, one_thread, read_gammas
from pomrl_logs.amounts import amount
from pomrl_logs.gains import FOLDS, SUPPORTS, Gains, estimate_gains
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import Alternatives, Improvement, Recommendation, compare_alternatives
from pomrl_logs.reward_columns import MAX_OFFSET_RATIO
from pomrl_logs.safe_improvement import KEEP, Structure, TaskModels, estimate_tasks, is_sparse

GAMMAS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
"""The default discount factors of plans; gamma_eval is added, and larger ones are left out."""

ARRAYS_IN_MEMORY = 14
"""The number of arrays as large as the counts in memory at once."""

EQUAL_LIMITS = 1e-9
"""The tolerance between equal limits, in units of the largest value."""

MAX_TRANSITION_FACTOR = 100.0
"""The largest ratio of required to available transitions of a promising plan."""

MIN_TRANSITIONS = 100
"""The smallest log from which the number of required transitions is estimated."""

NO_ALTERNATIVE = "open"
"""The entry for a missing alternative, if no other action has support."""

NO_LIMIT = "no limit"
"""The entry for a lower limit removed by a finding of the audit."""

ALL_TASKS, DIFFERENT_ALTERNATIVES = "all", "differs"
"""The entries of a change that all tasks have: for the task, and for alternatives that differ between tasks."""

MAX_DOUBT = 0.8
"""The ratio of limit to estimate from which a report warns."""


@dataclass(frozen=True, eq=False)
class HorizonReport:
    """Recommended changes of decisions, and their gain."""

    recommendation: Recommendation
    table: "pd.DataFrame"
    """A row for each plan: support, gamma, gain (over the decisions of the log) and lower (limit or NaN)."""
    changes: "pd.DataFrame"
    """A row for each recommended change, the largest gain first.

    - task, state: the place of the change.
    - from: the decisions of the log, a text of actions and shares.
    - to: the recommended action.
    - tried, tried_in_all: how often the task, and all tasks, tried this action.
    - gain: the gain by the estimated models.
    - runner_up: the best other action with the recommended support, or "open".
    - difference: the value of `to` minus the value of runner_up.
    - probability: the probability of a positive difference.
    """
    merged_changes: "pd.DataFrame"
    """The changes, with one row for a change that all tasks have.

    Its gain is a sum, its decisions are those of all tasks, and its other numbers are the smallest ones.
    """
    tasks: "pd.DataFrame"
    """A row for each task: task, transitions, pairs (the share it tried of all tried pairs), changes (the number of
    changed states) and gain (by its estimated model).
    """
    gamma_eval: float
    starts: str
    """The states over which gains are averaged, in words."""
    warnings: list[str]
    findings: tuple[str, ...] = ()
    """The findings of the audit that remove the lower limit, one line each."""

    def __repr__(self) -> str:
        return f"HorizonReport({self.words[0]})"

    @property
    def improvement(self) -> Improvement:
        return self.recommendation.improvement

    @property
    def words(self) -> list[str]:
        unit = self.recommendation.unit
        gains = (
            f"A gain is the amount by which the discounted sum of {unit.rises} over the whole future, averaged over "
            f"tasks and {self.starts}. An amount one step later counts γ_eval = {self.gamma_eval:g} times as much. If "
            f"no episode ends, about {1 - self.gamma_eval:.2g} of the gain is earned in each step."
        )
        advice = [self.recommendation.words, *([gains] if self.recommendation.changed.any() else [])]
        return [*self.findings, *advice, *self.warnings]

    @property
    def gains(self) -> "pd.DataFrame":
        rows = self.table[self.table["support"] == self.recommendation.support]
        amounts = rows[["gain", "lower"]].map(lambda value: NO_LIMIT if np.isnan(value) else amount(value))
        return rows[["gamma"]].map("{:.3g}".format).join(amounts)


def horizon_report(
    log: Log,
    gamma_eval: float = 0.99,
    gammas: Sequence[float] | None = None,
    *,
    structure: Structure | None = None,
    seed: int = 0,
) -> HorizonReport:
    """Recommend changes to the decisions recorded in a log.

    Gains are means over tasks and their first states, in units of rewards, at gamma_eval.

    Args:
        log: The transitions and rewards.
        gamma_eval: The discount factor of evaluation, also used for plans.
        gammas: Other discount factors of plans, at most gamma_eval (default `GAMMAS`).
        structure: The declared structure of the models.
        seed: The seed of the split into folds.

    Raises:
        ValueError: A discount factor is invalid, the structure does not fit the log, or memory is too small.
    """
    _check_size(log, structure)
    log = _centred(log if structure else log.merge_ends())
    grid = _grid(gamma_eval, gammas)
    with one_thread():  # several take more time for these sizes, and change the last digits
        return _report(log, grid, structure, seed)


def _report(log: Log, grid: Float[np.ndarray, " G"], structure: Structure | None, seed: int) -> HorizonReport:
    gamma_eval = float(grid[-1])
    gains = estimate_gains(log, grid, structure, np.random.default_rng(seed))
    table = pd.DataFrame({"support": np.repeat(SUPPORTS, len(grid)), "gamma": np.tile(grid, len(SUPPORTS))})
    table = table.assign(gain=gains.mean, lower=gains.lower)
    estimate = estimate_tasks(log, structure)
    recommendation = _recommend(log, estimate, gains, table)
    unlimited_by = [finding for finding in log.findings if finding.effect == "no limit"]
    if unlimited_by:
        table["lower"] = np.nan
        recommendation = _without_limit(recommendation, tuple(finding.name for finding in unlimited_by))
    policies = recommendation.policies
    state_gains = estimate.gains(policies, gamma_eval)
    alternatives = compare_alternatives(log, estimate, policies, recommendation.support, gamma_eval)
    changes = _changes(log, recommendation, state_gains / len(log.tasks), alternatives)
    return HorizonReport(
        recommendation,
        table,
        changes,
        _merge(log, changes),
        _tasks(log, recommendation, state_gains),
        gamma_eval,
        "the states in which their episodes start" if log.has_episodes else "their states with decisions",
        _warnings(recommendation.improvement),
        tuple(finding.line for finding in unlimited_by),
    )


def longest_time(log: Log, gamma_eval: float) -> float:
    """Estimate the longest time of a report in seconds, by timing one policy.

    ValueError if memory is too small.
    """
    _check_size(log, None)
    models, policy = estimate_tasks(log), np.full(log.starts.shape, KEEP)
    start = perf_counter()
    models.values(policy, gamma_eval)
    models.occupancy(policy, gamma_eval)
    end_cases = 1 + bool(log.worst_ends.any())
    return (perf_counter() - start) * FOLDS * end_cases * (1 + len(SUPPORTS) * len(_grid(gamma_eval, None)))


def _check_size(log: Log, structure: Structure | None) -> None:
    cells = int(np.prod(log.shape[:3] if is_sparse(log, structure) else log.shape))
    check_memory(ARRAYS_IN_MEMORY * 8 * cells, f"a report on {len(log.tasks)} tasks, {len(log.states)} states")


def _centred(log: Log) -> Log:
    """Subtract the median reward if a large offset costs precision.

    Without ends, a constant added to all rewards changes no gain.
    """
    shift = float(np.median(log.paid))
    if (
        log.known_rewards is not None
        or not log.nonterminal.all()
        or abs(shift) <= MAX_OFFSET_RATIO * float(np.ptp(log.paid))
    ):
        return log
    return replace(log, reward=log.reward - shift)


def _grid(gamma_eval: float, gammas: Any) -> Float[np.ndarray, " G"]:
    check_gamma_eval(gamma_eval)
    _, grid, _ = read_gammas([gamma for gamma in GAMMAS if gamma <= gamma_eval] if gammas is None else gammas)
    if grid[-1] > gamma_eval:
        raise ValueError(f"gammas must be at most gamma_eval = {gamma_eval:g}, got {grid[-1]:g}")
    return np.unique([*grid, gamma_eval])


def _recommend(log: Log, estimate: TaskModels, gains: Gains, table: "pd.DataFrame") -> Recommendation:
    """Recommend the plan with the best observed limit, or no change.

    Only plans with `Gains.lower` above 0 are recommended.
    """
    tolerance = EQUAL_LIMITS * float(np.abs(log.paid).max() / (1.0 - table["gamma"].max()))
    safe = (gains.lower > tolerance) | (gains.lower.max() <= tolerance)
    limits = np.where(safe, gains.observed_lower, -np.inf)
    best = int(np.flatnonzero(limits >= limits.max() - tolerance)[-1])  # the longest horizon of equal plans
    support, gamma = int(table["support"][best]), float(table["gamma"][best])
    (policies,) = estimate.plans(support, np.array([gamma]))
    followed_visits = np.take_along_axis(log.visits, np.maximum(policies, 0)[..., None], -1)[..., 0]
    changed = (policies != KEEP) & (followed_visits < log.visits.sum(-1))
    decisions = int(log.decides.sum())
    if gains.lower[best] <= tolerance or not changed.any():
        baseline = np.full_like(policies, KEEP)
        unchanged = np.zeros_like(changed)
        return Recommendation(
            baseline, unchanged, gamma, support, decisions, log.unit, Improvement(), _enough(log, gains)
        )
    improvement = Improvement(float(gains.mean[best]), float(gains.lower[best]))
    return Recommendation(policies, changed, gamma, support, decisions, log.unit, improvement, float(len(log.cell)))


def _without_limit(recommendation: Recommendation, unlimited_by: tuple[str, ...]) -> Recommendation:
    if not recommendation.changed.any():
        return recommendation
    improvement = replace(recommendation.improvement, lower=np.nan)
    return replace(recommendation, improvement=improvement, unlimited_by=unlimited_by)


def _enough(log: Log, gains: Gains) -> float:
    """Estimate the number of transitions required for a positive lower limit.

    Standard errors shrink with its square root. The number is infinite without a promising plan, and NaN if it cannot
    be estimated.
    """
    transitions, better = len(log.cell), (gains.mean > 0) & (gains.deviation > 0)
    if log.visits.max() < SUPPORTS[0]:
        return np.nan  # no plan could be compared
    factor = (1.0 - gains.lower[better] / gains.mean[better]) ** 2
    if factor.min(initial=np.inf) > MAX_TRANSITION_FACTOR:
        return np.inf
    # The number has twice the relative error of the gain. Standard errors from few transitions are wrong, and a gain
    # smaller than its standard error gives any number up to infinity.
    is_reliable = transitions >= MIN_TRANSITIONS and (gains.mean >= gains.deviation)[better][factor.argmin()]
    return float(transitions * factor.min()) if is_reliable else np.nan


def _changes(
    log: Log, recommendation: Recommendation, gains: Float[np.ndarray, "K S"], alternatives: Alternatives
) -> "pd.DataFrame":
    k, s = np.nonzero(recommendation.changed)
    a, visits = recommendation.policies[k, s], log.visits
    columns = {
        "task": [log.tasks[task] for task in k],
        "state": [log.states[state] for state in s],
        "from": [_decision_shares(log, visits[task, state]) for task, state in zip(k, s, strict=True)],
        "to": [log.actions[action] for action in a],
        "tried": visits[k, s, a],
        "tried_in_all": visits.sum(0)[s, a],
        "gain": gains[k, s],
        "runner_up": [
            NO_ALTERNATIVE if action == KEEP else log.actions[action] for action in alternatives.action[k, s]
        ],
        "difference": alternatives.difference[k, s],
        "probability": alternatives.probability[k, s],
    }
    return pd.DataFrame(columns).sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _merge(log: Log, changes: "pd.DataFrame") -> "pd.DataFrame":
    decisions = changes.groupby(["state", "to"], sort=False)
    is_shared = (decisions["task"].transform("size") == len(log.tasks)) & (len(log.tasks) > 1)
    shared = [_merge_tasks(log, rows) for _, rows in changes[is_shared].groupby("state", sort=False)]
    merged = pd.concat([pd.DataFrame(shared, columns=changes.columns), changes[~is_shared]])
    return merged.sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _merge_tasks(log: Log, rows: "pd.DataFrame") -> dict[Any, Any]:
    first, least = rows.iloc[0], rows[["tried", "difference", "probability"]].min().to_dict()
    shares = _decision_shares(log, log.visits.sum(0)[log.states.index(first["state"])])
    runner_up = first["runner_up"] if rows["runner_up"].nunique() == 1 else DIFFERENT_ALTERNATIVES
    entries = {"task": ALL_TASKS, "from": shares, "gain": rows["gain"].sum(), "runner_up": runner_up}
    return {**first, **least, **entries, "tried": int(least["tried"])}


def _decision_shares(log: Log, visits: Int[np.ndarray, " A"]) -> str:
    often = [int(action) for action in np.argsort(-visits, kind="stable") if visits[action]]
    return ", ".join(f"{log.actions[action]} {visits[action] / visits.sum():.0%}" for action in often)


def _tasks(log: Log, recommendation: Recommendation, gains: Float[np.ndarray, "K S"]) -> "pd.DataFrame":
    columns = {
        "task": log.tasks,
        "transitions": log.visits.sum((1, 2)),
        "pairs": (log.visits > 0)[:, log.tried].mean(-1),
        "changes": recommendation.changed.sum(-1),
        "gain": gains.sum(-1),
    }
    return pd.DataFrame(columns)


def _warnings(improvement: Improvement) -> list[str]:
    if not improvement.doubt >= MAX_DOUBT:  # NaN without a limit
        return []
    return [
        f"The lower limit is {improvement.doubt:.0%} of the estimated gain. It does not allow for small errors of the "
        "models, and may be too high."
    ]
