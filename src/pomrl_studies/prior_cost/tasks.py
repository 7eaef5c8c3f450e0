"""Distributions of tasks, and a prior of known structure."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float
from scipy.special import log_ndtr

from pomrl.components import MeanModel, Memory, Models, RegularisedLeastSquares, Truth, elementary
from pomrl.study import Dirichlet, Gaussian

NODES, WEIGHTS = (0.5 * array for array in np.polynomial.legendre.leggauss(200))
"""Nodes around 1/2, and weights, of Gauss-Legendre quadrature on [0, 1]."""


class Ring(Dirichlet):
    """States on a ring: an action has one law of displacement per task, the same in all states."""

    def _smooth(self, chain: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A S"]:
        return _on_the_ring(super()._smooth(chain)[0])

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return _on_the_ring(super()._draw(rng, mean, tasks)[:, 0])


class RingRows(RegularisedLeastSquares):
    """POMRL told of the ring: laws of displacement in its prior are averaged over states."""

    def prior_model(self, before: Memory, after: Memory, truth: Truth) -> Models:
        prior = super().prior_model(before, after, truth)
        state = np.arange(prior.shape[-1])
        following = np.broadcast_to(((state[:, None] + state) % len(state))[:, None], prior.shape)
        return _on_the_ring(np.take_along_axis(prior, following, -1).mean(-3))


def _on_the_ring(law: Float[np.ndarray, "*n A S"]) -> Float[np.ndarray, "*n S A S"]:
    """Return the model whose rows are a law of displacement, counted from each state."""
    state = np.arange(law.shape[-1])
    return np.moveaxis(law[..., (state - state[:, None]) % len(state)], -3, -2).copy()


class EqualActions(Dirichlet):
    """Random chains with equal rows of all actions in the mean model; tasks differ in each row."""

    def _smooth(self, chain: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A S"]:
        return np.repeat(super()._smooth(chain)[:, :1], chain.shape[1], axis=1)


class GaussianMean(Gaussian):
    """Gaussian tasks with their mean as the mean model; the model before clipping is `unsmoothed`."""

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        mean = super().draw_mean(seed, run, S, A, sigma)
        return replace(mean, P_o=clipped_mean(mean.P_o, mean.deviation), unsmoothed=mean.P_o)

    def _draw_task(self, rng: np.random.Generator, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        assert mean.unsmoothed is not None
        return super()._draw_task(rng, replace(mean, P_o=mean.unsmoothed))


def clipped_mean(P_o: Float[np.ndarray, "*n S"], deviation: float) -> Float[np.ndarray, "*n S"]:
    """Return the mean of the rows of Gaussian tasks around P_o, after clipping and normalising.

    With X = max(p + noise, 0), E X_i / Σ X is the integral of E X_i exp(-λ Σ X) over λ > 0.
    """
    if not deviation:
        return P_o
    share = 0.5 + NODES
    rate = share / (1.0 - share)
    shifted = P_o[..., None] - rate * deviation**2
    damped = elementary.exp(0.5 * (rate * deviation) ** 2 - rate * P_o[..., None] + log_ndtr(shifted / deviation))
    density = elementary.exp(-0.5 * (P_o / deviation) ** 2)[..., None] * deviation / np.sqrt(2.0 * np.pi)
    is_next = P_o[..., None] > 0
    transform = np.where(is_next, damped + elementary.exp(log_ndtr(-P_o / deviation))[..., None], 1.0)
    numerator = np.where(is_next, shifted * damped + density, 0.0)
    ratio = np.divide(numerator, transform, out=np.zeros_like(transform), where=transform > 0)  # underflows for large λ
    mean = (ratio * transform.prod(-2, keepdims=True) * WEIGHTS / (1.0 - share) ** 2).sum(-1)
    return mean / mean.sum(-1, keepdims=True)
