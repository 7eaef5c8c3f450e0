"""Settings at which numbers would mean nothing are refused before the start, with the bound that holds."""

from typing import Literal

import numpy as np
import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.mdp import LARGEST_GAMMA_EVAL, LOSS_ERROR, check_gamma_eval, planning_loss, random_chain_mdp
from pomrl.science.planners import PolicyIteration
from pomrl.science.problem import check
from pomrl.science.tasks.random_chains import SMALLEST_DEVIATION, Dirichlet, Gaussian, RandomChains, UniformBall


def exact_value(P: np.ndarray, R: np.ndarray, policy: np.ndarray, gamma: float) -> np.ndarray:
    """The value of a policy in extended precision, by elimination."""
    states = np.arange(len(R))
    left = np.eye(len(R), dtype=np.longdouble) - np.longdouble(gamma) * P[states, policy].astype(np.longdouble)
    right = R[states, policy].astype(np.longdouble)
    for k in states:
        factor = left[:, k] / left[k, k]
        factor[k] = 0.0
        left, right = left - factor[:, None] * left[k], right - factor * right[k]
    return right / left[states, states]


def test_losses_at_the_largest_gamma_eval_are_as_accurate_as_promised() -> None:
    gamma = LARGEST_GAMMA_EVAL
    for seed in range(5):
        P, R = random_chain_mdp(np.random.default_rng(seed), 10, 2, 5)
        best, other = PolicyIteration().plan(P[None], R[None], np.array([0.5, gamma]))[0][::-1]
        exact = np.abs(exact_value(P, R, best, gamma) - exact_value(P, R, other, gamma)).max()
        found = planning_loss(P[None], R[None], other[None, None], gamma)[0, 0]
        assert abs(float(exact) - found) <= LOSS_ERROR


def test_a_larger_gamma_eval_is_refused_with_the_bound() -> None:
    check_gamma_eval(LARGEST_GAMMA_EVAL)
    with pytest.raises(ValueError, match=r"rounding errors.*at most 0\.99998510"):
        check_gamma_eval(float(np.nextafter(LARGEST_GAMMA_EVAL, 1.0)))
    beyond = sweeps.experiment(PUBLISHED, ["gamma_eval=0.99999"])
    with pytest.raises(ValueError, match=r"gamma_eval=0\.99999: "):
        check(beyond.problem, beyond.method, range(1))


@pytest.mark.parametrize("kind", [Dirichlet, Gaussian, UniformBall])
@pytest.mark.parametrize("measure", ["variance", "std"])
def test_the_smallest_sigma_is_drawn_and_a_smaller_one_refused(
    kind: type[RandomChains], measure: Literal["variance", "std"]
) -> None:
    distribution = kind(measure=measure, zeros=5)
    limit = SMALLEST_DEVIATION**2 if measure == "variance" else SMALLEST_DEVIATION
    mean = distribution.draw_mean(0, 0, 10, 2, 1.01 * limit)
    rng = np.random.default_rng(0)
    drawn = np.stack([distribution.draw_task(rng, mean) for _ in range(300)])
    assert np.isfinite(drawn).all()
    assert 0.8 < drawn.std(0).max() / mean.sigma < 1.3
    for too_small in (0.99 * limit, 1e-200, 5e-324):
        with pytest.raises(ValueError, match="it has to be 0 or at least"):
            distribution.draw_mean(0, 0, 10, 2, too_small)
    assert distribution.draw_mean(0, 0, 10, 2, 0.0).sigma == 0.0
