"""Options of schedules beyond the paper's: given rates, counts that come late, grids to snap to, formulas."""

from math import sqrt

import numpy as np
import pytest

from pomrl.science.gamma_schedules import Dong, TaskState, UpperBound
from pomrl.science.upper_bound import regret_constant


def state(t: int, alpha: float = 0.5, sigma: float = 0.2, gamma_eval: float = 0.99) -> TaskState:
    return TaskState(t, 5, 10, 2, gamma_eval, np.full(2, alpha), np.full(2, sigma))


def size_of_phase(schedule: Dong, t: int, alpha: float = 0.5) -> float:
    """T_t, from gamma_t = 1 - T_t^(-1/5)."""
    return float((1 - schedule.select(state(t, alpha))[0, 0]) ** -5)


@pytest.mark.parametrize(("T_0", "size"), [("m", 5), ("scaled", 10)])
def test_the_first_phase_is_scaled_or_not(T_0, size: float):
    assert size_of_phase(Dong(L=10, start="T0", T_0=T_0), 1) == pytest.approx(size)
    assert size_of_phase(Dong(L=10, start="T1", T_0=T_0), 1) == pytest.approx(5)


def test_rates_may_be_given_and_the_last_one_holds_for_the_rest():
    schedule = Dong(L=20, alpha=[0.1, 0.2, 0.9])
    for t, alpha in [(1, 0.1), (2, 0.2), (3, 0.9), (4, 0.9), (15, 0.9)]:
        assert size_of_phase(schedule, t) == pytest.approx(5 * (1 - alpha) + alpha * 5 * (t - 1))


@pytest.mark.parametrize("lag", [0, 1, 4])
def test_past_tasks_count_late(lag: int):
    for t in range(1, 9):
        past = max(t - 1 - lag, 0)
        assert size_of_phase(Dong(L=5, lag=lag), t) == pytest.approx(max(4 * (2.5 + 2.5 * past), 1))


@pytest.mark.parametrize("schedule", [Dong(L=10), UpperBound()])
def test_snapping_finds_the_nearest_of_a_grid(schedule):
    grid = [0.0, 0.2, 0.4, 0.6, 0.8]
    for t in (1, 2, 7, 15):
        free = schedule.select(state(t))
        snapped = type(schedule)(**{**vars_of(schedule), "snap": grid}).select(state(t))
        nearest = min(grid, key=lambda gamma: abs(gamma - free[0, 0]))
        assert np.all(snapped == nearest)


def vars_of(schedule) -> dict:
    return {"L": schedule.L} if isinstance(schedule, Dong) else {}


def test_of_two_nearest_the_smaller_one_is_chosen():
    halfway = Dong(L=20, snap=[0.25, 0.75])._finished(np.array([0.5, 0.51, 0.49]), 0.99)
    assert halfway[:, 0].tolist() == [0.25, 0.75, 0.25]


def test_a_grid_has_to_ascend_and_to_stay_below_gamma_eval():
    with pytest.raises(ValueError, match="ascend"):
        Dong(snap=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"gamma_schedule\.snap=0\.95: it has to be at most gamma_eval=0\.9"):
        UpperBound(snap=[0.5, 0.95]).check(0.9)
    UpperBound(snap=[0.5, 0.9]).check(0.9)


def test_the_second_term_of_the_notebook_is_constant():
    for sigma in (0.0, 0.1, 0.9):
        for t in (1, 4, 10**8):
            text, notebook = (float(regret_constant(t, 5, sigma, formula)) for formula in ("text", "notebook"))
            assert notebook - text == pytest.approx(1 / sqrt(5) / (5 * sigma**2 + 1))
    assert float(regret_constant(10**12, 5, 0.3, "notebook")) == pytest.approx(1 / sqrt(5), abs=1e-5)


def test_another_sigma_may_be_given_or_plugged_in():
    own = UpperBound().select(state(3, sigma=0.3))
    assert np.array_equal(UpperBound(sigma=0.3).select(state(3, sigma=0.8)), own)
    assert np.array_equal(UpperBound(plug="variance").select(state(3, sigma=sqrt(0.3))), own)
    assert not np.array_equal(UpperBound(sigma=0.3, plug="variance").select(state(3)), own)
