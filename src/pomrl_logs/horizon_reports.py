"""What to change in the decisions of a log, by what the log says: one recommendation, and what it rests on.

Whoever has a log has decisions that work. The report recommends to change them only where transitions of the task
itself support a change, and where the gain of all changes together is above 0 at its lower limit (`gains`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl.base import check_memory
from pomrl.models.inputs import read_gammas
from pomrl.science.mdp import check_gamma_eval
from pomrl_logs.departures import KEEP, Estimate
from pomrl_logs.estimation import estimate_tasks, is_sparse
from pomrl_logs.gains import SUPPORTS, Gains, estimate_gains
from pomrl_logs.logs import Log
from pomrl_logs.recommendations import Improvement, Recommendation
from pomrl_logs.reward_columns import LARGE_OFFSET
from pomrl_logs.runners_up import RunnersUp, runners_up
from pomrl_logs.structure import Structure

GAMMAS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
"""The discount factors that are compared by default, as far as they are below gamma_eval, which is added."""

ARRAYS = 14
"""How many arrays of the size of the counts are held together."""

SAME = 1e-9
"""Limits that differ by less, in units of the largest value, are equal."""

MOST_TRANSITIONS = 100.0
"""If more than this multiple of the transitions were needed to show a gain, no plan is said to look better."""

OPEN = "open"
"""What stands in the place of a runner-up where no other action was tried often enough."""

DOUBTFUL = 0.8
"""From this doubt on a report warns of its limit."""


@dataclass(frozen=True, eq=False)
class HorizonReport:
    """What to change in the decisions of a log, and what that gains."""

    recommendation: Recommendation
    table: "pd.DataFrame"
    """A row for each way to plan, with columns support, gamma, gain and lower (the estimated gain over the decisions of
    the log and its lower limit)."""
    changes: "pd.DataFrame"
    """A row for each recommended change, with columns task, state, from (what the log does there), to, tried and
    tried_in_all (how often the task, and all tasks, have tried it), gain (what the change adds to the gain by the
    estimated models), runner_up (the best other action that the task has tried as often as `recommendation.support`
    says, or "open" where there is none), difference (how much more `to` is worth than that one), and probability (that
    it is worth more). The largest gain is the first."""
    tasks: "pd.DataFrame"
    """A row for each task, with columns task, transitions, pairs (the share of pairs that it has tried), changes (in
    how many states), and gain (that of the task by its estimated model)."""
    gamma_eval: float
    warnings: list[str]
    """What else is to be known, a line each."""
    findings: tuple[str, ...] = ()
    """What the audit of the log found that weakens the advice, a line each; it stands above the advice."""

    def __repr__(self) -> str:
        return f"HorizonReport({self.words[0]})"

    @property
    def improvement(self) -> Improvement:
        """What the recommended changes gain over the decisions of the log."""
        return self.recommendation.improvement

    @property
    def words(self) -> list[str]:
        """What weakens the advice, the recommendation, what a gain is, and the warnings as sentences."""
        gains = (
            "A gain is what is earned more over the whole future, in units of rewards, where a reward one step later "
            f"counts γ_eval = {self.gamma_eval:g} times as much; it is a mean over tasks and states. Where no episode "
            f"ends, about {1 - self.gamma_eval:.2g} of it is gained in each step."
        )
        advice = [self.recommendation.words, *([gains] if self.recommendation.changed.any() else [])]
        return [*self.findings, *advice, *self.warnings]

    @property
    def gains(self) -> "pd.DataFrame":
        """The rows of the table with the recommended support, as text."""
        rows = self.table[self.table["support"] == self.recommendation.support]
        return rows[["gamma", "gain", "lower"]].map("{:.3g}".format)


def horizon_report(
    log: Log,
    gamma_eval: float = 0.99,
    gammas: Sequence[float] | None = None,
    *,
    structure: Structure | None = None,
    seed: int = 0,
) -> HorizonReport:
    """Recommend what to change in the decisions of a log, by what its transitions and rewards say.

    Gains are means over tasks and states, in the units of rewards, at gamma_eval.

    Args:
        log: The transitions and rewards.
        gamma_eval: The discount factor that policies are judged at; it is always among those to plan with.
        gammas: The other discount factors to plan with, each at most gamma_eval; by default those of `GAMMAS` that are.
        structure: What the models of tasks have in common, if that is known (`pomrl_logs.Structure`).
        seed: The seed by which transitions are dealt out into parts.

    Raises:
        ValueError: A discount factor is above gamma_eval or not in [0, 1), the structure does not fit the log, or the
            report would take too much memory.
    """
    cells = int(np.prod(log.shape[:3] if is_sparse(log, structure) else log.shape))
    check_memory(ARRAYS * 8 * cells, f"a report on {len(log.tasks)} tasks, {len(log.states)} states")
    log = _centred(log)
    grid = _grid(gamma_eval, gammas)
    gains = estimate_gains(log, grid, structure, np.random.default_rng(seed))
    table = pd.DataFrame({"support": np.repeat(SUPPORTS, len(grid)), "gamma": np.tile(grid, len(SUPPORTS))})
    table = table.assign(gain=gains.mean, lower=gains.lower)
    estimate = estimate_tasks(log, structure)
    recommendation = _recommend(log, estimate, gains, table)
    policies = recommendation.policies
    of_states = estimate.gains(policies, gamma_eval)
    others = runners_up(log, estimate, policies, recommendation.support, gamma_eval)
    return HorizonReport(
        recommendation,
        table,
        _changes(log, recommendation, of_states / len(log.tasks), others),
        _tasks(log, recommendation, of_states),
        gamma_eval,
        _warnings(recommendation.improvement),
        tuple(finding.line for finding in log.findings if finding.effect == "weakens"),
    )


def _centred(log: Log) -> Log:
    """Return a log without what its rewards have in common, where that costs digits and no state is an end.

    Where no episode ends, a number that is added to all rewards changes no gain.
    """
    shift = float(np.median(log.paid))
    if log.known is not None or not log.left.all() or abs(shift) <= LARGE_OFFSET * float(np.ptp(log.paid)):
        return log
    return replace(log, reward=log.reward - shift)


def _grid(gamma_eval: float, gammas: Any) -> Float[np.ndarray, " G"]:
    """Return the discount factors to compare, ascending; gamma_eval is the last one."""
    check_gamma_eval(gamma_eval)
    _, grid, _ = read_gammas([gamma for gamma in GAMMAS if gamma <= gamma_eval] if gammas is None else gammas)
    if grid[-1] > gamma_eval:
        raise ValueError(f"gamma = {grid[-1]:g} is above gamma_eval = {gamma_eval:g}; it has to be at most that")
    return np.unique([*grid, gamma_eval])


def _recommend(log: Log, estimate: Estimate, gains: Gains, table: "pd.DataFrame") -> Recommendation:
    """Recommend the plan that is best by what the log shows, of those whose limits are above 0.

    Of equal ones it is that with the longest horizon.
    """
    tolerance = SAME * float(np.abs(log.paid).max() / (1.0 - table["gamma"].max()))
    safe = (gains.lower > tolerance) | (gains.lower.max() <= tolerance)
    shown = np.where(safe, gains.shown, -np.inf)
    best = int(np.flatnonzero(shown >= shown.max() - tolerance)[-1])
    support, gamma = int(table["support"][best]), float(table["gamma"][best])
    (policies,) = estimate.plans(support, np.array([gamma]))
    taken = np.take_along_axis(log.visits, np.maximum(policies, 0)[..., None], -1)[..., 0]
    changed = (policies != KEEP) & (taken < log.visits.sum(-1))
    if gains.lower[best] <= tolerance or not changed.any():
        kept = np.full_like(policies, KEEP)
        return Recommendation(kept, kept != KEEP, gamma, support, Improvement(), _enough(log, gains))
    improvement = Improvement(float(gains.mean[best]), float(gains.lower[best]))
    return Recommendation(policies, changed, gamma, support, improvement, float(len(log.cell)))


def _enough(log: Log, gains: Gains) -> float:
    """Return how many transitions would raise a limit above 0, because standard errors shrink with their square root.

    A log in which no action has been tried often enough has to be so much larger that one has.
    """
    tried, most = len(log.cell), int(log.visits.max())
    if most < SUPPORTS[0]:
        return tried * SUPPORTS[0] / most
    better = (gains.mean > 0) & (gains.deviation > 0)
    more = (1.0 - gains.lower[better] / gains.mean[better]) ** 2
    return float(tried * more.min()) if more.min(initial=np.inf) <= MOST_TRANSITIONS else np.inf


def _changes(
    log: Log, recommendation: Recommendation, gains: Float[np.ndarray, "K S"], others: RunnersUp
) -> "pd.DataFrame":
    k, s = np.nonzero(recommendation.changed)
    a, visits = recommendation.policies[k, s], log.visits
    columns = {
        "task": [log.tasks[task] for task in k],
        "state": [log.states[state] for state in s],
        "from": [_usual(log, visits[task, state]) for task, state in zip(k, s, strict=True)],
        "to": [log.actions[action] for action in a],
        "tried": visits[k, s, a],
        "tried_in_all": visits.sum(0)[s, a],
        "gain": gains[k, s],
        "runner_up": [OPEN if action == KEEP else log.actions[action] for action in others.action[k, s]],
        "difference": others.difference[k, s],
        "probability": others.probability[k, s],
    }
    return pd.DataFrame(columns).sort_values("gain", ascending=False, kind="stable", ignore_index=True)


def _usual(log: Log, visits: Int[np.ndarray, " A"]) -> str:
    """Return what the log does in a state, the most frequent actions first."""
    often = [int(action) for action in np.argsort(-visits, kind="stable") if visits[action]]
    return ", ".join(f"{log.actions[action]} {visits[action] / visits.sum():.0%}" for action in often)


def _tasks(log: Log, recommendation: Recommendation, gains: Float[np.ndarray, "K S"]) -> "pd.DataFrame":
    columns = {
        "task": log.tasks,
        "transitions": log.visits.sum((1, 2)),
        "pairs": (log.visits > 0)[:, log.seen].mean(-1),
        "changes": recommendation.changed.sum(-1),
        "gain": gains.sum(-1),
    }
    return pd.DataFrame(columns)


def _warnings(improvement: Improvement) -> list[str]:
    if improvement.doubt < DOUBTFUL:
        return []
    return [
        f"The limit is {improvement.doubt:.0%} of the estimated gain, so that a small error of the models, which it "
        "does not count, may make it too high."
    ]
