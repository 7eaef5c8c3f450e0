"""An estimator that knows the models that tasks have, and weighs them by what a task's own batch says."""

from typing import ClassVar

import numpy as np
from jaxtyping import Float

from pomrl.components import Batch, Counts, Memory, ModelEstimator, Models, Truth


class ExactPosterior(ModelEstimator):
    """The posterior mean of the model, given the task's batch, where tasks have finitely many models.

    Each of the k models (`Truth.candidates`) has the same chance before the batch is seen. After it, its weight is
    proportional to its likelihood, the product of its probabilities of all transitions in the batch. Tasks are
    independent given the models, so that other tasks add nothing. Of all learners
    with the same batch, this one knows most about its task.

    Raises:
        ValueError: If the tasks do not have finitely many models, or no model can have the batch.
    """

    needs_candidates: ClassVar[bool] = True

    def estimate(self, memory: Memory, batch: Batch, truth: Truth) -> Models:
        if truth.candidates is None:
            raise ValueError("estimator ExactPosterior needs tasks that have finitely many models")
        return posterior_mean(batch.counts, truth.candidates)


def posterior_mean(counts: Counts, candidates: Float[np.ndarray, "k S A S"]) -> Models:
    """Return the mean of the candidates under their posterior, given the transitions of a task in each of n runs.

    Args:
        counts: The number of transitions N(s, a, s').
        candidates: The k models, which have the same chance before.

    Raises:
        ValueError: If no candidate can have the transitions of a run.
    """
    n, k = len(counts), len(candidates)
    differing = np.flatnonzero((candidates != candidates[0]).any(0))
    of_differing = candidates.reshape(k, -1)[:, differing]
    seen = counts.reshape(n, -1).take(differing, axis=1)  # by runs in memory, so that no run's sum depends on others
    beyond = counts.reshape(n, -1)[:, (candidates == 0).all(0).ravel()].any(1, keepdims=True)
    log_likelihood = np.empty((n, k))
    for i, p in enumerate(of_differing):
        terms = seen * np.log(np.where(p > 0, p, 1.0))
        impossible = ((seen > 0) & (p == 0)).any(1)
        log_likelihood[:, i] = np.where(impossible, -np.inf, terms.sum(1))
    best = np.where(beyond, -np.inf, log_likelihood.max(1, keepdims=True))
    if not np.isfinite(best).all():
        raise ValueError(f"run {int(np.argmin(np.isfinite(best)))}: none of the {k} models has these transitions")
    weight = np.exp(log_likelihood - best)
    weight /= weight.sum(1, keepdims=True)
    mean = np.zeros(counts.shape)
    for i in range(k):
        mean += weight[:, i, None, None, None] * candidates[i]
    return mean / mean.sum(-1, keepdims=True)
