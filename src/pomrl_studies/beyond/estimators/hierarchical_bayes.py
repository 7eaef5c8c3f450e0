"""Hierarchical Bayes by Markov chain Monte Carlo, given only the distribution of mean models.

A reference for online learners on random chains (Sec. 5), too slow for large problems. In each row, with one c for
all rows,

    counts of task t   ~  Multinomial(N, P_t),
    P_t                ~  Dirichlet(c P_o),
    P_o                =  w / Σ w on a uniformly random support.

Weights w are uniform in (0, 1], `zeros` states are outside the support, and log c is uniform on a grid. A sweep of the
Gibbs sampler has four steps:

- Draw the *new draws* from P_o (see `empirical_bayes`), with numbers K by state and L by row.
- Draw u ~ Gamma(shape L, rate Σ w); given u, weights are independent with density w^K exp(-u w) on (0, 1].
- Draw supports uniformly among the supports with all seen states, and then the weights.
- Draw c by Metropolis-Hastings on its grid, from P_o and the counts.

The number of the task and its counts seed the generators, because `learn` gets none.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field
from scipy.special import gammainc, gammaincinv

from pomrl.components import Batch, Estimate, Estimator, Generators, Models, Truth, elementary
from pomrl.priors import add_bins

CONCENTRATIONS = 0.1 * elementary.power(1e4, np.linspace(0.0, 1.0, 93))
"""The grid of concentrations c, equally likely a priori."""

STEPS_PER_SWEEP = 4
"""The number of Metropolis-Hastings steps for c in each sweep."""

MAX_GRID_MOVE = 10
"""The largest move of c in a step, in points of its grid."""

MIN_WEIGHT = 1e-12
"""The smallest weight; lower probabilities are rounding errors."""


@dataclass(frozen=True)
class SampledMemory:
    """The counts of all tasks and the posterior samples, for each of n runs."""

    tasks: int
    """The number of tasks so far."""
    counts_above: Float[np.ndarray, "J n S A S"]
    """The number of tasks with more than k transitions from a pair to a state, for each k from 0."""
    visits_above: Float[np.ndarray, "J n"]
    """The number of pairs with more than k transitions, summed over tasks, for each k from 0."""
    weights: Models
    """The weights w of the last sweep."""
    c: Float[np.ndarray, "k n"]
    """The k samples of the concentration."""
    P_o: Float[np.ndarray, "k n S A S"]
    """The k samples of the mean model."""

    def count(self, batch: Batch) -> "SampledMemory":
        """Add the counts of one more task, without new samples."""
        counts, visits = np.asarray(batch.counts), np.broadcast_to(batch.visits, batch.counts.shape[:-1])
        k = np.arange(max(int(visits.max()), 1)).reshape(-1, 1, 1, 1)
        counts_above = add_bins(self.counts_above, (counts > k[..., None]).astype(float))
        visits_above = add_bins(self.visits_above, (visits > k).sum((-1, -2)).astype(float))
        return replace(self, tasks=self.tasks + 1, counts_above=counts_above, visits_above=visits_above)


class HierarchicalBayes(Estimator[SampledMemory]):
    """The posterior mean of P_t, given the distribution of P_o but not P_o or the concentration."""

    zeros: Annotated[int, Field(ge=0)]
    """Number of states of probability 0 in each row of the mean model."""
    sweeps: Annotated[int, Field(ge=1, le=100_000)] = 40
    """Number of posterior samples in each task."""
    burn_in: Annotated[int, Field(ge=0, le=100_000)] = 10
    """Number of discarded sweeps in each task."""

    @property
    def relative_time(self) -> float:
        return 12.0 * (self.burn_in + self.sweeps)

    def initial_memory(self, n: int, S: int, A: int) -> SampledMemory:
        return SampledMemory(
            tasks=0,
            counts_above=np.zeros((1, n, S, A, S)),
            visits_above=np.zeros((1, n)),
            weights=np.full((n, S, A, S), 0.5),
            c=np.full((1, n), CONCENTRATIONS[len(CONCENTRATIONS) // 2]),
            P_o=np.full((1, n, S, A, S), 1.0 / S),
        )

    def learn(self, memory: SampledMemory, batch: Batch) -> SampledMemory:
        memory = memory.count(batch)
        rngs = [_generator(counts, memory.tasks) for counts in batch.counts]
        index, weights = np.searchsorted(CONCENTRATIONS, memory.c[-1]), memory.weights
        kept_c, kept_P_o = [], []
        for sweep in range(self.burn_in + self.sweeps):
            draws = _new_draws(rngs, memory.counts_above, CONCENTRATIONS[index], weights)
            weights = self._weights(rngs, draws, memory.counts_above[0] > 0, weights)
            P_o = weights / weights.sum(-1, keepdims=True)
            index = _concentration(rngs, memory, P_o, index)
            if sweep >= self.burn_in:
                kept_c.append(CONCENTRATIONS[index])
                kept_P_o.append(P_o)
        return replace(memory, weights=weights, c=np.stack(kept_c), P_o=np.stack(kept_P_o))

    def _weights(
        self, rngs: Generators, draws: Models, is_seen: Bool[np.ndarray, "n S A S"], weights: Models
    ) -> Models:
        total = draws.sum(-1)
        u = np.stack([rng.standard_gamma(row_totals) for rng, row_totals in zip(rngs, total, strict=True)])
        u = (u / weights.sum(-1))[..., None]
        uniform, key = np.stack([rng.random((2, *draws.shape[1:])) for rng in rngs], axis=1)
        n_seen = is_seen.sum(-1, keepdims=True)
        n_unseen = np.maximum(draws.shape[-1] - self.zeros - n_seen, n_seen == 0)  # each row has at least one state
        rank = np.where(is_seen, np.inf, key).argsort(-1).argsort(-1)
        inside = is_seen | (rank < n_unseen)
        sampled = np.zeros_like(draws)
        sampled[inside] = _draw_truncated_gamma(draws[inside], np.broadcast_to(u, draws.shape)[inside], uniform[inside])
        return sampled

    def assess(self, t: int, batch: Batch, before: SampledMemory, after: SampledMemory, truth: Truth) -> Estimate:
        """Average samples of P_o by their mixing rates."""
        rate = _rates(after, batch.visits)
        h = _mean(rate[..., None] * after.P_o) / _mean(rate)[..., None]
        variance = _mean(after.P_o * (1.0 - after.P_o) / (after.c + 1.0)[..., None, None, None])
        deviation = np.sqrt(variance.max((1, 2, 3)))[:, None, None]
        return Estimate(h, lambda N: _mean(_rates(after, np.asarray(N, float))), deviation)


def _rates(memory: SampledMemory, visits: Float[np.ndarray, "*n_and_pairs"]) -> Float[np.ndarray, "k n #S #A"]:
    c = memory.c[..., None, None]
    return c / (c + visits)


def _mean(samples: Float[np.ndarray, "k ..."]) -> Float[np.ndarray, "..."]:
    total = samples[0].copy()
    for sample in samples[1:]:
        total += sample
    return total / len(samples)


def _generator(counts: np.ndarray, task: int) -> np.random.Generator:
    digest = hashlib.blake2b(np.ascontiguousarray(counts, dtype="<i8").tobytes(), digest_size=16).digest()
    return np.random.default_rng([task, int.from_bytes(digest, "little")])


def _new_draws(
    rngs: Generators,
    counts_above: Float[np.ndarray, "J n S A S"],
    c: Float[np.ndarray, " n"],
    weights: Models,
) -> Models:
    """Draw the numbers of new draws from P_o in all tasks."""
    a = c[:, None, None, None] * weights / weights.sum(-1, keepdims=True)
    k = np.arange(len(counts_above), dtype=float).reshape(-1, 1, 1, 1, 1)
    chance = np.ones_like(counts_above)
    np.divide(a, a + k, out=chance, where=(a + k) > 0)
    chance[0] = 1.0
    above = counts_above.astype(int)
    return np.stack([rng.binomial(above[:, i], chance[:, i]).sum(0) for i, rng in enumerate(rngs)]).astype(float)


def _draw_truncated_gamma(
    draws: Float[np.ndarray, " N"], u: Float[np.ndarray, " N"], uniform: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    """Draw weights with the density w^K exp(-u w) on (0, 1]."""
    shape = draws + 1.0
    below = gammainc(shape, u)
    # For small u the exponential is flat, and the density is a power of w.
    weight = np.where(below > 1e-250, gammaincinv(shape, uniform * below) / np.maximum(u, MIN_WEIGHT), 0.0)
    weight = np.where((below > 1e-250) & (u > MIN_WEIGHT), weight, elementary.power(uniform, 1.0 / shape))
    return np.clip(weight, MIN_WEIGHT, 1.0)


def _concentration(
    rngs: Generators, memory: SampledMemory, P_o: Models, index: Int[np.ndarray, " n"]
) -> Int[np.ndarray, " n"]:
    """Return the grid index of c after steps of Metropolis-Hastings."""
    shifts = np.stack([rng.integers(-MAX_GRID_MOVE, MAX_GRID_MOVE + 1, STEPS_PER_SWEEP) for rng in rngs], axis=1)
    thresholds = elementary.log(np.stack([rng.random(STEPS_PER_SWEEP) for rng in rngs], axis=1))
    density = _log_density(memory, P_o, CONCENTRATIONS[index])
    for shift, threshold in zip(shifts, thresholds, strict=True):
        proposed = index + shift
        inside = (proposed >= 0) & (proposed < len(CONCENTRATIONS))
        candidate = np.where(inside, proposed, index)
        candidate_density = _log_density(memory, P_o, CONCENTRATIONS[candidate])
        accepted = inside & (threshold < candidate_density - density)
        index, density = np.where(accepted, candidate, index), np.where(accepted, candidate_density, density)
    return index


def _log_density(memory: SampledMemory, P_o: Models, c: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return the log-likelihood given P_o and c, up to a constant."""
    a = c[:, None, None, None] * P_o
    density = np.zeros(len(c))
    for k, (above, visits) in enumerate(zip(memory.counts_above, memory.visits_above, strict=True)):
        entry_terms = above * elementary.log(np.maximum(a + k, MIN_WEIGHT))
        density = density + entry_terms.reshape(len(c), -1).sum(-1) - visits * elementary.log(c + k)
    return density
