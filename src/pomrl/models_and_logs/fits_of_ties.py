"""Fits of rows that one number of a task moves together, to the transitions of tasks (the model is in `ties`)."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import digamma, gammaln

from pomrl.models_and_logs.successors import SMALLEST, Successors

GRID = np.linspace(-2.5, 2.5, 11)[:, None]
"""The values of z over which integrals are sums."""

CHANCES = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"""Their probabilities."""


@dataclass(frozen=True, eq=False)
class Fits:
    """The unknowns of R fits."""

    a: Float[np.ndarray, "R E"]
    b: Float[np.ndarray, "R E"]
    variance: Float[np.ndarray, " R"]
    """The variance of the prior of slopes."""
    centre: Float[np.ndarray, "#R #E"]
    """The mean of the prior of slopes: 0, or a random one in the bootstrap."""

    def rows(self, of: Successors) -> Float[np.ndarray, "R g E"]:
        """Return p(z) on the grid of z."""
        return of.rows(self.a[:, None] + GRID * self.b[:, None])

    def __getitem__(self, index: Int[np.ndarray, " r"]) -> "Fits":
        return Fits(*(np.broadcast_to(each, (len(self.a), *each.shape[1:]))[index] for each in vars(self).values()))

    def after(self, x: Float[np.ndarray, "R K E"], prior: Float[np.ndarray, "#R E"], of: Successors) -> "Fits":
        """Return the fits to new draws x after a step of EM, with a diagonal Newton step on a and b.

        Half of the step is taken, because a row with two successors has each twice.
        """
        P = self.rows(of)
        log_weight = x @ np.log(P).swapaxes(1, 2) + np.log(CHANCES[:, 0])
        weight = np.exp(log_weight - log_weight.max(-1, keepdims=True))
        weight /= weight.sum(-1, keepdims=True)
        draws = weight.swapaxes(1, 2) @ x + CHANCES * prior[:, None]
        total = of.summed(draws)[..., of.row]
        gap, bend = draws - total * P, total * P * (1.0 - P)
        precision = 1.0 / np.maximum(self.variance, 1e-12)[:, None]
        a = self.a + 0.5 * gap.sum(1) / (bend.sum(1) + 1e-9)
        slope = (GRID * gap).sum(1) - precision * (self.b - self.centre)
        b = self.b + 0.5 * slope / ((GRID**2 * bend).sum(1) + precision)
        return replace(self, a=a, b=b)


def fitted(
    x: Float[np.ndarray, "R K E"], prior: Float[np.ndarray, "R E"], of: Successors, start: Fits, steps: int
) -> Fits:
    """Return the fits to new draws x and these before them: exact for independent rows, after some steps for others."""
    a, b = np.log(np.maximum(prior + x.sum(1), SMALLEST)), np.array(start.b)
    tied = np.flatnonzero(start.variance > 0)
    part = start[tied]
    for _ in range(steps):
        part = part.after(x[tied], prior[tied], of)
    a[tied], b[tied] = part.a, part.b
    return replace(start, a=a, b=b)


def log_chances(
    counts: Float[np.ndarray, " E"],
    P: Float[np.ndarray, "R g E"],
    kappa: Float[np.ndarray, "*m #R #g #N"],
    of: Successors,
) -> Float[np.ndarray, "*m R g"]:
    """Return the logarithm of the probability of the transitions of a task, for each z and each κ of rows."""
    seen = np.flatnonzero(counts)
    full = np.broadcast_to(kappa, (*kappa.shape[:-1], len(of.starts)))
    mass = full[..., of.row[seen]] * P[..., seen]
    of_rows = (gammaln(kappa) - gammaln(kappa + of.summed(counts))).sum(-1)
    return (gammaln(mass + counts[seen]) - gammaln(mass)).sum(-1) + of_rows


def new_draws(
    x: Float[np.ndarray, "K E"], P: Float[np.ndarray, "V E"], kappa: Float[np.ndarray, " V"]
) -> Float[np.ndarray, "V K E"]:
    """Return the expected number of transitions that are new draws from p, and no copies of others in their task."""
    mass = (kappa[:, None] * P)[:, None]
    return np.where(x > 0, mass * (digamma(mass + np.maximum(x, 1.0)) - digamma(mass)), 0.0)


def directions(x: Float[np.ndarray, "K E"], of: Successors) -> Float[np.ndarray, " K"]:
    """Return where fits begin: the places of tasks on the main direction in which their frequencies differ."""
    P = of.rows(np.log(x.sum(0) + of.prior))
    total = of.summed(x)[:, of.row]
    residual = (x - total * P) / np.sqrt(total.mean(0) * P * (1.0 - P) + 0.5)
    return np.sqrt(len(x)) * np.linalg.svd(residual, full_matrices=False)[0][:, 0]


def beginnings(
    x: Float[np.ndarray, "R K E"],
    z: Float[np.ndarray, " K"],
    variance: Float[np.ndarray, " R"],
    of: Successors,
) -> Fits:
    """Return fits with slopes after one step from none, with the tasks at these places."""
    a = np.log(of.prior + x.sum(1))
    P, total = of.rows(a)[:, None], of.summed(x)[..., of.row]
    gap = np.einsum("k,rke->re", z, x - total * P)
    bend = np.einsum("k,rke->re", z**2, total * P * (1.0 - P))
    return Fits(a, gap / (bend + 1.0 / np.maximum(variance, 1e-12)[:, None]), variance, np.zeros((1, 1)))
