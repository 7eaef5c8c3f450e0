"""Exact Bayes for tasks with finitely many models."""

from typing import ClassVar

import numpy as np
from jaxtyping import Float

from pomrl.components import Batch, Counts, Memory, ModelEstimator, Models, Truth, elementary


class ExactPosterior(ModelEstimator):
    """The posterior mean given the task's batch, where tasks have finitely many models.

    The models (`Truth.candidates`) are equally likely a priori.

    Raises:
        ValueError: The tasks do not have finitely many models, or no model allows the batch.
    """

    needs_candidates: ClassVar[bool] = True

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        if truth.candidates is None:
            raise ValueError("estimator ExactPosterior needs a task_distribution of finitely many models")
        return posterior_mean(batch.counts, truth.candidates)


def posterior_mean(counts: Counts, candidates: Float[np.ndarray, "k S A S"]) -> Models:
    """Return the posterior mean of the candidates in each of n runs.

    Raises:
        ValueError: No candidate allows the transitions of a run.
    """
    n, k = len(counts), len(candidates)
    differing = np.flatnonzero((candidates != candidates[0]).any(0))
    probabilities = candidates.reshape(k, -1)[:, differing]
    # A copy in order of runs: the sum of one run must not depend on others.
    transitions = counts.reshape(n, -1).take(differing, axis=1)
    beyond = counts.reshape(n, -1)[:, (candidates == 0).all(0).ravel()].any(1, keepdims=True)
    log_likelihood = np.empty((n, k))
    for i, p in enumerate(probabilities):
        terms = transitions * elementary.log(np.where(p > 0, p, 1.0))
        impossible = ((transitions > 0) & (p == 0)).any(1)
        log_likelihood[:, i] = np.where(impossible, -np.inf, terms.sum(1))
    best = np.where(beyond, -np.inf, log_likelihood.max(1, keepdims=True))
    if not np.isfinite(best).all():
        raise ValueError(f"none of the {k} candidate models allows the observed transitions of a run")
    weight = elementary.exp(log_likelihood - best)
    weight /= weight.sum(1, keepdims=True)
    mean = np.zeros(counts.shape)
    for i in range(k):
        mean += weight[:, i, None, None, None] * candidates[i]
    return mean / mean.sum(-1, keepdims=True)
