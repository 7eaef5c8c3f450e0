"""Claims of the study `jiang2015`: their rules on losses that are made up, and bounds and policies in closed form."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.support.worlds import holds, made_of

from pomrl.configuration.study import find
from pomrl.judging.claim import claims_of
from pomrl.results.losses import SweepLosses
from pomrl.studies.jiang2015.claims import GAMMA_EVAL, GAMMAS, NUMBERS
from pomrl.studies.jiang2015.policies import is_optimal_somewhere, loss_bound

CLAIMS = {claim.id: claim for claim in claims_of(find("jiang2015"))}


def sweep(best: Mapping[Any, float], gammas: np.ndarray = GAMMAS, level: float = 0.0) -> SweepLosses:
    """Return losses whose means are parabolas with their minima at these discount factors."""
    return made_of({"m": best}, lambda m: level + 0.1 + (gammas - best[m]) ** 2, gammas)


GROWING = dict(zip(NUMBERS, (0.3, 0.5, 0.65, 0.85, 0.95), strict=True))
FALLING = dict(zip(NUMBERS, (0.99, 0.95, 0.85, 0.65, 0.3), strict=True))


@pytest.mark.parametrize("claim", ["J1", "J3", "J4"])
def test_claims_on_the_best_gamma_hold_where_it_grows_and_not_where_it_falls(claim: str) -> None:
    assert holds(CLAIMS[claim], sweep(GROWING))
    assert not holds(CLAIMS[claim], sweep(FALLING))


def test_too_short_horizons_lose_only_where_a_longer_one_is_better() -> None:
    assert holds(CLAIMS["J2"], sweep(GROWING))
    assert not holds(CLAIMS["J2"], sweep(dict.fromkeys(NUMBERS, 0.0)))


def test_overfitting_needs_both_losses() -> None:
    long, short = dict.fromkeys(NUMBERS, GAMMA_EVAL), dict.fromkeys(NUMBERS, 0.5)
    assert holds(CLAIMS["J5"], sweep(short), sweep(long))
    assert not holds(CLAIMS["J5"], sweep(long), sweep(long))
    assert not holds(CLAIMS["J5"], sweep(short), sweep(short))


@pytest.mark.parametrize(("level", "better", "near"), [(0.0, True, True), (0.05, True, False), (1.0, False, False)])
def test_cross_validation_is_compared_with_gamma_eval_and_with_hindsight(
    level: float, better: bool, near: bool
) -> None:
    of_grid = sweep(dict.fromkeys(NUMBERS, 0.5))
    chosen = sweep(dict.fromkeys(NUMBERS, 0.5), np.array([0.5]), level)
    assert holds(CLAIMS["J6"], of_grid, chosen) == better
    assert holds(CLAIMS["J7"], of_grid, chosen) == near


def test_a_loss_above_the_bound_refutes_it() -> None:
    best = dict.fromkeys((5, 20, 100), 0.5)
    assert holds(CLAIMS["J12"], sweep(best))
    assert not holds(CLAIMS["J12"], sweep(best, level=1e6))


@pytest.mark.parametrize("n", [1000, 10_000])
def test_the_bound_is_smallest_where_its_derivative_is_zero(n: int) -> None:
    """With x = 1 / (1 - gamma), the bound is 1 / (1 - gamma_eval) - x + 2 w x^2, smallest at x = 1 / (4 w)."""
    w = np.sqrt(np.log(2 * 20 * 2**10 / 0.05) / (2 * n))
    gammas = np.linspace(0, 0.98, 100_001)
    values = loss_bound(gammas, 2.0**10, n, 20, GAMMA_EVAL, 0.05)
    assert gammas[values.argmin()] == pytest.approx(1 - 4 * w, abs=1e-4)
    assert values.min() == pytest.approx(100 - 1 / (8 * w))


@pytest.mark.parametrize(("gamma", "number"), [(0.0, 1), (0.09, 1), (0.11, 2), (0.49, 2), (0.51, 3)])
def test_a_count_by_hand(gamma: float, number: int) -> None:
    """In the second state the first action is by far the best; in the first one others give up 0.1 and 0.5.

    They earn 0.9 and 0.5 there, so that they are optimal from gamma = 0.1 and 0.5 on: 0.1 (1 - gamma) = 0.9 gamma.
    """
    R = np.array([[1.0, 0.9, 0.5], [0.0, -50.0, -50.0]])
    assert is_optimal_somewhere(R, gamma).sum() == number
