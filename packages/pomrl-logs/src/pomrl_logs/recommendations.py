"""Define recommendations, and alternatives to their changes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr

from pomrl_logs.amounts import Unit, amount
from pomrl_logs.logs import Log
from pomrl_logs.safe_improvement import KEEP, Policies, TaskModels

COVERAGE = "99 %"
"""The share of benchmark logs in which limits held (docs/logs.md)."""

HIDDEN_COVERAGE = "14 to 61 %"
"""The shares of groups of benchmark logs with hidden causes in which limits held."""

LIMIT_WORDS = (
    f"Such limits held in {COVERAGE} of the logs of a benchmark. If decisions used information that is not in the log, "
    f"this limit fails: in such benchmark logs it held in {HIDDEN_COVERAGE}."
)
"""The sentences beside each limit."""

NOT_SHOWN = {
    "decisions used information that no column has": "luck looks like skill",
    "episodes were reversed, and their steps numbered anew": "causes and effects are exchanged",
    "rows were left out, such as every second step": "an action stands for several steps",
    "missing rewards were filled in, for one action alone": "this action looks better or worse",
    "rewards are sums of later rewards (return-to-go)": "rewards are counted several times",
}
"""What no log shows, and its effect on the advice."""


@dataclass(frozen=True)
class Improvement:
    """The gain of recommended changes at gamma_eval, a mean over tasks and their first states.

    It is 0 if the decisions of the log are kept.
    """

    mean: float = 0.0
    """The estimate, in units of rewards."""
    lower: float = 0.0
    """The 95 % lower limit, simultaneous over plans, allowing for an unseen loss (`gains`).

    NaN if a finding of the audit removes it.
    """

    @property
    def doubt(self) -> float:
        """The ratio of limit to estimate; limits near the estimate fail more often."""
        return self.lower / self.mean if self.mean else 0.0


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The recommended policies of the tasks."""

    policies: Policies
    """The action in each state of each task, as position in `Log.actions`; -1 if decisions are kept."""
    changed: Bool[np.ndarray, "K S"]
    """Whether the log's decisions differ from the recommended action."""
    gamma: float
    """The planning discount factor of the changes."""
    support: int
    """The number of times a task must have tried an action."""
    decisions: int
    """The number of decisions: pairs of task and state with actions in the log."""
    unit: Unit
    improvement: Improvement
    transitions: float
    """The number of transitions at which the best plan's estimated gain would be significant.

    It is the size of the log if changes are recommended, infinite if no plan seems to gain, and NaN if the log is too
    small to estimate it.
    """
    unlimited_by: tuple[str, ...] = ()
    """The findings of the audit that remove the lower limit."""

    @property
    def words(self) -> str:
        changes, gain = int(self.changed.sum()), self.improvement
        if changes:
            return (
                f"Change {changes} of {self.decisions} decisions, and keep all others. Then {self.unit.rises} by an "
                f"estimated {amount(gain.mean)}, {self._limit}"
            )
        if np.isnan(self.transitions):
            return (
                "Not enough data: keep to the decisions of the log. The log is too small to estimate how many "
                "transitions would show which changes are better."
            )
        if np.isfinite(self.transitions):
            return (
                "Not enough data: keep to the decisions of the log. Some changes look better; about "
                f"{two_digits(self.transitions):,} transitions would show whether they are."
            )
        return "Keep to the decisions of the log: no change that the log has tried often enough looks better."

    @property
    def _limit(self) -> str:
        if self.unlimited_by:
            return f"with no limit, because of the audit ({', '.join(self.unlimited_by)}): changes may lose."
        return f"with a lower limit of {amount(self.improvement.lower)}. {LIMIT_WORDS}"


def two_digits(number: float) -> int:
    """Round up to two significant digits."""
    unit = 10 ** max(len(str(int(number))) - 2, 0)
    return int(np.ceil(number / unit)) * unit


MIN_VARIANCE = 1e-300
"""The smallest variance; it makes a difference without errors certain."""


@dataclass(frozen=True, eq=False)
class Alternatives:
    """The best other action in each state, compared with the policy's action."""

    action: Int[np.ndarray, "K S"]
    """The position of the action in `Log.actions`, or `KEEP` if no other action has support."""
    difference: Float[np.ndarray, "K S"]
    """The value of the policy's action minus the value of the alternative; NaN without one."""
    probability: Float[np.ndarray, "K S"]
    """The probability of a positive difference with normal errors; NaN without an alternative."""


def compare_alternatives(
    log: Log, estimate: TaskModels, policies: Policies, support: int, gamma: float
) -> Alternatives:
    """Compare each planned action with the best other supported action.

    Later actions follow the plan.
    """
    V = estimate.values(policies, gamma)
    Q = estimate.action_values(V, gamma)
    own = np.maximum(policies, 0)[..., None]
    rivals = np.where((log.visits >= support) & (np.arange(Q.shape[-1]) != own), Q, -np.inf)
    action = rivals.argmax(-1)[..., None]
    errors = _squared_errors(log, V, gamma)
    (value, error), (rival_value, rival_error) = (
        [np.take_along_axis(values, which, -1)[..., 0] for values in (Q, errors)] for which in (own, action)
    )
    difference = value - rival_value
    probability = ndtr(difference / np.sqrt(np.maximum(error + rival_error, MIN_VARIANCE)))
    has_rival = np.isfinite(rivals).any(-1) & (policies != KEEP)
    return Alternatives(
        np.where(has_rival, action[..., 0], KEEP),
        *(np.where(has_rival, values, np.nan) for values in (difference, probability)),
    )


def _squared_errors(log: Log, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
    task, _, _, following = log.indices
    returns = log.paid + gamma * V[task, following]
    n = np.maximum(log.visits, 1)
    total, squares = (log.sums_of_pairs(powers) for powers in (returns, returns**2))
    variance = (squares - total**2 / n).clip(0).sum(0) / np.maximum((n - 1).sum(0), 1)
    return variance / n
