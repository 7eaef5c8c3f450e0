"""The parts of the paper's estimators: the similarity of tasks, the mixing rate, and what the prior contains."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.support.sample_estimates import dirichlet_truth, draw_batches
from tests.support.sample_models import random_models

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Memory
from pomrl.science.estimators.pomrl import RegularisedLeastSquares


def make(**options: Any) -> RegularisedLeastSquares:
    """Return the estimator of these options."""
    return RegularisedLeastSquares(**options)


def with_known_similarity(**options: Any) -> RegularisedLeastSquares:
    """Return the estimator of these options that knows the similarity of the tasks."""
    return RegularisedLeastSquares(similarity="known", **options)


def make_batch(P_bar: np.ndarray, m: int = 5) -> Batch:
    """Return the batch of m transitions from each pair with these frequencies."""
    visits = np.full((len(P_bar), 1, 1), float(m))
    return Batch(P_bar * m, P_bar, visits, visits > 0, m)


def make_memory(batches: list[np.ndarray], m: int = 5) -> Memory:
    memory = Memory.initial(*batches[0].shape[:3]) if batches else Memory.initial(1, 2, 1)
    for P_bar in batches:
        memory = memory.update(make_batch(P_bar, m))
    return memory


def truth_of_sigma(sigma: float, S: int = 3, A: int = 2, n: int = 1) -> Truth:
    """Return a truth in which all entries have the same standard deviation."""
    return Truth(np.full((n, S, A, S), 1 / S), np.full((n, S, A, S), sigma**2))


def mixing_rate(
    estimator: RegularisedLeastSquares, t: int, m: int, truth: Truth, memory: Memory | None = None
) -> np.ndarray:
    memory = memory or Memory.initial(*truth.P_o.shape[:3])
    return estimator.mixing_rate(t, m, estimator.similarity_estimate(memory, m, truth), memory, truth)


def minimiser(error: Callable[[float], float]) -> float:
    least: Any = minimize_scalar(error, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return least.x


# The paper's mixing rate


@pytest.mark.parametrize(
    ("options", "sigma", "m", "t", "alpha"),
    [
        ({}, 0.1, 5, 2, 1 / 1.075),
        ({}, 0.5, 4, 4, 1 / 2.25),
        ({}, 0.0, 5, 2, 1.0),
        ({}, 0.5, 4, 1, 0.0),
        ({"prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 2, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 5, 1 / 2.25),
        ({"index": "algorithm", "prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"plug": "squared"}, 0.5, 4, 4, 1 / (0.0625 * 1.25 * 4 + 1)),
    ],
)
def test_rate_of_the_paper_by_hand(options: dict[str, Any], sigma: float, m: int, t: int, alpha: float):
    estimator = with_known_similarity(mixing="paper", **options)
    np.testing.assert_allclose(mixing_rate(estimator, t, m, truth_of_sigma(sigma)), alpha, rtol=1e-14, atol=0)


def test_forgetting_counts_effective_past_tasks():
    estimator = with_known_similarity(mixing="paper", forgetting=0.5)
    memory, batches = estimator.initial_memory(1, 3, 2), np.random.default_rng(0).dirichlet(np.ones(3), (3, 1, 3, 2))
    for P_bar in batches:
        memory = estimator.learn(memory, make_batch(P_bar))
    t = 1 + (1 + 0.5 + 0.25) ** 2 / (1 + 0.5**2 + 0.25**2)
    np.testing.assert_allclose(
        mixing_rate(estimator, 4, 5, truth_of_sigma(0.3), memory), 1 / (5 * 0.3**2 * (1 + 1 / t) + 1)
    )


# Rates that minimise the mean squared error


@pytest.mark.parametrize("sigma", [0.05, 0.3])
@pytest.mark.parametrize(("m", "t"), [(1, 2), (5, 2), (5, 3), (20, 10)])
def test_mse_bound_minimises_its_bound(sigma: float, m: int, t: int):
    def exclusive(alpha: float) -> float:
        """The prior is a mean of t - 1 batches, each off by its task and by sampling; the present task is off too."""
        return alpha**2 * ((sigma**2 + 1 / m) / (t - 1) + sigma**2) + (1 - alpha) ** 2 / m

    errors = {
        "exclusive": exclusive,
        "inclusive": lambda alpha: exclusive(alpha * (t - 1) / t),
        "known": lambda alpha: alpha**2 * sigma**2 + (1 - alpha) ** 2 / m,
    }
    for prior, error in errors.items():
        alpha = mixing_rate(with_known_similarity(mixing="mse_bound", prior=prior), t, m, truth_of_sigma(sigma))
        np.testing.assert_allclose(alpha, minimiser(error), rtol=1e-6)


@pytest.mark.parametrize("scope", ["max", "per_pair"])
@pytest.mark.parametrize("c", [0.5, 5.0, 40.0])
def test_mse_optimal_is_the_dirichlet_share(scope, c: float):
    P_o, _ = random_models(np.random.default_rng(11), 3, 5, 2)
    for prior, t, factor in [("known", 1, 1), ("known", 4, 1), ("inclusive", 4, 1), ("exclusive", 4, 0.75)]:
        estimator = with_known_similarity(mixing="mse_optimal", prior=prior, scope=scope)
        alpha = mixing_rate(estimator, t, 5, dirichlet_truth(P_o, c))
        np.testing.assert_allclose(alpha, factor * c / (c + 5), rtol=1e-12)
        assert alpha.shape == ((3, 1, 1) if scope == "max" else (3, 5, 2))


def test_mse_optimal_estimates_the_transition_variance():
    batches, truth = draw_batches(13, 6, 5)
    memory, m, t = make_memory(batches), 5, 7
    v = np.mean([P_bar * (1 - P_bar) for P_bar in batches], axis=0).max((1, 2, 3)) * 5 / 4
    x = m * np.var(batches, axis=0, ddof=1).max((1, 2, 3))
    alpha = mixing_rate(make(mixing="mse_optimal", prior="exclusive", similarity="welford"), t, m, truth, memory)
    np.testing.assert_allclose(alpha[:, 0, 0], 6 / 7 * v / (v + x), rtol=1e-12)


def test_transition_variance_without_data_is_largest():
    estimator = make(mixing="mse_optimal", prior="known", similarity="welford", start_deviation=0.5)
    np.testing.assert_allclose(mixing_rate(estimator, 1, 5, truth_of_sigma(0.1)), 0.25 / (0.25 + 5 * 0.25))
    single = make_memory([np.eye(4)[None, :, None]] * 3, m=1)  # one transition from each pair
    assert (single.sampling_variance() == 0.25).all()


# The similarity


@pytest.mark.parametrize("similarity", ["welford", "debiased"])
@pytest.mark.parametrize("scope", ["max", "per_pair"])
def test_sigma_1_holds_for_two_tasks(similarity, scope):
    batches, truth = draw_batches(16, 5, 5)
    for start_deviation in (0.1, 0.5):
        estimator = make(mixing="paper", similarity=similarity, start_deviation=start_deviation, scope=scope)
        for t in (1, 2):
            memory = make_memory(batches[: t - 1]) if t > 1 else Memory.initial(3, 4, 2)
            assert np.all(estimator.similarity_estimate(memory, 5, truth) == start_deviation)
        assert np.all(estimator.similarity_estimate(make_memory(batches[:2]), 5, truth) != start_deviation)


@pytest.mark.parametrize(
    ("options", "ddof"),
    [({"similarity": "welford"}, 1), ({"similarity": "welford", "variance": "population"}, 0), ({}, 1)],
)
def test_learned_similarity_may_subtract_sampling_noise(options, ddof: int):
    batches, truth = draw_batches(17, 6, 5)
    options = {"mixing": "paper", "similarity": "debiased"} | options
    noise = np.mean([P_bar * (1 - P_bar) for P_bar in batches], axis=0) / 4
    variance = np.var(batches, axis=0, ddof=ddof) - noise * (options["similarity"] == "debiased")
    deviation = np.sqrt(np.maximum(variance, 0))
    largest = make(**options).similarity_estimate(make_memory(batches), 5, truth)
    by_pair = make(**options, scope="per_pair").similarity_estimate(make_memory(batches), 5, truth)
    np.testing.assert_allclose(largest[:, 0, 0], deviation.max((1, 2, 3)), rtol=1e-12)
    np.testing.assert_allclose(by_pair, deviation.max(-1), rtol=1e-12)


def test_predicted_models_are_smoothed_distributions() -> None:
    P_bar = np.zeros((1, 4, 1, 4))
    P_bar[..., 0] = 1.0
    predicted = make_memory([P_bar, P_bar]).predicted
    assert predicted.sum(-1) == pytest.approx(1.0)
    assert predicted.min() > 0.0
    assert predicted[..., 0].min() > 0.9
