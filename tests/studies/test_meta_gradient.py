"""The steps of the learned regulariser, against finite differences of the likelihood of what is left out."""

import numpy as np

from pomrl.components import Batch
from pomrl_studies.beyond.estimators.meta_gradient import FIRST_STEP, MetaGradient, Regulariser

SMALL = 1e-6


def log_likelihood(h: np.ndarray, logit: float, rows: list[list[int]]) -> float:
    """Return the sum over transitions of log p, each under a mixture of h and the frequencies of the others."""
    alpha, total = 1.0 / (1.0 + np.exp(-logit)), 0.0
    for prior, states in zip(h, rows, strict=True):
        for i, state in enumerate(states):
            remaining = states[:i] + states[i + 1 :]
            frequency = remaining.count(state) / len(remaining) if remaining else 1.0 / len(prior)
            total += float(np.log(alpha * prior[state] + (1.0 - alpha) * frequency))
    return total


class TestMetaGradient:
    def test_a_step_follows_the_gradient(self) -> None:
        component = MetaGradient()
        rows = [[0, 0, 1], [2, 1, 0, 2, 2], [1]]
        counts = np.array([[np.bincount(states, minlength=3)] for states in rows])[None]
        h, logit, t = np.random.default_rng(0).dirichlet(np.ones(3), 3), 0.3, 4
        before = Regulariser(t - 1, h[None, :, None], np.full((1, 1, 1, 1), logit))
        after = component.learn(before, Batch.of_counts(counts, 3))
        ends = [log_likelihood(h, logit + sign * SMALL, rows) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * SMALL) / counts.sum()
        np.testing.assert_allclose(after.logit - logit, FIRST_STEP / np.sqrt(t) * slope, rtol=1e-6)
        for row, states in enumerate(rows):
            gradient = np.zeros(3)
            for state in range(3):
                ends = [log_likelihood(h[[row]] + sign * SMALL * np.eye(3)[state], logit, [states]) for sign in (1, -1)]
                gradient[state] = (ends[0] - ends[1]) / (2 * SMALL)
            natural = (np.diag(h[row]) - np.outer(h[row], h[row])) @ gradient / (h[row] @ gradient)
            np.testing.assert_allclose(after.h[0, row, 0], h[row] + natural / (t + 1), rtol=1e-6)
