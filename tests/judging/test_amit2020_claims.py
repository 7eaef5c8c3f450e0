"""Claims of the study `amit2020`: their rules on losses that are made up, and its worlds against their definitions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.support.worlds import holds, made_of

from pomrl.configuration.study import find
from pomrl.judging.claim import claims_of
from pomrl.results.losses import SweepLosses
from pomrl.studies.amit2020.claims import AGENTS, EQUAL, GAMMA_EVAL, IN_GRIDS, NUMBERS
from pomrl.studies.amit2020.worlds import DrawnGrid, TwoGroups

CLAIMS = {claim.id: claim for claim in claims_of(find("amit2020"))}
GAMMAS = np.array([*(i / 20 for i in range(20)), GAMMA_EVAL])


def parabola(best: float, steepness: float = 1.0) -> np.ndarray:
    return 0.1 + steepness * (GAMMAS - best) ** 2


def sweep(axes: Mapping[str, Iterable[Any]], mean: Callable[..., np.ndarray]) -> SweepLosses:
    return made_of(axes, mean, GAMMAS)


@pytest.mark.parametrize(("claim", "agents"), [("D1", AGENTS), ("D2", IN_GRIDS)])
def test_shorter_horizons_have_to_win_with_few_data_for_every_learner(claim: str, agents: dict[str, str]) -> None:
    axes = {"agent": list(agents), "m": NUMBERS}
    assert holds(CLAIMS[claim], sweep(axes, lambda agent, m: parabola(0.5 if m < 16 else GAMMA_EVAL)))
    assert not holds(CLAIMS[claim], sweep(axes, lambda agent, m: parabola(GAMMA_EVAL if agent == "lstd" else 0.5)))


@pytest.mark.parametrize(("claim", "growing"), [("D3", True), ("D3", False), ("D4", True), ("D4", False)])
def test_more_data_need_longer_horizons(claim: str, growing: bool) -> None:
    best = dict(zip(NUMBERS, (0.3, 0.5, 0.7, 0.9) if growing else (0.9, 0.7, 0.5, 0.3), strict=True))
    axes = {"agent": list(AGENTS), "m": NUMBERS}
    assert holds(CLAIMS[claim], sweep(axes, lambda agent, m: parabola(best[m]))) == growing


@pytest.mark.parametrize("shift", [0.0, 0.01])
def test_equal_penalties_have_equal_losses(shift: float) -> None:
    """The loss with a weight at gamma_eval is that without one at the discount factor that equals it, or another."""
    at = {l2: parabola(0.3)[np.abs(GAMMAS - gamma).argmin()] for l2, gamma in EQUAL.items()}
    means = {0: parabola(0.3), **{l2: np.full(len(GAMMAS), loss + shift) for l2, loss in at.items()}}
    assert holds(CLAIMS["D6"], sweep({"l2": [0, *EQUAL]}, lambda l2: means[l2])) == (shift == 0)


@pytest.mark.parametrize(("helps", "beaten"), [(True, True), (True, False), (False, True)])
def test_penalties_are_compared_with_none_and_with_the_best_gamma(helps: bool, beaten: bool) -> None:
    """Without a penalty the loss at gamma_eval is 0.34, and 0.1 or 0.5 at the best gamma; with one it is 0.2 or 0.4."""

    def mean(l2: float, m: int) -> np.ndarray:
        curve = np.full(len(GAMMAS), 0.5)
        curve[3], curve[-1] = 0.1 if beaten else 0.5, 0.34
        return curve if l2 == 0.0001 else np.full(len(GAMMAS), 0.2 if helps else 0.4)

    of_both = [sweep({"l2": [0.0001, 0.01], "m": NUMBERS}, mean)] * 2
    assert holds(CLAIMS["D7"], *of_both) == helps
    assert holds(CLAIMS["D8"], *of_both) == beaten


def test_moves_in_a_grid_work_or_stay() -> None:
    P, R = DrawnGrid(side=3).world(np.random.default_rng(0))
    assert P.shape == (9, 5, 9)
    assert_allclose(P.sum(-1), 1.0)
    assert set(np.flatnonzero(P[4, 0])) == {1, 4}
    assert set(np.flatnonzero(P[4, 1])) == {4, 7}
    assert set(np.flatnonzero(P[4, 2])) == {4, 5}
    assert set(np.flatnonzero(P[4, 3])) == {3, 4}
    assert_allclose(P[:, 4], np.eye(9))
    assert_allclose([P[0, 0, 0], P[2, 2, 2], P[8, 1, 8], P[6, 3, 6]], 1.0)  # against walls
    assert (R[:, :1] == R).all()
    assert (R[:, 0] == 1).sum() == 1
    assert R.min() >= -0.5


@pytest.mark.parametrize("leave", [0.5, 0.1, 0.02])
def test_groups_mix_as_slowly_as_is_said(leave: float) -> None:
    """The second largest eigenvalue of the chain of the uniform policy, on average over worlds."""
    world, second = TwoGroups(leave=leave), []
    for seed in range(50):
        P, _ = world.world(np.random.default_rng(seed))
        assert_allclose(P.sum(-1), 1.0)
        second.append(np.sort(np.abs(np.linalg.eigvals(P.mean(1))))[-2])
    assert np.mean(second) == pytest.approx(1 - leave, abs=0.15 * leave + 0.01)
