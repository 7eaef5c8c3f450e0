"""The Bayesian learner that knows only the law by which mean models are drawn, by Markov chain Monte Carlo.

It is the best that an online learner can do on average over random chains (Sec. 5), and a line to compare others with;
it costs too much for large problems. The model is, in each row of S states with `zeros` states of probability 0,

    counts of task t   ~  Multinomial(N, P_t),
    P_t                ~  Dirichlet(c P_o),
    P_o                =  w / Σ w on a support that is uniform among all of its size, with weights w uniform in (0, 1],

and log c is uniform on a grid. One sweep of Gibbs' sampler draws each unknown given the others:

- which transitions are *new draws* from P_o and which are copies of earlier ones (see `empirical_bayes`): transition k
  of a task to a state, counted from 0, is new with probability a / (a + k), a = c P_o. Given the numbers K of new draws
  to each state, and their total L in each row, the likelihood of P_o is Π P_o^K;
- u ~ Gamma(L, Σ w), an auxiliary variable after which the weights are independent: w has the density w^K exp(-u w) on
  (0, 1], and states without new draws are in the support with equal chances;
- the supports and the weights, from these;
- c, by Metropolis and Hastings on its grid, from P_o and the counts alone, so that it moves faster than given K.

The random numbers come from generators that the batches seed, so that the estimate is a function of the batches alone.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field
from scipy.special import gammainc, gammaincinv

from pomrl.components import Batch, Estimate, Estimator, Generators, Models, Truth
from pomrl_studies.beyond.estimators.empirical_bayes import add_bins

CONCENTRATIONS = np.exp(np.linspace(np.log(0.1), np.log(1000.0), 93))
"""The grid of concentrations c, each as probable as the others before any batch."""

STEPS = 4
"""The steps of Metropolis and Hastings for c in each sweep."""

FARTHEST = 10
"""The largest move of c in a step, in places of its grid."""

SMALLEST = 1e-12
"""The smallest weight, below which a probability is a rounding error."""


@dataclass(frozen=True)
class SampledMemory:
    """The counts of all tasks so far, and samples from the posterior of P_o and c, for each of n runs."""

    tasks: int
    """Number of tasks so far."""
    counts_above: Float[np.ndarray, "J n S A S"]
    """For each k from 0 on, in how many tasks more than k transitions from a pair led to a state."""
    visits_above: Float[np.ndarray, "J n"]
    """For each k from 0 on, in how many tasks and pairs there were more than k transitions."""
    weights: Models
    """The weights w of the last sweep."""
    c: Float[np.ndarray, "k n"]
    """Samples of the concentration."""
    P_o: Float[np.ndarray, "k n S A S"]
    """Samples of the mean model."""

    def count(self, batch: Batch) -> "SampledMemory":
        """Return the memory with the counts of one more task; the samples are those of before."""
        counts, visits = np.asarray(batch.counts), np.broadcast_to(batch.visits, batch.counts.shape[:-1])
        k = np.arange(max(int(visits.max()), 1)).reshape(-1, 1, 1, 1)
        counts_above = add_bins(self.counts_above, (counts > k[..., None]).astype(float))
        visits_above = add_bins(self.visits_above, (visits > k).sum((-1, -2)).astype(float))
        return replace(self, tasks=self.tasks + 1, counts_above=counts_above, visits_above=visits_above)


class HierarchicalBayes(Estimator[SampledMemory]):
    """The posterior mean of P_t for a learner that knows how P_o is drawn, and neither P_o nor the concentration.

    Its cost grows with sweeps, with S A S and with the number of transitions.
    """

    zeros: Annotated[int, Field(ge=0)]
    """States of probability 0 in each row of the mean model."""
    sweeps: Annotated[int, Field(ge=1, le=100_000)] = 40
    """Samples from the posterior in each task."""
    burn_in: Annotated[int, Field(ge=0, le=100_000)] = 10
    """Sweeps in each task before these."""

    @property
    def relative_time(self) -> float:
        """A sweep takes twelve times as long as POMRL in a task."""
        return 12.0 * (self.burn_in + self.sweeps)

    def initial_memory(self, n: int, S: int, A: int) -> SampledMemory:
        """Return the memory before the first task."""
        return SampledMemory(
            tasks=0,
            counts_above=np.zeros((1, n, S, A, S)),
            visits_above=np.zeros((1, n)),
            weights=np.full((n, S, A, S), 0.5),
            c=np.full((1, n), CONCENTRATIONS[len(CONCENTRATIONS) // 2]),
            P_o=np.full((1, n, S, A, S), 1.0 / S),
        )

    def learn(self, memory: SampledMemory, batch: Batch) -> SampledMemory:
        """Return the memory after one more task, with samples from the posterior given all batches."""
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

    def _weights(self, rngs: Generators, draws: Models, seen: Bool[np.ndarray, "n S A S"], weights: Models) -> Models:
        """Draw the supports and the weights on them, given the numbers of new draws and the weights before."""
        total = draws.sum(-1)
        u = np.stack([rng.standard_gamma(of_run) for rng, of_run in zip(rngs, total, strict=True)])
        u = (u / weights.sum(-1))[..., None]
        uniform, key = np.stack([rng.random((2, *draws.shape[1:])) for rng in rngs], axis=1)
        known = seen.sum(-1, keepdims=True)
        wanted = np.maximum(draws.shape[-1] - self.zeros - known, known == 0)  # a row has one state at least
        rank = np.where(seen, np.inf, key).argsort(-1).argsort(-1)
        inside = seen | (rank < wanted)
        drawn = np.zeros_like(draws)
        drawn[inside] = _draw_truncated_gamma(draws[inside], np.broadcast_to(u, draws.shape)[inside], uniform[inside])
        return drawn

    def assess(self, t: int, batch: Batch, before: SampledMemory, after: SampledMemory, truth: Truth) -> Estimate:
        """Return the model that stands for P_o in the posterior mean: the samples' mean, weighted by their rates.

        Its weight is the mean over samples of c / (c + N). The similarity is the largest standard deviation over tasks
        of an entry, from the mean over samples of its variance.
        """
        rate = _rates(after, batch.visits)
        h = _mean(rate[..., None] * after.P_o) / _mean(rate)[..., None]
        variance = _mean(after.P_o * (1.0 - after.P_o) / (after.c + 1.0)[..., None, None, None])
        deviation = np.sqrt(variance.max((1, 2, 3)))[:, None, None]
        return Estimate(h, lambda N: _mean(_rates(after, np.asarray(N, float))), deviation)


def _rates(memory: SampledMemory, visits: Float[np.ndarray, "*n_and_pairs"]) -> Float[np.ndarray, "k n #S #A"]:
    c = memory.c[..., None, None]
    return c / (c + visits)


def _mean(samples: Float[np.ndarray, "k ..."]) -> Float[np.ndarray, "..."]:
    """Return the mean over samples, added up in their order, which does not depend on the number of runs."""
    total = samples[0].copy()
    for sample in samples[1:]:
        total += sample
    return total / len(samples)


def _generator(counts: np.ndarray, task: int) -> np.random.Generator:
    """Return a generator that the batch of a run seeds."""
    digest = hashlib.blake2b(np.ascontiguousarray(counts, dtype="<i8").tobytes(), digest_size=16).digest()
    return np.random.default_rng([task, int.from_bytes(digest, "little")])


def _new_draws(
    rngs: Generators,
    counts_above: Float[np.ndarray, "J n S A S"],
    c: Float[np.ndarray, " n"],
    weights: Models,
) -> Models:
    """Draw how many of the transitions of all tasks are new draws from P_o."""
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
    # Where u is small the exponential is flat, and the density is that of a power.
    weight = np.where(below > 1e-250, gammaincinv(shape, uniform * below) / np.maximum(u, SMALLEST), 0.0)
    weight = np.where((below > 1e-250) & (u > SMALLEST), weight, uniform ** (1.0 / shape))
    return np.clip(weight, SMALLEST, 1.0)


def _concentration(
    rngs: Generators, memory: SampledMemory, P_o: Models, index: Int[np.ndarray, " n"]
) -> Int[np.ndarray, " n"]:
    """Return the place of c on its grid after some steps of Metropolis and Hastings, given P_o and the counts."""
    shifts = np.stack([rng.integers(-FARTHEST, FARTHEST + 1, STEPS) for rng in rngs], axis=1)
    thresholds = np.log(np.stack([rng.random(STEPS) for rng in rngs], axis=1))
    density = _log_density(memory, P_o, CONCENTRATIONS[index])
    for shift, threshold in zip(shifts, thresholds, strict=True):
        proposed = index + shift
        inside = (proposed >= 0) & (proposed < len(CONCENTRATIONS))
        there = np.where(inside, proposed, index)
        density_there = _log_density(memory, P_o, CONCENTRATIONS[there])
        accepted = inside & (threshold < density_there - density)
        index, density = np.where(accepted, there, index), np.where(accepted, density_there, density)
    return index


def _log_density(memory: SampledMemory, P_o: Models, c: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Return the logarithm of the likelihood of all counts given P_o and c, without what does not depend on c."""
    a = c[:, None, None, None] * P_o
    density = np.zeros(len(c))
    for k, (above, visits) in enumerate(zip(memory.counts_above, memory.visits_above, strict=True)):
        of_entries = above * np.log(np.maximum(a + k, SMALLEST))
        density = density + of_entries.reshape(len(c), -1).sum(-1) - visits * np.log(c + k)
    return density
