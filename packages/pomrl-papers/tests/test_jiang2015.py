"""Bounds and policies of the study `jiang2015` in closed form."""

import numpy as np
import pytest

from pomrl_papers.jiang2015.claims import GAMMA_EVAL
from pomrl_papers.jiang2015.policies import is_optimal_somewhere, loss_bound


@pytest.mark.parametrize("n", [1000, 10_000])
def test_the_bound_has_its_closed_minimum(n: int) -> None:
    """With x = 1 / (1 - gamma), the bound is 1 / (1 - gamma_eval) - x + 2 w x^2, smallest at x = 1 / (4 w)."""
    w = np.sqrt(np.log(2 * 20 * 2**10 / 0.05) / (2 * n))
    gammas = np.linspace(0, 0.98, 100_001)
    values = loss_bound(gammas, 2.0**10, n, 10, 2, GAMMA_EVAL, 0.05)
    assert gammas[values.argmin()] == pytest.approx(1 - 4 * w, abs=1e-4)
    assert values.min() == pytest.approx(100 - 1 / (8 * w))


@pytest.mark.parametrize(("gamma", "number"), [(0.0, 1), (0.09, 1), (0.11, 2), (0.49, 2), (0.51, 3)])
def test_a_count_by_hand(gamma: float, number: int) -> None:
    """In the second state the first action is by far the best; in the first one others give up 0.1 and 0.5.

    They earn 0.9 and 0.5 there, so that they are optimal from gamma = 0.1 and 0.5 on: 0.1 (1 - gamma) = 0.9 gamma.
    """
    R = np.array([[1.0, 0.9, 0.5], [0.0, -50.0, -50.0]])
    assert is_optimal_somewhere(R, gamma).sum() == number
