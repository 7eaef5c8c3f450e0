"""What plans gain over the decisions of a log, with lower limits that pay for choosing among plans.

The transitions of the log are dealt out into parts. Plans are made without a part and judged with it: a value by the
estimated models is corrected by the temporal-difference errors of the transitions of that part, each weighted by how
often the policy comes there, and how often the log does. This estimator is doubly robust (Jiang and Li, 2016; Kallus
and Uehara, 2020): it errs by products of an error of the models and one of the weights. The estimate is a mean over
parts.

All plans that are compared get their limits together: with a probability of 95 % every limit is below the gain, so that
the plan with the highest one may be taken (Chernozhukov, Chetverikov and Kato, 2013).
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.departures import KEEP, Estimate, Policies, estimated
from pomrl.models_and_logs.logs import Log
from pomrl.models_and_logs.structure import Structure

PARTS = 5
"""Into so many parts the transitions are dealt out."""

SUPPORTS = (5, 10, 20, 50, 100, 200)
"""How often a task has to have tried an action before a plan may depart to it: what is compared."""

LEVEL = 0.95
"""The probability with which all limits hold."""

DRAWS = 4000
"""The number of draws from which the quantile of the largest error comes."""


@dataclass(frozen=True, eq=False)
class Value:
    """The values of the policies of tasks, means over first states, as a part of the log corrects them."""

    of_tasks: Float[np.ndarray, " K"]
    errors: Float[np.ndarray, " E"]
    """Independent terms of the errors of all tasks."""
    task: Int[np.ndarray, " E"]
    """The task of each term."""

    def __sub__(self, other: "Value") -> "Value":
        return Value(self.of_tasks - other.of_tasks, self.errors - other.errors, self.task)


@dataclass(frozen=True, eq=False)
class Judge:
    """What a part of a log says of policies, beside models that come from the other parts."""

    estimate: Estimate
    part: Log
    noise: Float[np.ndarray, "K S A S"]
    """The variance of the rewards of each transition."""
    gamma: float

    def value(self, policies: Policies) -> Value:
        """Return the value of policies."""
        cells = k, s, a, following = np.nonzero(self.part.counts)
        n, reward = self.part.counts[cells], self.part.mean_rewards[cells]
        V = self.estimate.values(policies, self.gamma)
        weight = self._weights(policies)[k, s, a]
        error = weight * (reward + self.gamma * V[k, following] - V[k, s])
        errors = np.concatenate([np.sqrt(n) * error, weight * np.sqrt(n * self.noise[cells])])
        return Value(V.mean(-1) + np.bincount(k, n * error, len(V)), errors, np.concatenate([k, k]))

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


def judges(log: Log, gamma: float, structure: Structure | None, rng: np.random.Generator) -> list[Judge]:
    """Return what each part of a log says of policies; how often actions were tried is known from the whole log."""
    return [
        Judge(replace(estimated(log.without(part), gamma, structure), visits=log.visits), part, log.noise, gamma)
        for part in log.parts(PARTS, rng)
    ]


@dataclass(frozen=True, eq=False)
class Gains:
    """What each of C ways to plan gains over the decisions of a log, a mean over tasks and states."""

    mean: Float[np.ndarray, " C"]
    deviation: Float[np.ndarray, " C"]
    """The standard errors."""
    quantile: float
    """The number of standard errors by which a lower limit is below its mean."""

    @property
    def lower(self) -> Float[np.ndarray, " C"]:
        """The limits above which all gains are together."""
        return self.mean - self.quantile * self.deviation


def estimated_gains(
    log: Log, gammas: Float[np.ndarray, " G"], structure: Structure | None, rng: np.random.Generator
) -> Gains:
    """Return the gains of planning with each of `SUPPORTS` and each discount factor, in this order.

    Policies are judged at the last discount factor.
    """
    means, errors = list[Float[np.ndarray, " C"]](), list[Float[np.ndarray, "C E"]]()
    for judge in judges(log, float(gammas[-1]), structure, rng):
        plans = np.concatenate([judge.estimate.plans(support, gammas) for support in SUPPORTS])
        kept = judge.value(np.full_like(plans[0], KEEP))
        gains = [judge.value(plan) - kept for plan in plans]
        means.append(np.array([gain.of_tasks.mean() for gain in gains]))
        errors.append(np.stack([gain.errors for gain in gains]))
    error = np.concatenate(errors, -1) / (PARTS * len(log.tasks))
    deviation = np.sqrt((error**2).sum(-1))
    return Gains(np.mean(means, 0), deviation, _quantile(error, deviation, rng))


def _quantile(error: Float[np.ndarray, "C E"], deviation: Float[np.ndarray, " C"], rng: np.random.Generator) -> float:
    """Return the quantile of the largest of the errors, each in units of its deviation."""
    unit = error / np.where(deviation > 0, deviation, 1.0)[:, None]
    draws = rng.multivariate_normal(np.zeros(len(unit)), unit @ unit.T, DRAWS, method="eigh")
    return float(np.quantile(draws.max(-1), LEVEL))
