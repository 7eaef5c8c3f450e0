"""Memories of batches, with forgetting.

Each new task multiplies the weight of past batches by a factor, below 1 if the mean model changes. A learned factor is
the most probable of `FORGETTING_FACTORS`, given all batches so far. Their likelihood is Dirichlet-multinomial around
an uncertain mean model, with the concentrations of `GRID`.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int, Num
from pydantic import Field

from pomrl.base import make_read_only
from pomrl.science import learning
from pomrl.science.data import Batch, Counts
from pomrl.science.learning import PerPair
from pomrl.science.sampling import elementary

Models = Float[np.ndarray, "n S A S"]
"""A transition model for each of n runs."""

GRID = 0.5 * elementary.power(2000.0, np.linspace(0.0, 1.0, 8))[:, None, None, None]
"""Concentrations of tasks around their mean model, averaged over in likelihoods."""

MIN_CONCENTRATION = 0.05
"""Least concentration of a prediction from earlier tasks."""

MIN_TASKS = 1e-12
"""Smallest divisor in place of a number of tasks."""

UNKNOWN_CONCENTRATION = 3.0
"""Concentration around the uniform model in a pair without data."""


def predictive_concentration(
    c: Float[np.ndarray, "*#C #N 1 1"], tasks: PerPair, m: PerPair
) -> Float[np.ndarray, "*C N #S #A"]:
    """Return the concentration of the next model around the average of earlier tasks.

    Tasks have the concentration c around their mean model. An entry with mean p has the variance p (1 - p) / (c + 1),
    plus the variance of the average of frequencies of m transitions. `tasks` is the effective number of earlier tasks;
    without any, the result is `UNKNOWN_CONCENTRATION`.
    """
    average_variance = (1.0 + c / np.maximum(m, 1.0)) / (c + 1.0) / np.maximum(tasks, MIN_TASKS)
    concentration = 1.0 / (1.0 / (c + 1.0) + average_variance) - 1.0
    return np.where(tasks > 0, np.maximum(concentration, MIN_CONCENTRATION), UNKNOWN_CONCENTRATION)


def log_likelihoods(
    counts: Num[np.ndarray, "n S A S"],
    mean: Float[np.ndarray, "K n S A S"],
    concentrations: Float[np.ndarray, "C K n #S #A"],
) -> Float[np.ndarray, "K n C"]:
    """Return the log likelihoods of K hypotheses given a batch, up to a constant.

    A hypothesis has a positive mean model and C concentrations.
    """
    C, (K, n, S, A, _) = len(concentrations), mean.shape
    concentration = np.broadcast_to(concentrations, (C, K, n, S, A))
    run, s, a, following = np.nonzero(counts)  # most states are never reached, and add nothing
    reached = counts[run, s, a, following]
    weight = concentration[:, :, run, s, a] * mean[:, run, s, a, following]
    gains = _log_rising(weight, reached)
    by_run = [np.bincount(run, row_gains, minlength=n) for row_gains in gains.reshape(C * K, -1)]
    rows = elementary.log_gamma(concentration) - elementary.log_gamma(concentration + counts.sum(-1))
    log_likelihood = np.reshape(by_run, (C, K, n)) + rows.reshape(C, K, n, -1).sum(-1)
    # contiguous, so that sums over C do not depend on the number of runs
    return np.ascontiguousarray(np.moveaxis(log_likelihood, 0, -1))


def _log_rising(weight: Float[np.ndarray, "C K M"], number: Num[np.ndarray, " M"]) -> Float[np.ndarray, "C K M"]:
    """Return the logarithm of weight (weight + 1) ... (weight + number - 1)."""
    logarithms = elementary.log(weight)  # exact for number 1, the most frequent one
    is_repeated = number > 1
    repeated = weight[..., is_repeated]
    logarithms[..., is_repeated] = elementary.log_gamma(repeated + number[is_repeated]) - elementary.log_gamma(repeated)
    return logarithms


def evidence(log_likelihood: Float[np.ndarray, "K n C"]) -> Float[np.ndarray, "K n"]:
    """Return the log mean likelihood over `GRID`, up to a constant."""
    return elementary.log_sum_exp(log_likelihood)


Forgetting = Literal["learned"] | Annotated[float, Field(gt=0, le=1)]
"""Factor on the weights of past tasks after each task, or `learned`."""

FORGETTING_FACTORS = (1.0, 0.95, 0.9, 0.8, 0.6, 0.3)
LOG_ODDS = np.array([0.0, *[-5.0] * (len(FORGETTING_FACTORS) - 1)])[:, None]
"""Prior log odds of each factor against 1: forgetting must be clearly better."""

UNSEEN_TRANSITIONS = 0.3
"""Pseudo-count of each next state in predictions, so that none is impossible."""

MIN_DEGREES = 1e-9
"""Smallest divisor in place of degrees of freedom."""


@dataclass(frozen=True)
class Memory:
    """The sufficient statistics of the batches so far, in n runs.

    Average and variance over tasks follow Welford (App. C), for counted pairs (`Batch.counted`).
    """

    by_level: ClassVar[tuple[str, ...]] = ()
    """Fields with the runs on the second axis, not the first."""

    tasks: int
    """Number of tasks so far."""
    m: int
    """The m of the experiment, at least 2; the unit of the sums below."""
    start: float
    """Weight of the initial uniform model in averages, in tasks."""
    counted: PerPair
    """Number of tasks with this pair counted, without the initial model."""
    mass: PerPair
    """Sum of the weights of these tasks."""
    squared_mass: PerPair
    """Sum of the squares of these weights."""
    visits: PerPair
    """Sum over tasks of the number N of transitions."""
    P_o_hat: Models
    """Average of the frequencies P_bar over tasks (Eq. 5, App. C); uniform before the first task."""
    squares: Models
    """Sum over tasks of the squared deviations of P_bar from its average (Welford)."""
    noise: Models
    """Sum over tasks of P_bar (1 - P_bar) N / m, with N transitions from the pair."""
    degrees: PerPair
    """Sum over tasks of (N - 1) / (m - 1), where N is at least 1."""
    inverse: PerPair
    """Sum over tasks of their weights times m / N, where N is at least 1."""
    by_transitions: bool = field(default=False, kw_only=True)
    """Whether a task weighs N / m, not 1, in averages and variances."""
    rivals: "Rivals | None" = field(default=None, kw_only=True)
    """Memories for all possible factors, if the factor is learned."""
    earlier: "tuple[Memory, ...]" = field(default=(), kw_only=True)
    """Memories of the previous tasks, up to the lag of the estimator."""

    def __post_init__(self) -> None:
        make_read_only(self.counted, self.mass, self.squared_mass, self.visits)
        make_read_only(self.P_o_hat, self.squares, self.noise, self.degrees, self.inverse)

    @staticmethod
    def initial(n: int, S: int, A: int, start: float = 0.0, variance: float = 0.0) -> "Memory":
        empty, zero = np.zeros((n, 1, 1)), np.zeros((n, S, A, S))
        uniform = np.full((n, S, A, S), 1.0 / S)
        return Memory(
            0, 2, start, empty, empty, empty, empty, uniform, np.full_like(zero, start * variance), zero, empty, empty
        )

    @property
    def weight(self) -> PerPair:
        """The total weight of averages, with the initial model."""
        return self.start + self.mass

    @property
    def effective_tasks(self) -> PerPair:
        """Kish's effective number of weighted tasks, without the initial model."""
        zero = np.zeros_like(self.mass)
        return np.divide(self.mass**2, self.squared_mass, out=zero, where=self.squared_mass > 0)

    @property
    def transitions_per_task(self) -> PerPair:
        """The mean number of transitions from a counted pair; m if `by_transitions`."""
        return np.divide(self.visits, self.mass, out=np.zeros_like(self.visits), where=self.mass > 0)

    @property
    def predicted(self) -> Models:
        """The mean model of the next task, smoothed by `UNSEEN_TRANSITIONS`."""
        total = self.visits[..., None]
        return (total * self.P_o_hat + UNSEEN_TRANSITIONS) / (total + UNSEEN_TRANSITIONS * self.P_o_hat.shape[-1])

    def log_likelihoods(self, counts: Counts) -> Float[np.ndarray, "K n C"]:
        """Return the log likelihood of a batch for each concentration in `GRID`.

        The memory has K n runs, hypothesis by hypothesis.
        """
        concentrations = predictive_concentration(GRID, self.effective_tasks, self.transitions_per_task)
        runs = (len(self.P_o_hat) // len(counts), len(counts))
        mean = self.predicted.reshape(*runs, *counts.shape[1:])
        return log_likelihoods(counts, mean, concentrations.reshape(len(GRID), *runs, *concentrations.shape[2:]))

    def update(self, batch: Batch) -> "Memory":
        """Return the memory after one more task, by Welford's algorithm (App. C)."""
        N, m, weights = batch.visits, max(batch.m, 2), self._weights(batch)
        weight = self.start + weights["mass"]
        has_visits = N > 0
        P_o_hat, squares, noise = learning.add_task(
            learning.Sums(self.P_o_hat, self.squares, self.noise),
            batch.P_bar,
            N / m,
            batch.counted,
            (self.counted == 0) & batch.counted & (not self.start),
            np.where(weight > 0, weight, 1.0),
            by_transitions=self.by_transitions,
        )
        inverse = has_visits if self.by_transitions else np.divide(m, N, out=np.zeros_like(N), where=has_visits)
        return replace(
            self,
            **weights,
            m=m,
            P_o_hat=P_o_hat,
            squares=squares,
            noise=noise,
            degrees=self.degrees + np.maximum(N - 1.0, 0.0) / (m - 1.0),
            inverse=self.inverse + inverse,
        )

    def weigh(self, batch: Batch) -> "Memory":
        """Return the memory with the weights, but not the data, of another task."""
        return replace(self, **self._weights(batch))

    def _weights(self, batch: Batch) -> dict[str, Any]:
        weight = batch.counted * (batch.visits / max(batch.m, 2) if self.by_transitions else 1.0)
        return {
            "tasks": self.tasks + 1,
            "counted": self.counted + batch.counted,
            "mass": self.mass + weight,
            "squared_mass": self.squared_mass + weight**2,
            "visits": self.visits + batch.visits,
        }

    def skip(self) -> "Memory":
        """Return the memory with another task counted, but not learned from."""
        return replace(self, tasks=self.tasks + 1)

    def following(self, before: "Memory", lag: int) -> "Memory":
        """Return this memory, with the last `lag` memories in `earlier`."""
        if lag == 0:
            return self
        return replace(self, earlier=(*before.earlier, replace(before, earlier=()))[-lag:])

    def forgotten(self, factor: float | PerPair) -> "Memory":
        """Return the memory with the weights of past tasks multiplied by a factor."""
        if isinstance(factor, float) and factor == 1.0:
            return self
        model_factor = np.asarray(factor)[..., None]
        return replace(
            self,
            mass=factor * self.mass,
            squared_mass=factor**2 * self.squared_mass,
            visits=factor * self.visits,
            squares=model_factor * self.squares,
            noise=model_factor * self.noise,
            degrees=factor * self.degrees,
            inverse=factor * self.inverse,
        )

    def of_runs(self, index: Int[np.ndarray, " k"]) -> "Memory":
        """Select runs by index, and drop `rivals`."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        selection = {name: value.take(index, int(name in self.by_level)) for name, value in arrays.items()}
        return replace(self, **selection, rivals=None)

    def variance(self, kind: str) -> Models:
        """Return the variance over tasks of P_bar, `sample` or `population` (R3)."""
        unit_mass = np.divide(self.squared_mass, self.mass, out=np.ones_like(self.mass), where=self.mass > 0)
        degrees = self.weight - (unit_mass if kind == "sample" else 0.0)
        return self.squares / np.maximum(degrees, MIN_DEGREES)[..., None]

    def sampling_variance(self) -> Models:
        """Return an unbiased estimate of a single transition's variance E[p (1 - p)].

        Pairs without two transitions in a batch have 1/4, the largest value.
        """
        is_known = (self.degrees > 0)[..., None]
        average = np.divide(self.noise, self.degrees[..., None], out=np.zeros_like(self.noise), where=is_known)
        return np.where(is_known, average * (self.m / (self.m - 1)), 0.25)

    def sampling_noise(self) -> Models:
        """Estimate E[p (1 - p) / N], the sampling variance of P_bar."""
        mass = np.where(self.mass > 0, self.mass, 1.0)
        return self.sampling_variance() * (self.inverse / mass)[..., None] / self.m


@dataclass(frozen=True, eq=False)
class Rivals:
    """The memories for all `FORGETTING_FACTORS`, and their likelihoods."""

    memory: Memory
    """Memories of all n runs, factor by factor."""
    log_likelihood: Float[np.ndarray, "K n C"]
    """Log likelihood of all batches, for each factor and concentration in `GRID`."""

    @staticmethod
    def equal_to(memory: Memory) -> "Rivals":
        n, K = len(memory.P_o_hat), len(FORGETTING_FACTORS)
        return Rivals(memory.of_runs(np.tile(np.arange(n), K)), np.zeros((K, n, len(GRID))))

    def best(self) -> Memory:
        """Return each run's most probable memory, given `LOG_ODDS`."""
        _, n, _ = self.log_likelihood.shape
        index = (evidence(self.log_likelihood) + LOG_ODDS).argmax(0)
        return replace(self.memory.of_runs(index * n + np.arange(n)), rivals=self)


def _update(rivals: Rivals, batch: Batch) -> Rivals:
    n = len(batch.counts)
    past = rivals.memory.forgotten(np.repeat(FORGETTING_FACTORS, n)[:, None, None])
    rival_batch = batch.of_runs(np.tile(np.arange(n), len(FORGETTING_FACTORS)))
    return Rivals(past.update(rival_batch), rivals.log_likelihood + past.log_likelihoods(batch.counts))


def learn_and_forget(memory: Memory, batch: Batch, forgetting: Forgetting) -> Memory:
    """Return the memory after one more task, with less weight on earlier tasks."""
    if forgetting == "learned":
        return _update(memory.rivals or Rivals.equal_to(memory), batch).best()
    return memory.forgotten(forgetting).update(batch)
