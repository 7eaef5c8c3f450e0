"""The Bayesian learner that knows only the law by which mean models are drawn, by Markov chain Monte Carlo.

It is the best that an online learner can do on average over random chains (Sec. 5), and a line to compare others with;
it costs too much for large problems. The model is, in each row of S states with `zeros` states of probability 0,

    counts of task t   ~  Multinomial(N, P_t),
    P_t                ~  Dirichlet(c P_o),
    P_o                =  w / Σ w on a support that is uniform among all of its size, with weights w uniform in (0, 1],

and log c is uniform on a grid. One sweep of Gibbs' sampler draws each unknown given the others:

- which transitions are *new draws* from P_o and which are copies of earlier ones (see `empirical_bayes`): transition k
  of a task to a state, counted from 0, is new with probability a / (a + k), a = c P_o. Given the numbers K of new draws,
  their total L, and c, the likelihood is Π P_o^K c^L Γ(c) / Γ(c + N), the last factor for each task and pair;
- u ~ Gamma(L, Σ w), an auxiliary variable after which the weights are independent: w has the density w^K exp(-u w) on
  (0, 1], and states without new draws are in the support with equal chances;
- the supports and the weights, from these; and c, on its grid.

The random numbers come from generators that the batches seed, so that the estimate is a function of the batches alone.
"""

import hashlib
from dataclasses import dataclass as plain_dataclass
from dataclasses import fields, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass
from scipy.special import gammainc, gammaincinv

from pomrl.components import CHECKED, read_only
from pomrl.data import Batch
from pomrl.estimators import Estimator, Memory, Models, PerPair, Truth

CONCENTRATIONS = np.exp(np.linspace(np.log(0.1), np.log(1000.0), 93))
"""The grid of concentrations c, each as probable as the others before any batch."""

SMALLEST = 1e-12
"""The smallest weight, below which a probability is a rounding error."""


@plain_dataclass(frozen=True)
class SampledMemory(Memory):
    """The counts of all tasks so far, and samples from the posterior of P_o and c, for each of n runs.

    The averages and variances of `Memory` are not used, and stay what they are before the first task.
    """

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

    def __post_init__(self) -> None:
        super().__post_init__()
        read_only(self.counts_above, self.visits_above, self.weights, self.c, self.P_o)

    def counted_with(self, batch: Batch) -> "SampledMemory":
        """Return the memory with the counts of one more task; the samples are those of before."""
        counts, visits = np.asarray(batch.counts), np.broadcast_to(batch.visits, batch.counts.shape[:-1])
        k = np.arange(max(int(visits.max()), 1)).reshape(-1, 1, 1, 1)
        counts_above = _summed(self.counts_above, (counts > k[..., None]).astype(float))
        visits_above = _summed(self.visits_above, (visits > k).sum((-1, -2)).astype(float))
        return replace(self, tasks=self.tasks + 1, counts_above=counts_above, visits_above=visits_above)


def _summed(a: Float[np.ndarray, "I ..."], b: Float[np.ndarray, "J ..."]) -> Float[np.ndarray, "K ..."]:
    """Return the sum of two arrays, of which one may be longer."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class HierarchicalBayes(Estimator):
    """The posterior mean of P_t for a learner that knows how P_o is drawn, and neither P_o nor the concentration.

    Its cost grows with sweeps, with S A S and with the number of transitions.
    """

    learns_first: ClassVar[bool] = True
    fixed_keys: ClassVar[frozenset[str]] = frozenset(field.name for field in fields(Estimator))

    mixing: Literal["mse_optimal"] = "mse_optimal"
    similarity: Literal["debiased"] = "debiased"
    zeros: Annotated[int, Field(ge=0, description="states of probability 0 in each row of the mean model")]
    sweeps: Annotated[int, Field(ge=1, le=100_000, description="samples from the posterior in each task")] = 60
    burn_in: Annotated[int, Field(ge=0, le=100_000, description="sweeps in each task before these")] = 15

    @model_validator(mode="after")
    def _nothing_else_to_set(self) -> "HierarchicalBayes":
        for field in fields(Estimator):
            if (given := getattr(self, field.name)) != getattr(type(self), field.name, None):
                raise ValueError(f"{field.name}={given}: this learner has its own law for all of this; leave it out")
        return self

    def check(self, m: int) -> None:
        """Accept every m."""

    def initial_memory(self, n: int, S: int, A: int) -> SampledMemory:
        """Return the memory before the first task."""
        start = Memory.initial(n, S, A)
        return SampledMemory(
            **vars(start),
            counts_above=np.zeros((1, n, S, A, S)),
            visits_above=np.zeros((1, n)),
            weights=np.full((n, S, A, S), 0.5),
            c=np.full((1, n), 10.0),
            P_o=start.P_o_hat[None],
        )

    def learn(self, memory: Memory, batch: Batch) -> SampledMemory:
        """Return the memory after one more task, with samples from the posterior given all batches."""
        memory = _of_samples(memory).counted_with(batch)
        rngs = [_generator(counts, memory.tasks) for counts in batch.counts]
        c, weights = memory.c[-1], memory.weights
        kept_c, kept_P_o = [], []
        for sweep in range(self.burn_in + self.sweeps):
            draws = _new_draws(rngs, memory.counts_above, c, weights)
            weights = self._weights(rngs, draws, memory.counts_above[0] > 0, weights)
            c = _concentration(rngs, draws, memory.visits_above)
            if sweep >= self.burn_in:
                kept_c.append(c)
                kept_P_o.append(weights / weights.sum(-1, keepdims=True))
        return replace(memory, weights=weights, c=np.stack(kept_c), P_o=np.stack(kept_P_o))

    def _weights(
        self, rngs: list[np.random.Generator], draws: Models, seen: Bool[np.ndarray, "n S A S"], weights: Models
    ) -> Models:
        """Draw the supports and the weights on them, given the numbers of new draws and the weights before."""
        total = draws.sum(-1)
        u = np.stack([rng.standard_gamma(of_run) for rng, of_run in zip(rngs, total, strict=True)])
        u = (u / weights.sum(-1))[..., None]
        uniform, key = np.stack([rng.random((2, *draws.shape[1:])) for rng in rngs], axis=1)
        wanted = np.maximum(draws.shape[-1] - self.zeros - seen.sum(-1, keepdims=True), 0)
        rank = np.where(seen, np.inf, key).argsort(-1).argsort(-1)
        inside = seen | (rank < wanted)
        return np.where(inside, _truncated_gamma(draws, u, uniform), 0.0)

    def prior_model(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Return the model that stands for P_o in the posterior mean: the samples' mean, weighted by their rates."""
        memory = _of_samples(memory)
        rate = _rates(memory, batch.visits)
        return (rate[..., None] * memory.P_o).mean(0) / rate.mean(0)[..., None]

    def similarity_estimate(self, memory: Memory, m: int, truth: Truth) -> PerPair:
        """Return the largest standard deviation over tasks of an entry, from the mean over samples of its variance."""
        memory = _of_samples(memory)
        variance = (memory.P_o * (1.0 - memory.P_o) / (memory.c + 1.0)[..., None, None, None]).mean(0)
        return np.sqrt(variance.max((1, 2, 3)))[:, None, None]

    def mixing_rate(self, t: int, m: int | PerPair, sigma: PerPair, memory: Memory, truth: Truth) -> PerPair:
        """Return the mean over samples of c / (c + N), with the number N of transitions from a pair."""
        return _rates(_of_samples(memory), np.asarray(m, float)).mean(0)


def _of_samples(memory: Memory) -> SampledMemory:
    """Return the memory, which `HierarchicalBayes.initial_memory` has made."""
    assert isinstance(memory, SampledMemory)
    return memory


def _rates(memory: SampledMemory, visits: Float[np.ndarray, "*n_and_pairs"]) -> Float[np.ndarray, "k n #S #A"]:
    c = memory.c[..., None, None]
    return c / (c + visits)


def _generator(counts: np.ndarray, task: int) -> np.random.Generator:
    """Return a generator that the batch of a run seeds."""
    digest = hashlib.blake2b(np.ascontiguousarray(counts, dtype="<i8").tobytes(), digest_size=16).digest()
    return np.random.default_rng([task, int.from_bytes(digest, "little")])


def _new_draws(
    rngs: list[np.random.Generator],
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


def _truncated_gamma(draws: Models, u: Float[np.ndarray, "n S A 1"], uniform: Models) -> Models:
    """Draw weights with the density w^K exp(-u w) on (0, 1]."""
    shape = draws + 1.0
    below = gammainc(shape, u)
    # Where u is small the exponential is flat, and the density is that of a power.
    weight = np.where(below > 1e-250, gammaincinv(shape, uniform * below) / np.maximum(u, SMALLEST), 0.0)
    weight = np.where((below > 1e-250) & (u > SMALLEST), weight, uniform ** (1.0 / shape))
    return np.clip(weight, SMALLEST, 1.0)


def _concentration(
    rngs: list[np.random.Generator], draws: Models, visits_above: Float[np.ndarray, "J n"]
) -> Float[np.ndarray, " n"]:
    """Draw the concentration of each run from its grid."""
    k = np.arange(len(visits_above), dtype=float)
    log_density = draws.reshape(len(draws), -1).sum(-1)[:, None] * np.log(CONCENTRATIONS)
    log_density -= np.einsum("jn,jg->ng", visits_above, np.log(CONCENTRATIONS + k[:, None]))
    cumulative = np.exp(log_density - log_density.max(1, keepdims=True)).cumsum(1)
    chosen = [np.searchsorted(of_run, rng.random() * of_run[-1]) for rng, of_run in zip(rngs, cumulative, strict=True)]
    return CONCENTRATIONS[np.minimum(chosen, len(CONCENTRATIONS) - 1)]
