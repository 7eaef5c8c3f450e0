"""Estimate gains over the decisions of a log, with simultaneous lower limits.

Plans are made without one fold of the episodes, and evaluated on this fold. A value by the models is corrected by
temporal-difference errors in the fold. Their weights are ratios of visits under the policy and in the log. This
estimator is doubly robust (Jiang and Li, 2016; Kallus and Uehara, 2020). The estimated gain is the mean over folds with
or without the correction, whichever is smaller.

The limits of all plans hold simultaneously, so the plan with the highest limit may be selected (Chernozhukov,
Chetverikov and Kato, 2013). The probability is 95 % for normal errors with variances as in the log.

Rare losses may be missing in the log. After n rare events, a uniform prior expects n + 1, with the same variance. The
limits therefore count one more transition, from the most harmful pair and with the worst outcome. Its error lowers the
limit, and its square is added to the variance. Among plans with limits above 0, the plan with the highest limit from
observed data is recommended.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl_logs.logs import Log
from pomrl_logs.safe_improvement import KEEP, Policies, Structure, TaskModels, estimate_tasks

FOLDS = 5
"""The number of folds of episodes."""

SUPPORTS = (5, 10, 20, 50, 100, 200)
"""The compared supports: how often a task must have tried an action of the plan."""

CONFIDENCE = 0.95
"""The simultaneous coverage of the limits for normal errors."""

QUANTILE_DRAWS = 4000
"""The number of draws for the quantile of the largest error."""

States = Bool[np.ndarray, " S"]
"""A mask of states."""


@dataclass(frozen=True, eq=False)
class PolicyValues:
    """The values of policies by task, averaged over first states."""

    by_models: Float[np.ndarray, " K"]
    corrected: Float[np.ndarray, " K"]
    """The values, corrected by model errors on the test fold."""
    errors: Float[np.ndarray, " E"]
    """The independent contribution of each episode in the fold."""
    weights: Float[np.ndarray, "K S A"]
    """The weight of a transition error, for each pair."""
    surprise: Float[np.ndarray, "K S A"]
    """The largest loss of value by one more transition from each pair."""

    def __sub__(self, other: "PolicyValues") -> "PolicyValues":
        """Return the difference, with the surprises of the first value."""
        return PolicyValues(
            self.by_models - other.by_models,
            self.corrected - other.corrected,
            self.errors - other.errors,
            self.weights - other.weights,
            self.surprise,
        )

    @property
    def unseen(self) -> float:
        """The largest decrease of value by one more transition, at least 0."""
        return float((self.weights * self.surprise).max(initial=0.0))


class FoldEvaluator:
    """An evaluator of policies on one fold, with models from the other folds."""

    def __init__(
        self, estimate: TaskModels, test_log: Log, gamma: float, nonterminal: States, unentered: States
    ) -> None:
        self.estimate = estimate
        self.gamma = gamma
        self._nonterminal, self._unentered = nonterminal, unentered
        self._pair, self._paid = test_log.cell // len(test_log.states), test_log.paid
        self._task, self._state, _, self._following = test_log.indices
        self._episode = np.unique(test_log.episode, return_inverse=True)[1]

    def value(self, policies: Policies) -> PolicyValues:
        V, weights = self.estimate.values(policies, self.gamma), self._weights(policies)
        outcome = self._paid + self.gamma * V[self._task, self._following]
        error = (outcome - V[self._task, self._state]) * weights.ravel()[self._pair]
        means = self.estimate.means(V)
        corrected = means + np.bincount(self._task, error, len(V))
        return PolicyValues(means, corrected, np.bincount(self._episode, error), weights, self._surprise(V, outcome))

    def _surprise(self, V: Float[np.ndarray, "K S"], outcome: Float[np.ndarray, " n"]) -> Float[np.ndarray, "K S A"]:
        """Return each pair's largest loss by one more transition.

        The transition has the worst outcome in the fold, or enters a state never entered in the log. Ends have no loss.
        """
        Q = self.estimate.action_values(V, self.gamma)
        lowest = V[:, self._unentered].min(-1, initial=V.max())[:, None, None]
        entering = Q - self.estimate.R[..., 1:] - self.gamma * lowest
        worst = (Q.ravel()[self._pair] - outcome).max(initial=0.0)
        return np.where(self._nonterminal[:, None], np.maximum(entering, worst), 0.0)

    def _weights(self, policies: Policies) -> Float[np.ndarray, "K S A"]:
        """Return the ratio of policy visits to expected transitions in the fold.

        Where decisions are kept, transitions of all actions count.
        """
        visits = self.estimate.visits
        baseline = (policies == KEEP)[..., None]
        sampled = baseline | (np.arange(visits.shape[-1]) == policies[..., None])
        test_visits = np.where(baseline, visits.sum(-1, keepdims=True), visits) / FOLDS
        occupancy = np.broadcast_to(self.estimate.occupancy(policies, self.gamma)[..., None], visits.shape)
        return np.divide(occupancy, test_visits, out=np.zeros(visits.shape), where=sampled & (test_visits > 0))


def fold_evaluators(
    log: Log,
    gamma: float,
    structure: Structure | None,
    fold: Int[np.ndarray, " n"],
    end_rewards: Float[np.ndarray, " S"],
) -> Iterator[FoldEvaluator]:
    """Yield an evaluator for each fold, with visits of the whole log.

    `fold` has the fold of each transition (`Log.split`), and `end_rewards` the reward per step in each end.
    """
    _, state, _, following = log.indices
    nonterminal, entered = (
        np.isin(np.arange(len(log.states)), states[state != following]) for states in (state, following)
    )
    unentered = np.asarray(log.tried.any(1) & ~entered)
    for number in range(FOLDS):
        models = estimate_tasks(log.only(fold != number), structure, end_rewards)
        yield FoldEvaluator(replace(models, visits=log.visits), log.only(fold == number), gamma, nonterminal, unentered)


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of C plans over a log, averaged over tasks and their first states."""

    mean: Float[np.ndarray, " C"]
    deviation: Float[np.ndarray, " C"]
    """The standard errors."""
    unseen: Float[np.ndarray, " C"]
    """The largest loss of each gain by one more transition."""
    quantile: float
    """The number of standard errors between a gain and its lower limit."""

    @property
    def observed_lower(self) -> Float[np.ndarray, " C"]:
        """The simultaneous lower limits by the observed data."""
        return self.mean - self.quantile * self.deviation

    @property
    def lower(self) -> Float[np.ndarray, " C"]:
        """The lower limits with one more transition."""
        return self.mean - self.unseen - self.quantile * np.hypot(self.deviation, self.unseen)

    def least(self, other: "Gains") -> "Gains":
        """Select the gain with the smaller lower limit, for each plan."""
        fields = [(self.mean, other.mean), (self.deviation, other.deviation), (self.unseen, other.unseen)]
        own = self.lower <= other.lower
        mean, deviation, unseen = (np.where(own, mine, theirs) for mine, theirs in fields)
        return Gains(mean, deviation, unseen, max(self.quantile, other.quantile))


def estimate_gains(
    log: Log, gammas: Float[np.ndarray, " G"], structure: Structure | None, rng: np.random.Generator
) -> Gains:
    """Estimate gains for each support and discount factor, in this order.

    Policies are evaluated at the last discount factor. Undeclared ends may pay nothing, or the worst reward of the log
    per step. Plans assume the worst reward, and get the smaller lower limit.
    """
    fold, worst = log.split(FOLDS, rng), log.worst_ends
    end_cases = [worst, np.zeros_like(worst)] if worst.any() else [worst]
    totals = [_Total.zeros(len(SUPPORTS) * len(gammas)) for _ in end_cases]
    evaluators_by_case = [
        fold_evaluators(log, float(gammas[-1]), structure, fold, end_rewards) for end_rewards in end_cases
    ]
    for evaluators in zip(*evaluators_by_case, strict=True):
        plans = np.concatenate([evaluators[0].estimate.plans(support, gammas) for support in SUPPORTS])
        for evaluator, total in zip(evaluators, totals, strict=True):
            total.add(evaluator, plans, len(log.tasks))
    first, *other_totals = [total.gains(rng) for total in totals]
    for other in other_totals:
        first = first.least(other)
    return first


@dataclass(eq=False)
class _Total:
    means: Float[np.ndarray, "2 C"]
    unseen: Float[np.ndarray, " C"]
    covariance: Float[np.ndarray, "C C"]

    @classmethod
    def zeros(cls, size: int) -> "_Total":
        return cls(np.zeros((2, size)), np.zeros(size), np.zeros((size, size)))

    def add(self, evaluator: FoldEvaluator, plans: Int[np.ndarray, "C K S"], tasks: int) -> None:
        baseline = evaluator.value(np.full_like(plans[0], KEEP))
        different, which = np.unique(plans, axis=0, return_inverse=True)
        values = [evaluator.value(plan) - baseline for plan in different]
        gains = [values[number] for number in which.ravel()]
        self.means += np.transpose([(gain.by_models.mean(), gain.corrected.mean()) for gain in gains]) / FOLDS
        errors = np.stack([gain.errors for gain in gains]) / (FOLDS * tasks)
        self.covariance += errors @ errors.T
        self.unseen = np.maximum(self.unseen, [gain.unseen / (FOLDS * tasks) for gain in gains])

    def gains(self, rng: np.random.Generator) -> Gains:
        deviation = np.sqrt(self.covariance.diagonal())
        return Gains(self.means.min(0), deviation, self.unseen, _quantile(self.covariance, deviation, rng))


def _quantile(
    covariance: Float[np.ndarray, "C C"], deviation: Float[np.ndarray, " C"], rng: np.random.Generator
) -> float:
    """Return the quantile of the largest normal error, in standard deviations."""
    unit = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    # The symmetric root, because the signs of eigenvectors differ between processors.
    root = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    return float(np.quantile((rng.standard_normal((QUANTILE_DRAWS, len(root))) @ root).max(-1), CONFIDENCE))
