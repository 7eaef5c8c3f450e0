"""Learn the prior of tasks from their transitions, by empirical Bayes.

In each pair (s, a), with N transitions,

    counts of task t   ~  Multinomial(N, P_t),
    P_t                ~  Dirichlet(c P_o),
    P_o                ~  Dirichlet(b) on its support.

The whole model has one concentration c. Each state is in the support with probability π. The posterior mean of P_t is
α P_o + (1 - α) P_bar_t with α = c / (c + N). Newton and fixed-point steps on the marginal likelihood of all batches
estimate c, b and π; P_o is a posterior mean.

The likelihood of n transitions to a state with a = c P_o has the factors a + k, k = 0 .. n - 1. Each transition is a
new draw from P_o with probability a / (a + k), or copies an earlier one (Antoniak, 1974). Expected new draws are
sufficient for P_o.
"""

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, cast

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.data import Batch
from pomrl.science.estimators.memory import Memory, Models, PerPair
from pomrl.science.sampling import elementary

C_MEDIAN = 9.0
"""The median of the log-normal prior of the concentration c."""

C_VARIANCE = 0.5
"""The variance of log c in this prior."""

B_START = 2.5
"""The initial b. Normalised uniform weights (Sec. 5) correspond to about b = 3."""

B_WEIGHT = 20.0
"""The weight of `B_START`, in new draws."""

SUPPORT_START = 0.5
"""The initial π."""

SUPPORT_WEIGHT = 20.0
"""The weight of `SUPPORT_START`, in entries of the model."""

STEPS_PER_TASK = 2
"""The number of steps on all unknowns in each task, from the values of the previous task."""

SMALLEST, LARGEST = 1e-2, 1e4
"""Limits of c and of b."""

LEVEL_EDGES = np.array(list(accumulate(range(230), lambda edge, _: edge + max(1, edge // 6), initial=0)))
"""The first level of each bin (see `DirichletMemory.counts_above`), up to 10^15. Bins below 12 have one level; the
width of later ones is at most a sixth of their first level.
"""

MIN_MEAN_PROBABILITY = 1e-12
"""The smallest predicted probability of a state."""

PerRun = Float[np.ndarray, "n 1 1 1"]
"""A number for each of n runs."""


@dataclass(frozen=True)
class DirichletMemory(Memory):
    """The counts of all tasks and the estimated prior, for n runs."""

    by_level: ClassVar[tuple[str, ...]] = ("counts_above", "visits_above")

    counts_above: Float[np.ndarray, "J n S A S"]
    """The transitions by level, summed over tasks. A state's first transition from a pair in a task has level 0, the
    next one level 1. High levels share bins (`level_edges`).
    """
    visits_above: Float[np.ndarray, "J n S A"]
    """The transitions from each pair (s, a), by level."""
    c: PerRun
    """The concentration of tasks around P_o."""
    b: PerRun
    """The parameter of the Dirichlet distribution of P_o."""
    support: PerRun
    """The probability π that a state is in the support of a row of P_o."""
    states: Float[np.ndarray, "n S A 1"]
    """The expected number of states in the support of each row."""
    P_o: Models
    """The posterior mean of P_o."""
    P_o_geometric: Models
    """The exponential of the posterior mean of log P_o, on the support."""

    @property
    def predicted(self) -> Models:
        """The posterior mean of P_o, at least `MIN_MEAN_PROBABILITY`."""
        return np.maximum(self.P_o, MIN_MEAN_PROBABILITY)

    def forgotten(self, factor: float | PerPair) -> "DirichletMemory":
        if isinstance(factor, float) and factor == 1.0:
            return self
        counts_above = self.counts_above * np.asarray(factor)[..., None]
        return replace(
            cast(DirichletMemory, super().forgotten(factor)),
            counts_above=counts_above,
            visits_above=self.visits_above * factor,
        )

    def update(self, batch: Batch) -> "DirichletMemory":
        counts, visits = batch.counts.astype(float), np.broadcast_to(batch.visits, batch.counts.shape[:-1])
        edges = level_edges(max(int(visits.max()), 1))
        counts_above = add_bins(self.counts_above, _by_level(counts, edges))
        visits_above = add_bins(self.visits_above, _by_level(visits, edges))
        memory = replace(cast(DirichletMemory, self.weigh(batch)), counts_above=counts_above, visits_above=visits_above)
        memory = memory if self.tasks else memory.from_frequencies()
        memory, draws = memory.step()
        for _ in range(STEPS_PER_TASK - 1):
            memory, draws = memory.step()
        return replace(memory, b=_fixed_point(memory.b, draws, memory.states))

    def from_frequencies(self) -> "DirichletMemory":
        """Return the memory with `P_o_geometric` and `states` from the first task's counts."""
        S = self.P_o.shape[-1]
        weight = self.counts_above[0] + 0.5
        P_o = weight / weight.sum(-1, keepdims=True)
        n_seen = (self.counts_above[0] > 0).sum(-1, keepdims=True)
        return replace(self, P_o_geometric=P_o, states=n_seen + 0.3 * (S - n_seen))

    def step(self) -> tuple["DirichletMemory", Models]:
        """Update new draws, c, supports, π and P_o; return memory and draws."""
        level = _middles(len(self.counts_above))[:, None, None, None, None]
        a = self.c * self.P_o_geometric
        new = a + level
        np.divide(a, new, out=new)  # in place, because these are the largest arrays
        expected = new * self.counts_above
        draws = expected.sum(0)
        row_draws = draws.sum(-1, keepdims=True)
        np.subtract(1.0, new, out=new)
        c = self._newton_step(level, draws, np.multiply(new, expected, out=new).sum(0))

        is_seen = self.counts_above[0] > 0
        unseen = _unseen_in_support(row_draws, self.states, self.b, self.support)
        inside = np.maximum(is_seen, unseen)
        states = inside.sum(-1, keepdims=True)
        entries = inside[0].size
        support = (_total(inside) + SUPPORT_WEIGHT * SUPPORT_START) / (entries + SUPPORT_WEIGHT)

        weight = self.b * inside + draws
        total = self.b * states + row_draws
        geometric = _exp_digamma(np.maximum(weight, SMALLEST)) / _exp_digamma(total)
        P_o = weight / total
        memory = replace(self, c=c, support=support, states=states, P_o=P_o, P_o_geometric=geometric)
        return memory, draws

    def _newton_step(self, level: Float[np.ndarray, "J 1 1 1 1"], draws: Models, curvature: Models) -> PerRun:
        new = self.c / (self.c + level)
        visits = self.visits_above[..., None]
        slope = _total(draws) - _total((visits * new).sum(0)) - elementary.log(self.c / C_MEDIAN) / C_VARIANCE
        visit_term = _total((visits * new * (1.0 - new)).sum(0))
        bend = visit_term - _total(curvature) + 1.0 / C_VARIANCE
        bend = np.maximum(bend, 0.3 * visit_term + 1.0 / C_VARIANCE)  # the likelihood may not be concave
        return np.clip(self.c * elementary.exp(np.clip(slope / bend, -1.0, 1.0)), SMALLEST, LARGEST)


def initial_memory(n: int, S: int, A: int) -> DirichletMemory:
    """Return the memory before the first task, for n runs."""
    start = Memory.initial(n, S, A)
    c, b, support = (np.full((n, 1, 1, 1), value) for value in (C_MEDIAN, B_START, SUPPORT_START))
    return DirichletMemory(
        **vars(start),
        counts_above=np.zeros((1, n, S, A, S)),
        visits_above=np.zeros((1, n, S, A)),
        c=c,
        b=b,
        support=support,
        states=np.full((n, S, A, 1), SUPPORT_START * S),
        P_o=start.P_o_hat,
        P_o_geometric=start.P_o_hat,
    )


def dirichlet_prior(counts: Int[np.ndarray, "K S A S"]) -> Float[np.ndarray, "S A S"]:
    """Estimate the Dirichlet prior of the models of tasks.

    `counts` are the transitions of each task, in the order of tasks. The result has the parameters c P_o.
    """
    memory = initial_memory(1, *counts.shape[1:3])
    for of_task in counts:
        memory = memory.update(Batch.of_counts(of_task[None], max(int(of_task.sum(-1).max()), 1)))
    return (memory.c * memory.P_o)[0]


def level_edges(largest: int) -> Int[np.ndarray, " E"]:
    """Return bin edges for levels up to `largest`."""
    return LEVEL_EDGES[: np.searchsorted(LEVEL_EDGES, largest) + 1]


def _middles(bins: int) -> Float[np.ndarray, " bins"]:
    return (LEVEL_EDGES[:bins] + LEVEL_EDGES[1 : bins + 1] - 1) / 2.0


def _by_level(counts: Float[np.ndarray, "..."], edges: Int[np.ndarray, " E"]) -> Float[np.ndarray, "J ..."]:
    first = edges[:-1].astype(float).reshape(-1, *[1] * counts.ndim)
    width = np.diff(edges).astype(float).reshape(first.shape)
    above = counts - first
    return np.minimum(np.maximum(above, 0.0, out=above), width, out=above)


def add_bins(a: Float[np.ndarray, "I ..."], b: Float[np.ndarray, "J ..."]) -> Float[np.ndarray, "K ..."]:
    """Add two arrays with possibly different numbers of bins."""
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    if len(longer) == len(shorter):
        return longer + shorter
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


def _unseen_in_support(
    draws: Float[np.ndarray, "n S A 1"], states: Float[np.ndarray, "n S A 1"], b: PerRun, support: PerRun
) -> Float[np.ndarray, "n S A 1"]:
    """Return the posterior probability of support for unseen states.

    A state in the support has no draw with probability E[(1 - p)^draws], p ~ Beta(b, b (states - 1)).
    """
    rest_of_row = b * np.maximum(states - 1.0, 0.25)
    none = _gamma_ratio(rest_of_row, b) / _gamma_ratio(rest_of_row + draws, b)
    return support * none / (support * none + 1.0 - support)


def _gamma_ratio(x: Float[np.ndarray, "..."], b: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Approximate Γ(x + b) / Γ(x) by an asymptotic expansion."""
    return x / (x + b) * elementary.power(x + 0.5 * (b + 1.0), b)


def _digamma(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Approximate ψ(x) for x > 0, with an error below 0.003."""
    return elementary.log(_shift(x)) - 1.0 / x


def _exp_digamma(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return _shift(x) * elementary.exp(-1.0 / x)


def _shift(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Approximate exp(ψ(x + 1))."""
    return x + 0.5 + 1.0 / (24.0 * x + 16.27)


def _fixed_point(b: PerRun, draws: Models, states: Float[np.ndarray, "n S A 1"]) -> PerRun:
    """Update b by a fixed-point step for the Dirichlet-multinomial (Minka, 2000)."""
    row_draws = draws.sum(-1, keepdims=True)
    gain = _digamma(b + draws) - _digamma(b)
    slope = states * (_digamma(b * states + row_draws) - _digamma(b * states))
    step = (b * _total(gain) + B_WEIGHT * B_START) / (_total(slope) + B_WEIGHT)
    return np.clip(step, SMALLEST, LARGEST)


def _total(values: Float[np.ndarray, "n S A #S"]) -> PerRun:
    """Sum each run in a fixed order."""
    return values.reshape(len(values), -1).sum(-1)[:, None, None, None]
