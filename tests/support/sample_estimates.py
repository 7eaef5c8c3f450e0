"""Estimators, batches and memories that several tests use, and what estimators make of them."""

from typing import Any

import numpy as np
from tests.support.sample_models import random_models

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Memory
from pomrl.science.estimators.pomrl import RegularisedLeastSquares


def make(**options: Any) -> RegularisedLeastSquares:
    """Return the estimator of these options."""
    return RegularisedLeastSquares(**options)


def known(**options: Any) -> RegularisedLeastSquares:
    """Return the estimator of these options that knows the similarity of the tasks."""
    return RegularisedLeastSquares(similarity="known", **options)


def batch_of(P_bar: np.ndarray, m: int = 5) -> Batch:
    """Return the batch of m transitions from each pair with these frequencies."""
    visits = np.full((len(P_bar), 1, 1), float(m))
    return Batch(P_bar * m, P_bar, visits, visits > 0, m)


def memory_of(batches: list[np.ndarray], m: int = 5) -> Memory:
    memory = Memory.initial(*batches[0].shape[:3]) if batches else Memory.initial(1, 2, 1)
    for P_bar in batches:
        memory = memory.update(batch_of(P_bar, m))
    return memory


def dirichlet_truth(P_o: np.ndarray, c: float) -> Truth:
    return Truth(P_o, P_o * (1 - P_o) / (c + 1))


def truth_of_sigma(sigma: float, S: int = 3, A: int = 2, n: int = 1) -> Truth:
    """Return a truth in which all entries have the same standard deviation."""
    return Truth(np.full((n, S, A, S), 1 / S), np.full((n, S, A, S), sigma**2))


def alpha_of(
    estimator: RegularisedLeastSquares, t: int, m: int, truth: Truth, memory: Memory | None = None
) -> np.ndarray:
    memory = memory or Memory.initial(*truth.P_o.shape[:3])
    return estimator.mixing_rate(t, m, estimator.similarity_estimate(memory, m, truth), memory, truth)


def draw_batches(seed: int, T: int, m: int, n: int = 3, S: int = 4, A: int = 2, c: float = 5.0):
    """Return batches of T tasks from a Dirichlet of concentration c around the mean model of a run, and the truth."""
    rng = np.random.default_rng(seed)
    P_o, _ = random_models(rng, n, S, A)
    batches = []
    for _ in range(T):
        weight = rng.gamma(c * P_o)
        batches.append(rng.multinomial(m, weight / weight.sum(-1, keepdims=True)) / m)
    return batches, dirichlet_truth(P_o, c)
