"""How likely a batch of transitions is, given what batches of earlier tasks say about the next task.

The counts of a pair (s, a) are Dirichlet-multinomial: its model is Dirichlet around a mean that is known from earlier
tasks up to an error. The likelihood is computed for each of `CONCENTRATIONS`, because the concentration of tasks around
their mean is not known either. No estimate of a model is made from it; it is what learners compare explanations by.
"""

import numpy as np
from jaxtyping import Float, Num
from scipy.special import gammaln, logsumexp

CONCENTRATIONS = np.geomspace(0.5, 1000.0, 8)
"""Concentrations of tasks around their mean model for which likelihoods are computed."""

LEAST = 0.05
"""The least concentration of a prediction, where next to nothing is known."""

PerPair = Float[np.ndarray, "N #S #A"]
"""A number for each pair (s, a) in each of N runs, or one number for all pairs."""


def predictive_concentrations(tasks: PerPair, m: PerPair) -> Float[np.ndarray, "C N #S #A"]:
    """Return the concentration of the next task's model around an average over earlier tasks, for `CONCENTRATIONS`.

    An entry with mean p has the variance p (1 - p) / (c + 1) around its true mean. The average over tasks of
    frequencies of m transitions has a variance of its own, which is added.

    Args:
        tasks: Number of earlier tasks, as far as they count; 0 where the mean is not known at all.
        m: Mean number of transitions from a pair in one of these tasks.
    """
    c = CONCENTRATIONS.reshape(-1, *[1] * tasks.ndim)
    of_task = (1.0 + c / np.maximum(m, 1.0)) / (c + 1.0)
    of_average = np.divide(of_task, tasks, out=np.ones_like(of_task), where=tasks > 0)
    return np.maximum(1.0 / np.minimum(1.0 / (c + 1.0) + of_average, 1.0) - 1.0, LEAST)


def log_likelihoods(
    counts: Num[np.ndarray, "n S A S"],
    mean: Float[np.ndarray, "K n S A S"],
    concentrations: Float[np.ndarray, "C K n #S #A"],
) -> Float[np.ndarray, "C K n"]:
    """Return the logarithm of the probability of a batch under K explanations, up to a constant that they share.

    Args:
        counts: Number of transitions N(s, a, s').
        mean: Mean model that each explanation predicts; it is above 0 in all places.
        concentrations: Concentrations of the model around it.
    """
    C, (K, n, S, A, _) = len(concentrations), mean.shape
    full = np.broadcast_to(concentrations, (C, K, n, S, A))
    run, s, a, following = np.nonzero(counts)  # most states are never reached, and add nothing
    reached = counts[run, s, a, following]
    weight = full[:, :, run, s, a] * mean[:, run, s, a, following]
    gains = gammaln(weight + reached) - gammaln(weight)
    by_run = [np.bincount(run, of_one, minlength=n) for of_one in gains.reshape(C * K, -1)]
    rows = gammaln(full) - gammaln(full + counts.sum(-1))
    return np.reshape(by_run, (C, K, n)) + rows.reshape(C, K, n, -1).sum(-1)


def evidence(log_likelihood: Float[np.ndarray, "C K n"]) -> Float[np.ndarray, "K n"]:
    """Return the logarithm of the mean likelihood over `CONCENTRATIONS`, up to a constant."""
    return logsumexp(log_likelihood, axis=0)
