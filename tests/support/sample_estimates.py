"""Batches of tasks from a known distribution, and its true moments."""

import numpy as np
from tests.support.sample_models import random_models

from pomrl.science.estimators.estimator import Truth


def dirichlet_truth(P_o: np.ndarray, c: float) -> Truth:
    return Truth(P_o, P_o * (1 - P_o) / (c + 1))


def draw_batches(seed: int, T: int, m: int, n: int = 3, S: int = 4, A: int = 2, c: float = 5.0):
    """Draw batches of T Dirichlet tasks around n mean models; return the truth too."""
    rng = np.random.default_rng(seed)
    P_o, _ = random_models(rng, n, S, A)
    batches = []
    for _ in range(T):
        weight = rng.gamma(c * P_o)
        batches.append(rng.multinomial(m, weight / weight.sum(-1, keepdims=True)) / m)
    return batches, dirichlet_truth(P_o, c)
