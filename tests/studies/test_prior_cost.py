"""Tasks, prior and limit formula of the study `prior_cost`."""

from dataclasses import replace

import numpy as np
import pytest

from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Memory
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl_studies.prior_cost import limit
from pomrl_studies.prior_cost.tasks import EqualActions, GaussianMean, Ring, RingRows


def test_ring_rows_share_one_displacement_law() -> None:
    ring = Ring(zeros=3)
    mean = ring.draw_mean(1, 0, 5, 2, 0.01)
    tasks = ring.draw([np.random.default_rng(0)], [mean], 3).P[:, 0]
    for P in (mean.P_o, *tasks):
        for state in range(5):
            np.testing.assert_array_equal(P[state], np.roll(P[0], state, axis=-1))
    assert np.ptp(tasks[:, 0], axis=0).max() > 0.01


def test_told_learners_average_displacements() -> None:
    prior = RingRows(prior="exclusive", similarity="known", mixing="paper")
    P_o = np.random.default_rng(0).dirichlet(np.ones(4), (2, 4, 3))
    before = replace(Memory.initial(2, 4, 3), P_o_hat=P_o)
    h = prior.prior_model(before, before, Truth(P_o, P_o))
    laws = np.stack([np.roll(P_o[:, state], -state, axis=-1) for state in range(4)])
    for state in range(4):
        np.testing.assert_allclose(h[:, state], np.roll(laws.mean(0), state, axis=-1), atol=1e-15)


def test_equal_actions_tie_in_the_mean() -> None:
    tasks = EqualActions(zeros=2, reward="state")
    mean = tasks.draw_mean(1, 0, 5, 2, 0.01)
    P = tasks.draw([np.random.default_rng(0)], [mean], 1).P[0, 0]
    assert (mean.P_o[:, 0] == mean.P_o[:, 1]).all()
    assert (mean.R[:, 0] == mean.R[:, 1]).all()
    assert (P[:, 0] != P[:, 1]).any(1).all()


@pytest.mark.parametrize("sigma", [0.01, 0.047])
def test_the_told_model_averages_clipped_tasks(sigma: float) -> None:
    tasks = GaussianMean(zeros=2)
    mean = tasks.draw_mean(1, 0, 5, 2, sigma)
    P = tasks.draw([np.random.default_rng(0)], [mean], 20_000).P[:, 0]
    assert mean.unsmoothed is not None
    limits = 4.0 * P.std(0) / np.sqrt(len(P))
    assert (np.abs(P.mean(0) - mean.P_o) <= limits).all()
    assert (np.abs(P.mean(0) - mean.unsmoothed) > limits).any()
    assert (tasks.draw_mean(1, 0, 5, 2, 0.0).P_o == mean.unsmoothed).all()


def test_the_small_gamma_limit_is_noise() -> None:
    """Then b' is gamma times the difference of the noise of both rows, on the rewards of the other plan."""
    n, m, gamma = 1000, 5, 1e-4
    means = [Dirichlet(zeros=0).draw_mean(limit.SEED, run, 2, 2, 0.0) for run in range(n)]
    p, R = np.stack([mean.P_o[..., 0] for mean in means]), np.stack([mean.R for mean in means])
    noise = (p * (1.0 - p)).sum(-1) / m  # of both rows, by state
    gaps = (R - R.max(-1)[:, ::-1, None]) ** 2  # a reward of the state less the largest one of the other state
    expected = 0.25 * gamma**2 * (noise * gaps.sum(-1)).sum(-1)
    np.testing.assert_allclose(limit.limits(n, 2, 2, m, gamma), expected, rtol=0.05, atol=1e-12)
