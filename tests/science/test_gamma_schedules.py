from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from pomrl.science.gamma_schedules import Dong, GammaSchedule, TaskState, UpperBound, regret_constant, upper_bound_gamma


def select(schedule: GammaSchedule, alpha=(0.5,), deviation=(0.1,), t=2, m=5, S=10, A=2, gamma_eval=0.99) -> np.ndarray:
    return schedule.select(TaskState(t, m, S, A, gamma_eval, np.array(alpha), np.array(deviation)))


def test_dong_by_hand():
    """S A = 20 and m = 5: T_1 = 100 at alpha = 0; T_3 = 20 (0.25 * 5 + 0.75 * 10) = 175."""
    assert select(Dong(), [0.0], t=1)[0, 0] == pytest.approx(1 - 100**-0.2, rel=1e-14)
    assert select(Dong(), [0.75], t=3)[0, 0] == pytest.approx(1 - 175**-0.2, rel=1e-14)
    assert select(Dong(L=7), [0.75], t=3)[0, 0] == pytest.approx(1 - 25**-0.2, rel=1e-14)
    assert np.allclose(select(Dong(), [0.0, 1.0], [0.1, 0.1], t=15), 1 - np.array([[100], [1400]]) ** -0.2, rtol=1e-14)


def test_constant_of_the_regret_bound_by_hand():
    """m = 4, sigma = 1/2: sigma^2 m = 1, so C_t = (1/sqrt(t) + 1/2) / 2."""
    deviation = np.array([0.0, 0.5])
    np.testing.assert_allclose(regret_constant(1, 4, deviation), [0.5, 0.75], rtol=1e-14)
    np.testing.assert_allclose(regret_constant(4, 4, deviation), [0.25, 0.5], rtol=1e-14)
    np.testing.assert_allclose(regret_constant(4, 4, deviation, "notebook"), [0.75, 0.75], rtol=1e-14)
    np.testing.assert_allclose(regret_constant(9, 25, deviation), [1 / 15, (0.7 / 3 + 6.25 / 5) / 7.25], rtol=1e-14)


def test_printed_gamma_follows_the_propositions_cases():
    C = np.array([0.01, 0.3, 0.4999, 0.5, 0.6, 0.8, 1.0, 1.5, 3.0])
    expected = [1, 1, 1, 1 / 3, 0.25, 1 / 9, 0, 0, 0]
    np.testing.assert_allclose(upper_bound_gamma(C, "as_printed"), expected, rtol=1e-14, atol=0)


def test_upper_bound_schedule_adds_its_offset():
    C = (0.1 + 1 / sqrt(5)) / sqrt(3) / 1.05 + 0.05 / sqrt(5) / 1.05
    gamma = select(UpperBound(gamma_0=0.25), deviation=[0.1], t=3)[0, 0]
    assert gamma == pytest.approx(0.25 + (1 - C) / (1 + C), rel=1e-14)
    assert float(regret_constant(1, 1, 0.9)) > 1
    assert select(UpperBound(gamma_0=0.3), deviation=[0.9], t=1, m=1)[0, 0] == 0.3


# Options beyond the paper's


def state(t: int, alpha: float = 0.5, deviation: float = 0.2, gamma_eval: float = 0.99) -> TaskState:
    return TaskState(t, 5, 10, 2, gamma_eval, np.full(2, alpha), np.full(2, deviation))


def size_of_phase(schedule: Dong, t: int, alpha: float = 0.5) -> float:
    """T_t, from gamma_t = 1 - T_t^(-1/5)."""
    return float((1 - schedule.select(state(t, alpha))[0, 0]) ** -5)


@pytest.mark.parametrize(("T_0", "size"), [("m", 5), ("scaled", 10)])
def test_the_first_phase_is_scaled_or_not(T_0, size: float):
    assert size_of_phase(Dong(L=10, start="T0", T_0=T_0), 1) == pytest.approx(size)
    assert size_of_phase(Dong(L=10, start="T1", T_0=T_0), 1) == pytest.approx(5)


def test_the_last_given_rate_holds_on():
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
    for t in (1, 2, 7, 15):
        free = schedule.select(state(t))[0, 0]
        grid = [0.0, 0.2, 0.4, 0.6, 0.8]
        assert np.all(replace(schedule, snap=grid).select(state(t)) == min(grid, key=lambda gamma: abs(gamma - free)))
    snapped = replace(schedule, snap=[0.25, 0.75])._finish(np.array([0.5, 0.51]), 0.99)
    assert snapped[:, 0].tolist() == [0.25, 0.75]


def test_the_deviation_can_be_replaced():
    own = UpperBound().select(state(3, deviation=0.3))
    assert np.array_equal(UpperBound(deviation=0.3).select(state(3, deviation=0.8)), own)
    assert np.array_equal(UpperBound(plug="variance").select(state(3, deviation=sqrt(0.3))), own)
