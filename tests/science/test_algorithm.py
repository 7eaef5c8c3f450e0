from itertools import repeat
from math import sqrt

import numpy as np
import pytest
from tests.support.sample_estimates import draw_batches

from pomrl.science.algorithm import Learner, PlanningInput, pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.exploration import believe
from pomrl.science.gamma_schedules import Dong, Fixed, UpperBound

M_SAMPLES, S, A, T = 5, 4, 2, 7

POMRL = RegularisedLeastSquares(mixing="paper", similarity="known")
ADA_POMRL = RegularisedLeastSquares(mixing="paper", similarity="welford", start_deviation=0.3)


def run(batches: list[np.ndarray], truth: Truth, estimator: Estimator, schedule=None) -> list[PlanningInput]:
    return list(pomrl(zip(map(same, batches), repeat(truth)), M_SAMPLES, estimator, schedule or Fixed(gamma=0.9), 0.99))


def same(P_bar: np.ndarray) -> Batches:
    """The batch with these frequencies, for the task's estimate and for later tasks."""
    return Batches.same(Batch.of_counts(np.rint(P_bar * M_SAMPLES).astype(int), M_SAMPLES, equal=True))


def straight_line(batches: list[np.ndarray], similarity: float | None, start_deviation: float, inclusive: bool):
    """Algorithms 1 and 2 for one run, with plain loops: (P_hat, alpha, sigma) of each task.

    similarity is the known standard deviation, or None where it is estimated.
    """
    outcomes = []
    for t in range(1, len(batches) + 1):
        before, P_bar = batches[: t - 1], batches[t - 1]
        sigma = similarity
        if sigma is None:
            sigma = start_deviation
            if t > 2:
                largest = 0.0
                for s in range(S):
                    for a in range(A):
                        for next_s in range(S):
                            entries = [P[s, a, next_s] for P in before]
                            mean = sum(entries) / (t - 1)
                            largest = max(largest, sum((p - mean) ** 2 for p in entries) / (t - 2))
                sigma = sqrt(largest)
        alpha = 0.0 if t == 1 else 1 / (sigma**2 * (1 + 1 / t) * M_SAMPLES + 1)
        averaged = [*before, P_bar] if inclusive else before
        h = sum(averaged) / len(averaged) if averaged else np.full((S, A, S), 1 / S)
        outcomes.append((alpha * h + (1 - alpha) * P_bar, alpha, sigma))
    return outcomes


@pytest.mark.parametrize("prior", ["inclusive", "exclusive"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_loop_is_the_papers_written_out(prior, adaptive: bool):
    batches, truth = draw_batches(1, T, M_SAMPLES, c=20.0)
    estimator = RegularisedLeastSquares(
        mixing="paper", prior=prior, similarity="welford" if adaptive else "known", start_deviation=0.3
    )
    tasks = run(batches, truth, estimator)
    assert len(tasks) == T
    for i in range(3):
        deviation = None if adaptive else sqrt(truth.variance[i].max())
        expected = straight_line([P_bar[i] for P_bar in batches], deviation, 0.3, prior == "inclusive")
        for task, (P_hat, alpha, sigma) in zip(tasks, expected, strict=True):
            np.testing.assert_allclose(task.P_hat[i, 0], P_hat, rtol=0, atol=1e-14)
            assert task.alpha[i] == pytest.approx(alpha, rel=1e-13, abs=0)
            assert task.sigma[i] == pytest.approx(sigma, rel=1e-13)


def test_rates_are_averaged_and_similarities_maximised():
    batches, truth = draw_batches(1, T, M_SAMPLES, c=20.0)
    tasks = run(batches, truth, RegularisedLeastSquares(mixing="paper", similarity="known", scope="per_pair"))
    sigma = np.sqrt(truth.variance).max(-1)
    alpha = 1 / (sigma**2 * (1 + 1 / T) * M_SAMPLES + 1)
    np.testing.assert_allclose(tasks[-1].alpha, alpha.mean((1, 2)), rtol=1e-13)
    np.testing.assert_allclose(tasks[-1].sigma, sigma.max((1, 2)), rtol=1e-13)
    h = np.mean(batches, axis=0)
    P_hat = alpha[..., None] * h + (1 - alpha[..., None]) * batches[-1]
    np.testing.assert_allclose(tasks[-1].P_hat[:, 0], P_hat, rtol=0, atol=1e-14)


def test_schedules_get_rate_and_similarity_of_tasks():
    batches, truth = draw_batches(1, T, M_SAMPLES, c=20.0)
    for t, task in enumerate(run(batches, truth, ADA_POMRL, UpperBound(gamma_0=0.1)), start=1):
        x = task.sigma**2 * M_SAMPLES
        C = ((task.sigma + 1 / sqrt(M_SAMPLES)) / sqrt(t) + x / sqrt(M_SAMPLES)) / (x + 1)
        np.testing.assert_allclose(task.gamma[:, 0], np.minimum(0.1 + (1 - C) / (1 + C), 0.99), rtol=1e-13)
    for t, task in enumerate(run(batches, truth, ADA_POMRL, Dong()), start=1):
        T_t = S * A * M_SAMPLES * (1 - task.alpha + task.alpha * (t - 1))
        np.testing.assert_allclose(task.gamma[:, 0], 1 - T_t**-0.2, rtol=1e-13)


class Watched:
    """A task whose data are given, and which keeps what is believed after them."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches

    def collect(self, learner: Learner) -> Batches:
        self.belief = believe(learner, self.batches.meta)
        return self.batches


def test_a_belief_adds_the_priors_transitions():
    """After one transition the rate is 1 / (x + 1) with x = sigma^2 (1 + 1/t): a prior of 1 / x transitions."""
    batches, truth = draw_batches(1, T, M_SAMPLES, c=20.0)
    tasks = [Watched(same(P_bar)) for P_bar in batches]
    estimates = list(pomrl(zip(tasks, repeat(truth)), M_SAMPLES, POMRL, Fixed(gamma=0.9), 0.99))
    x = truth.variance.max((1, 2, 3))[:, None, None] * (1 + 1 / T)
    np.testing.assert_allclose(tasks[-1].belief.concentration, np.maximum(1 / x, 1) + M_SAMPLES, rtol=1e-9)
    assert np.array_equal(tasks[-1].belief.P_hat, estimates[-1].P_hat[:, 0])
