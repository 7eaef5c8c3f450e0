"""What plans gain over the decisions of a log, with lower limits that pay for choosing among plans.

The episodes of the log are dealt out into parts. Plans are made without a part and judged with it: a value by the
estimated models is corrected by the temporal-difference errors of the transitions of that part, each weighted by how
often the policy comes there, and how often the log does. This estimator is doubly robust (Jiang and Li, 2016; Kallus
and Uehara, 2020): it errs by products of an error of the models and one of the weights. The estimate is a mean over
parts. Where the models alone say less, theirs is the estimate.

All plans that are compared get their limits together, so that the plan with the highest one may be taken (Chernozhukov,
Chetverikov and Kato, 2013). If errors were normal, with the variances that the log shows, every limit would be below
the gain with a probability of 95 %.

A loss that is too rare for the log to show it makes errors larger than they look. Whoever has counted n rare events
expects n + 1, with this variance too, if all rates were as likely before. Therefore one more transition is counted than
the log has, where it lowers the gain most, with the worst surprise of any task, state and action: a limit is lower by
its error, whose square joins the variance. What a log may have missed is no reason to prefer a plan: of those whose
limits are above 0, the one is taken that is best by what the log shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.results.intervals import CONFIDENCE_PERCENT
from pomrl_logs.departures import KEEP, Estimate, Policies
from pomrl_logs.estimation import estimate_tasks
from pomrl_logs.logs import Log
from pomrl_logs.structure import Structure

PARTS = 5
"""Into so many parts the episodes are dealt out."""

SUPPORTS = (5, 10, 20, 50, 100, 200)
"""How often a task has to have tried an action before a plan may depart to it: what is compared."""

LEVEL = CONFIDENCE_PERCENT / 100
"""The probability with which all limits would hold if errors were normal."""

DRAWS = 4000
"""The number of draws from which the quantile of the largest error comes."""

States = Bool[np.ndarray, " S"]
"""Whether transitions of the log leave each state for another one, or none enters it although a task was there."""


@dataclass(frozen=True, eq=False)
class Value:
    """The values of the policies of tasks, means over first states."""

    by_models: Float[np.ndarray, " K"]
    corrected: Float[np.ndarray, " K"]
    """The same with the errors that the models make on a part of the log."""
    errors: Float[np.ndarray, " E"]
    """What each episode of that part adds, which is independent of what others add."""
    weights: Float[np.ndarray, "K S A"]
    """What the error of a transition from each pair counts with."""
    surprise: Float[np.ndarray, "K S A"]
    """The most that one more transition from each pair could be worth less than expected, in units of values."""

    def __sub__(self, other: "Value") -> "Value":
        """Return the difference, with the surprises of the first value."""
        return Value(
            self.by_models - other.by_models,
            self.corrected - other.corrected,
            self.errors - other.errors,
            self.weights - other.weights,
            self.surprise,
        )

    @property
    def unseen(self) -> float:
        """The largest decrease of the value by one more transition, in units of the summed values; at least 0."""
        return float((self.weights * self.surprise).max(initial=0.0))


class Judge:
    """What a part of a log says of policies, beside models that come from the other parts."""

    def __init__(self, estimate: Estimate, part: Log, gamma: float, left: States, unentered: States) -> None:
        self.estimate = estimate
        self.gamma = gamma
        self._left, self._unentered = left, unentered
        self._pair, self._paid = part.cell // len(part.states), part.paid
        self._task, self._state, _, self._following = part.places
        self._episode = np.unique(part.episode, return_inverse=True)[1]

    def value(self, policies: Policies) -> Value:
        """Return the value of policies."""
        V, weights = self.estimate.values(policies, self.gamma), self._weights(policies)
        outcome = self._paid + self.gamma * V[self._task, self._following]
        error = (outcome - V[self._task, self._state]) * weights.ravel()[self._pair]
        corrected = V.mean(-1) + np.bincount(self._task, error, len(V))
        return Value(V.mean(-1), corrected, np.bincount(self._episode, error), weights, self._surprise(V, outcome))

    def _surprise(self, V: Float[np.ndarray, "K S"], outcome: Float[np.ndarray, " n"]) -> Float[np.ndarray, "K S A"]:
        """Return by how much one more transition from each pair could be worth less than expected.

        It is as much as with the worst outcome in this part, whatever its pair. Or the transition enters a state that
        no transition of the log enters, because something must lead there. A state that none leaves is an end, where
        nothing else happens.
        """
        Q = self.estimate.action_values(V, self.gamma)
        lowest = V[:, self._unentered].min(-1, initial=V.max())[:, None, None]
        entering = Q - self.estimate.R[..., 1:] - self.gamma * lowest
        worst = (Q.ravel()[self._pair] - outcome).max(initial=0.0)
        return np.where(self._left[:, None], np.maximum(entering, worst), 0.0)

    def _weights(self, policies: Policies) -> Float[np.ndarray, "K S A"]:
        """Return how often policies come to a pair, for each transition that a part is expected to have from there.

        In a state in which decisions are kept, each of them is a sample of what is done.
        """
        visits = self.estimate.visits
        kept = (policies == KEEP)[..., None]
        sampled = kept | (np.arange(visits.shape[-1]) == policies[..., None])
        of_part = np.where(kept, visits.sum(-1, keepdims=True), visits) / PARTS
        occupancy = np.broadcast_to(self.estimate.occupancy(policies, self.gamma)[..., None], visits.shape)
        return np.divide(occupancy, of_part, out=np.zeros(visits.shape), where=sampled & (of_part > 0))


def judges(
    log: Log, gamma: float, structure: Structure | None, part: Int[np.ndarray, " n"], of_ends: Float[np.ndarray, " S"]
) -> Iterator[Judge]:
    """Yield what each part of a log says of policies; how often actions were tried is known from the whole log.

    Args:
        log: The transitions and rewards.
        gamma: The discount factor that policies are judged at.
        structure: What the models of tasks have in common, if that is known.
        part: The part of each transition (`Log.parts`).
        of_ends: What each state pays in each step if it is an end.
    """
    _, state, _, following = log.places
    left, entered = (np.isin(np.arange(len(log.states)), states[state != following]) for states in (state, following))
    unentered = np.asarray(log.seen.any(1) & ~entered)
    for number in range(PARTS):
        others = estimate_tasks(log.only(part != number), structure, of_ends)
        yield Judge(replace(others, visits=log.visits), log.only(part == number), gamma, left, unentered)


@dataclass(frozen=True, eq=False)
class Gains:
    """What each of C ways to plan gains over the decisions of a log, a mean over tasks and states."""

    mean: Float[np.ndarray, " C"]
    deviation: Float[np.ndarray, " C"]
    """The standard errors."""
    unseen: Float[np.ndarray, " C"]
    """By how much one more transition than the log has could lower each gain."""
    quantile: float
    """The number of standard errors by which a lower limit is below its mean."""

    @property
    def shown(self) -> Float[np.ndarray, " C"]:
        """The limits above which all gains are together, by what the log shows."""
        return self.mean - self.quantile * self.deviation

    @property
    def lower(self) -> Float[np.ndarray, " C"]:
        """The limits, with one more transition."""
        return self.mean - self.unseen - self.quantile * np.hypot(self.deviation, self.unseen)

    def least(self, other: "Gains") -> "Gains":
        """Return for each way to plan the gain whose limit is lower."""
        fields = [(self.mean, other.mean), (self.deviation, other.deviation), (self.unseen, other.unseen)]
        own = self.lower <= other.lower
        mean, deviation, unseen = (np.where(own, mine, others) for mine, others in fields)
        return Gains(mean, deviation, unseen, max(self.quantile, other.quantile))


def estimate_gains(
    log: Log, gammas: Float[np.ndarray, " G"], structure: Structure | None, rng: np.random.Generator
) -> Gains:
    """Return the gains of planning with each of `SUPPORTS` and each discount factor, in this order.

    Policies are judged at the last discount factor. Ends that nobody has declared may pay nothing, or the worst that
    the log shows, in each step: each plan has the lower limit of the two, and plans are those for the worst.
    """
    part, worst = log.parts(PARTS, rng), log.worst_ends
    worlds = [worst, np.zeros_like(worst)] if worst.any() else [worst]
    totals = [_Total.of_size(len(SUPPORTS) * len(gammas)) for _ in worlds]
    of_worlds = [judges(log, float(gammas[-1]), structure, part, of_ends) for of_ends in worlds]
    for of_part in zip(*of_worlds, strict=True):
        plans = np.concatenate([of_part[0].estimate.plans(support, gammas) for support in SUPPORTS])
        for judge, total in zip(of_part, totals, strict=True):
            total.add(judge, plans, len(log.tasks))
    first, *others = [total.gains(rng) for total in totals]
    for other in others:
        first = first.least(other)
    return first


@dataclass(eq=False)
class _Total:
    """The sums over parts of what plans gain."""

    means: Float[np.ndarray, "2 C"]
    unseen: Float[np.ndarray, " C"]
    covariance: Float[np.ndarray, "C C"]

    @classmethod
    def of_size(cls, size: int) -> "_Total":
        """Return sums of nothing, for so many plans."""
        return cls(np.zeros((2, size)), np.zeros(size), np.zeros((size, size)))

    def add(self, judge: Judge, plans: Int[np.ndarray, "C K S"], tasks: int) -> None:
        """Add what a part of the log says of plans."""
        kept = judge.value(np.full_like(plans[0], KEEP))
        different, which = np.unique(plans, axis=0, return_inverse=True)
        of_different = [judge.value(plan) - kept for plan in different]
        gains = [of_different[number] for number in which.ravel()]
        self.means += np.transpose([(gain.by_models.mean(), gain.corrected.mean()) for gain in gains]) / PARTS
        errors = np.stack([gain.errors for gain in gains]) / (PARTS * tasks)
        self.covariance += errors @ errors.T
        self.unseen = np.maximum(self.unseen, [gain.unseen / (PARTS * tasks) for gain in gains])

    def gains(self, rng: np.random.Generator) -> Gains:
        """Return the gains of the plans."""
        deviation = np.sqrt(self.covariance.diagonal())
        return Gains(self.means.min(0), deviation, self.unseen, _quantile(self.covariance, deviation, rng))


def _quantile(
    covariance: Float[np.ndarray, "C C"], deviation: Float[np.ndarray, " C"], rng: np.random.Generator
) -> float:
    """Return the quantile of the largest of normal errors, each in units of its deviation."""
    unit = np.where(deviation > 0, deviation, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    # The symmetric root, because signs of eigenvectors differ between processors.
    root = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    return float(np.quantile((rng.standard_normal((DRAWS, len(root))) @ root).max(-1), LEVEL))
