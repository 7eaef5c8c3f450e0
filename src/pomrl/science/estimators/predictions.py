"""How likely a batch of transitions is, given what batches of earlier tasks say about the next task.

The counts of a pair (s, a) are Dirichlet-multinomial: its model is Dirichlet around a mean that is known from earlier
tasks up to an error. The likelihood is computed for each concentration in `GRID`, because the concentration of tasks
around their mean is not known either. No model is estimated by it; it is what learners compare explanations by.
"""

import numpy as np
from jaxtyping import Float, Num

GRID = np.geomspace(0.5, 1000.0, 8)[:, None, None, None]
"""Concentrations of tasks around their mean model for which likelihoods are computed."""

LEAST = 0.05
"""Least concentration of a prediction from earlier tasks."""

SMALLEST = 1e-12
"""Least number of tasks that is divided by."""

UNKNOWN = 3.0
"""Concentration of the next task's model around the uniform one in a pair that no task has shown anything of."""

PerPair = Float[np.ndarray, "N #S #A"]
"""A number for each pair (s, a) in each of N runs, or one number for all pairs."""


def predictive_concentration(
    c: Float[np.ndarray, "*#C #N 1 1"], tasks: PerPair, m: PerPair
) -> Float[np.ndarray, "*C N #S #A"]:
    """Return the concentration of the next task's model around an average over earlier tasks.

    An entry with mean p has the variance p (1 - p) / (c + 1) around its true mean. The average over tasks of
    frequencies of m transitions has a variance of its own, which is added.

    Args:
        c: Concentration of tasks around their true mean.
        tasks: Number of earlier tasks, as far as they count; 0 where the mean is not known at all.
        m: Mean number of transitions from a pair in one of these tasks.
    """
    of_average = (1.0 + c / np.maximum(m, 1.0)) / (c + 1.0) / np.maximum(tasks, SMALLEST)
    concentration = 1.0 / (1.0 / (c + 1.0) + of_average) - 1.0
    return np.where(tasks > 0, np.maximum(concentration, LEAST), UNKNOWN)


def log_likelihoods(
    counts: Num[np.ndarray, "n S A S"],
    mean: Float[np.ndarray, "K n S A S"],
    concentrations: Float[np.ndarray, "C K n #S #A"],
) -> Float[np.ndarray, "K n C"]:
    """Return the logarithm of the probability of a batch under K explanations, up to a constant that they share.

    Args:
        counts: Number of transitions N(s, a, s').
        mean: Mean model that each explanation predicts; it is above 0 in all places.
        concentrations: Concentrations of the model around it.
    """
    from scipy.special import gammaln  # here, because it takes long to load

    C, (K, n, S, A, _) = len(concentrations), mean.shape
    full = np.broadcast_to(concentrations, (C, K, n, S, A))
    run, s, a, following = np.nonzero(counts)  # most states are never reached, and add nothing
    reached = counts[run, s, a, following]
    weight = full[:, :, run, s, a] * mean[:, run, s, a, following]
    gains = _log_rising(weight, reached)
    by_run = [np.bincount(run, of_one, minlength=n) for of_one in gains.reshape(C * K, -1)]
    rows = gammaln(full) - gammaln(full + counts.sum(-1))
    found = np.reshape(by_run, (C, K, n)) + rows.reshape(C, K, n, -1).sum(-1)
    return np.ascontiguousarray(np.moveaxis(found, 0, -1))  # so that sums over C do not depend on the number of runs


def _log_rising(weight: Float[np.ndarray, "C K M"], number: Num[np.ndarray, " M"]) -> Float[np.ndarray, "C K M"]:
    """Return the logarithm of weight (weight + 1) ... (weight + number - 1), of one factor for most numbers."""
    from scipy.special import gammaln  # here, because it takes long to load

    found = np.log(weight)
    several = number > 1
    of_several = weight[..., several]
    found[..., several] = gammaln(of_several + number[several]) - gammaln(of_several)
    return found


def evidence(log_likelihood: Float[np.ndarray, "K n C"]) -> Float[np.ndarray, "K n"]:
    """Return the logarithm of the mean likelihood over `GRID`, up to a constant."""
    from scipy.special import logsumexp  # here, because it takes long to load

    return np.asarray(logsumexp(log_likelihood, axis=-1))
