"""Mix the frequencies of a task with a common prior of all pairs."""

from abc import abstractmethod
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from pomrl.components import Batch, Memory, ModelEstimator, Models, PerPair, Truth

Weight = Annotated[float, Field(ge=0, le=1)]


class SamePrior(ModelEstimator):
    """The estimate w q + (1 - w) P_bar, with a common distribution q of next states.

    Subclasses define the weight w, possibly from the task's batch; q is uniform by default.
    """

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        """Return the mixture, independent of earlier tasks."""
        weight = self.weights(batch, truth)[..., None]
        return weight * self.distribution(batch) + (1.0 - weight) * batch.P_bar

    @abstractmethod
    def weights(self, batch: Batch, truth: Truth) -> PerPair:
        """Return the weights of the prior, in [0, 1]."""

    def distribution(self, batch: Batch) -> Float[np.ndarray, "n 1 1 S"]:
        """Return the common distribution of next states."""
        n, *_, S = batch.P_bar.shape
        return np.full((n, 1, 1, S), 1.0 / S)


class SameWeight(SamePrior):
    """A prior with equal weight in all pairs, equivalent to a smaller discount factor (`pages/notes.md`)."""

    weight: Weight = 0.5
    """Weight of the prior."""
    prior: Literal["uniform", "first_state", "visited"] = "uniform"
    """The distribution of next states: uniform, only the first state, or the numbers of next states in the task's
    batch, each plus one and normalised.
    """

    def weights(self, batch: Batch, truth: Truth) -> PerPair:
        return np.full((len(batch.P_bar), 1, 1), self.weight)

    def distribution(self, batch: Batch) -> Float[np.ndarray, "n 1 1 S"]:
        uniform = super().distribution(batch)
        if self.prior == "uniform":
            return uniform
        if self.prior == "first_state":
            return np.broadcast_to(np.arange(uniform.shape[-1]) == 0, uniform.shape).astype(float)
        followed = batch.counts.sum((-3, -2), keepdims=True) + 1.0
        return followed / followed.sum(-1, keepdims=True)


class SameTransitions(SamePrior):
    """A uniform Dirichlet prior, worth the same number of transitions in all pairs."""

    weight: Weight = 0.5
    """Weight of the prior in a pair with m transitions; larger with fewer, smaller with more."""

    def weights(self, batch: Batch, truth: Truth) -> PerPair:
        prior, data = self.weight * batch.m, (1.0 - self.weight) * batch.visits
        return np.divide(prior, prior + data, out=np.zeros_like(data), where=prior + data > 0)


class LeastError(SamePrior):
    """A uniform prior with the weight of least expected squared error in each pair.

    The weight after n transitions is (1 - C) / (1 - C + n (C - 1 / S)). C is the sum of squared probabilities of the
    row, to be estimated (`pages/notes.md`).
    """

    concentration: Literal["posterior", "frequencies", "known"] = "posterior"
    """The estimate of C: its mean under the posterior of a uniform prior of the row, its value for the frequencies, or
    the true value if all tasks are equal.
    """

    def weights(self, batch: Batch, truth: Truth) -> PerPair:
        return least_error_weight(self._concentration(batch, truth), batch.visits, batch.P_bar.shape[-1])

    def _concentration(self, batch: Batch, truth: Truth) -> PerPair:
        if self.concentration == "posterior":
            S, N, n = batch.P_bar.shape[-1], batch.counts, batch.visits
            return ((N + 1.0) * (N + 2.0)).sum(-1) / ((n + S) * (n + S + 1.0))
        return ((batch.P_bar if self.concentration == "frequencies" else truth.P_o) ** 2).sum(-1)


def least_error_weight(
    C: Float[np.ndarray, "..."], n: Float[np.ndarray, "..."] | float, S: int
) -> Float[np.ndarray, "..."]:
    """Return the error-minimising weight of a uniform prior.

    C and n are as in `LeastError`.
    """
    noise, bias = 1.0 - C, n * np.maximum(C - 1.0 / S, 0.0)
    return np.divide(noise, noise + bias, out=np.ones_like(noise + bias), where=noise + bias > 0)
