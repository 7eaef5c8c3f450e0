"""The mixing rates of estimators: the one of the paper, and those that minimise the mean squared error."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.support.sample_estimates import (
    MIXINGS,
    alpha_of,
    dirichlet_truth,
    draw_batches,
    known,
    make,
    memory_of,
    truth_of_sigma,
)
from tests.support.sample_models import random_models


def minimiser(error: Callable[[float], float]) -> float:
    least: Any = minimize_scalar(error, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    return least.x


# The paper's mixing rate


@pytest.mark.parametrize(
    ("options", "sigma", "m", "t", "alpha"),
    [
        ({}, 0.1, 5, 2, 1 / 1.075),
        ({}, 0.1, 5, 5, 1 / 1.06),
        ({}, 0.5, 4, 4, 1 / 2.25),
        ({}, 0.0, 5, 2, 1.0),
        ({}, 0.5, 4, 1, 0.0),
        ({"prior": "exclusive"}, 0.5, 4, 4, 1 / 2.25),
        ({"prior": "known"}, 0.5, 4, 4, 1 / 2.25),
        ({"prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 2, 1 / 3),
        ({"index": "algorithm"}, 0.5, 4, 5, 1 / 2.25),
        ({"index": "algorithm"}, 0.5, 4, 1, 0.0),
        ({"index": "algorithm", "prior": "known"}, 0.5, 4, 1, 1 / 3),
        ({"plug": "squared"}, 0.5, 4, 4, 1 / (0.0625 * 1.25 * 4 + 1)),
    ],
)
def test_rate_of_the_paper_by_hand(options: dict[str, Any], sigma: float, m: int, t: int, alpha: float):
    estimator = known(mixing="paper", **options)
    np.testing.assert_allclose(alpha_of(estimator, t, m, truth_of_sigma(sigma)), alpha, rtol=1e-14, atol=0)


@pytest.mark.parametrize("sigma", [0.1, 0.3])
@pytest.mark.parametrize(("m", "t"), [(1, 2), (5, 3), (20, 10)])
def test_rate_of_the_paper_minimises_its_mean_squared_error(sigma: float, m: int, t: int):
    """(Sec. 3.2) The prior is off by sigma^2 (1 + 1/t), the frequencies by 1/m."""
    best = minimiser(lambda alpha: alpha**2 * sigma**2 * (1 + 1 / t) + (1 - alpha) ** 2 / m)
    alpha = alpha_of(known(mixing="paper"), t, m, truth_of_sigma(sigma))
    np.testing.assert_allclose(alpha, best, rtol=1e-6)


# Rates that minimise the mean squared error


@pytest.mark.parametrize("sigma", [0.05, 0.3])
@pytest.mark.parametrize(("m", "t"), [(1, 2), (5, 2), (5, 3), (20, 10)])
def test_mse_bound_minimises_the_bound_with_sampling_variance_one_over_m(sigma: float, m: int, t: int):
    def exclusive(alpha: float) -> float:
        """The prior is a mean of t - 1 batches, each off by its task and by sampling; the present task is off too."""
        return alpha**2 * ((sigma**2 + 1 / m) / (t - 1) + sigma**2) + (1 - alpha) ** 2 / m

    errors = {
        "exclusive": exclusive,
        "inclusive": lambda alpha: exclusive(alpha * (t - 1) / t),
        "known": lambda alpha: alpha**2 * sigma**2 + (1 - alpha) ** 2 / m,
    }
    for prior, error in errors.items():
        alpha = alpha_of(known(mixing="mse_bound", prior=prior), t, m, truth_of_sigma(sigma))
        np.testing.assert_allclose(alpha, minimiser(error), rtol=1e-6)


def test_learned_priors_have_no_weight_in_task_1():
    for mixing, prior in product(MIXINGS, ("inclusive", "exclusive")):
        assert not alpha_of(known(mixing=mixing, prior=prior), 1, 5, truth_of_sigma(0.1)).any()


@pytest.mark.parametrize("scope", ["max", "per_pair"])
@pytest.mark.parametrize("c", [0.5, 5.0, 40.0])
def test_mse_optimal_for_a_dirichlet_of_known_mean_is_its_share_of_the_observations(scope, c: float):
    P_o, _ = random_models(np.random.default_rng(11), 3, 5, 2)
    for prior, t, factor in [("known", 1, 1), ("known", 4, 1), ("inclusive", 4, 1), ("exclusive", 4, 0.75)]:
        estimator = known(mixing="mse_optimal", prior=prior, scope=scope)
        alpha = alpha_of(estimator, t, 5, dirichlet_truth(P_o, c))
        np.testing.assert_allclose(alpha, factor * c / (c + 5), rtol=1e-12)
        assert alpha.shape == ((3, 1, 1) if scope == "max" else (3, 5, 2))


@pytest.mark.parametrize("prior", ["known", "exclusive", "inclusive"])
@pytest.mark.parametrize(("c", "m", "t"), [(2.0, 5, 2), (2.0, 5, 6), (12.0, 3, 3), (0.7, 10, 2)])
def test_mse_optimal_minimises_the_error_in_simulation(prior, c: float, m: int, t: int):
    """The squared error is quadratic in alpha: that of P_bar + alpha (h - P_bar) is least at -E[x y] / E[y^2]."""
    rng = np.random.default_rng(12)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    P = rng.dirichlet(c * p, (60_000, t))
    P_bar = rng.multinomial(m, P) / m
    own = P_bar[:, -1]
    h = {"known": p, "exclusive": P_bar[:, :-1].mean(1), "inclusive": P_bar.mean(1)}[prior]
    x, y = own - P[:, -1], h - own
    xy, yy = (x * y).sum(-1), (y * y).sum(-1)
    best = -xy.mean() / yy.mean()
    standard_error = np.std(xy + best * yy) / yy.mean() / np.sqrt(len(P))

    truth = dirichlet_truth(p[None, None, None].repeat(4, 1), c)
    alpha = alpha_of(known(mixing="mse_optimal", prior=prior), t, m, truth).max()
    assert standard_error < 0.01
    assert abs(alpha - best) < 4 * standard_error

    error = [((x + a * y) ** 2).sum(-1).mean() for a in (alpha - 0.1, alpha, alpha + 0.1)]
    assert error[1] == min(error)


def test_mse_optimal_estimates_the_transition_variance_where_the_similarity_is_learned():
    batches, truth = draw_batches(13, 6, 5)
    memory, m, t = memory_of(batches), 5, 7
    v = np.mean([P_bar * (1 - P_bar) for P_bar in batches], axis=0).max((1, 2, 3)) * 5 / 4
    x = m * np.var(batches, axis=0, ddof=1).max((1, 2, 3))
    alpha = alpha_of(make(mixing="mse_optimal", prior="exclusive", similarity="welford"), t, m, truth, memory)
    np.testing.assert_allclose(alpha[:, 0, 0], 6 / 7 * v / (v + x), rtol=1e-12)


@pytest.mark.parametrize("similarity", ["welford", "debiased"])
def test_mse_optimal_weighs_a_known_prior_in_task_1_whatever_the_similarity(similarity):
    """The mixing rate is between 0 and 1 in task 1 too, where the similarity cannot be estimated yet."""
    _, truth = draw_batches(14, 1, 5)
    alpha = alpha_of(make(mixing="mse_optimal", prior="known", similarity=similarity), 1, 5, truth)
    assert np.all((alpha >= 0) & (alpha <= 1))
