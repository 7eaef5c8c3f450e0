from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pomrl.science.gamma_schedules import (
    Dong,
    Fixed,
    GammaSchedule,
    Grid,
    Hindsight,
    TaskState,
    UpperBound,
)
from pomrl.science.upper_bound import regret_constant, upper_bound_gamma

GRID = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]


def select(schedule: GammaSchedule, alpha=(0.5,), sigma=(0.1,), t=2, m=5, S=10, A=2, gamma_eval=0.99) -> np.ndarray:
    return schedule.select(TaskState(t, m, S, A, gamma_eval, np.array(alpha), np.array(sigma)))


@given(
    alpha=st.floats(0, 1),
    sigma=st.floats(0, 1),
    t=st.integers(1, 1000),
    m=st.integers(1, 1000),
    S=st.integers(2, 50),
    A=st.integers(1, 5),
    gamma_eval=st.floats(0.9, 0.999),
)
@settings(deadline=None, derandomize=True)
def test_every_gamma_lies_between_zero_and_gamma_eval(alpha, sigma, t, m, S, A, gamma_eval):
    schedules = [
        Grid(gammas=GRID),
        Fixed(gamma=0.9),
        Dong(),
        Dong(L=1000, start="T0"),
        UpperBound(),
        UpperBound(gamma_0=0.9, variant="as_printed"),
        UpperBound(gamma_0=0.0),
    ]
    for schedule in schedules:
        gamma = select(schedule, [alpha, 0.0], [sigma, 0.5], t, m, S, A, gamma_eval)
        assert gamma.shape[0] == 2
        assert np.all((gamma >= 0) & (gamma <= gamma_eval))


@pytest.mark.parametrize("gammas", [[], [0.5, 0.4], [0.1, 0.1], [0.5, 1.1], [-0.1, 0.5], [float("nan")]])
def test_grids_that_are_none_are_refused(gammas: list[float]):
    with pytest.raises(ValueError, match="gammas"):
        Grid(gammas=gammas)


@pytest.mark.parametrize(
    ("schedule", "key"),
    [
        (Grid(gammas=[0.1, 0.96]), "gammas"),
        (Hindsight(gammas=[0.1, 0.96], scope="all_tasks"), "gammas"),
        (Fixed(gamma=0.96), "gamma"),
    ],
)
def test_gammas_beyond_gamma_eval_are_refused(schedule: GammaSchedule, key: str):
    schedule.check(0.96)
    with pytest.raises(ValueError, match=rf"gamma_schedule\.{key}=0\.96: .* gamma_eval=0\.95"):
        schedule.check(0.95)


def test_dong_by_hand():
    """S A = 20 and m = 5: T_1 = 100 at alpha = 0; T_3 = 20 (0.25 * 5 + 0.75 * 10) = 175."""
    assert select(Dong(), [0.0], t=1)[0, 0] == pytest.approx(1 - 100**-0.2, rel=1e-14)
    assert select(Dong(), [0.75], t=3)[0, 0] == pytest.approx(1 - 175**-0.2, rel=1e-14)
    assert select(Dong(L=7), [0.75], t=3)[0, 0] == pytest.approx(1 - 25**-0.2, rel=1e-14)
    assert np.allclose(select(Dong(), [0.0, 1.0], [0.1, 0.1], t=15), 1 - np.array([[100], [1400]]) ** -0.2, rtol=1e-14)


def test_dong_may_start_at_m():
    assert select(Dong(start="T0"), [0.0], t=1)[0, 0] == pytest.approx(1 - 5**-0.2, rel=1e-14)
    assert select(Dong(start="T0"), [0.4], t=2)[0, 0] == select(Dong(), [0.4], t=2)[0, 0]


def test_dong_is_cut_at_both_ends():
    assert select(Dong(L=1000), [0.0], t=1)[0, 0] == 0
    assert select(Dong(), [1.0], t=1)[0, 0] == 0
    assert select(Dong(), [0.0], m=10**6, t=3, gamma_eval=0.9)[0, 0] == 0.9


def test_constant_of_the_regret_bound_by_hand():
    """m = 4, sigma = 1/2: sigma^2 m = 1, so C_t = (1/sqrt(t) + 1/2) / 2."""
    sigma = np.array([0.0, 0.5])
    np.testing.assert_allclose(regret_constant(1, 4, sigma), [0.5, 0.75], rtol=1e-14)
    np.testing.assert_allclose(regret_constant(4, 4, sigma), [0.25, 0.5], rtol=1e-14)
    np.testing.assert_allclose(regret_constant(9, 25, sigma), [1 / 15, (0.7 / 3 + 6.25 / 5) / 7.25], rtol=1e-14)


@pytest.mark.parametrize("C", np.linspace(0.02, 3, 40))
def test_corrected_gamma_minimises_the_bound(C: float):
    def U(gamma):
        return 1 / (1 - 0.99) - 1 / (1 - gamma) + C * gamma / (1 - gamma) ** 2

    gamma = float(upper_bound_gamma(C))
    least: Any = minimize_scalar(U, bounds=(0, 0.9999), method="bounded", options={"xatol": 1e-10})
    assert gamma == pytest.approx(least.x, abs=2e-6)
    others = np.linspace(0, 0.9999, 2001)
    assert np.all(U(others) >= U(gamma) - 1e-12)
    if C < 1:
        assert np.all(U(others[np.abs(others - gamma) > 1e-3]) > U(gamma))


def test_gamma_as_printed_follows_the_cases_of_the_proposition():
    C = np.array([0.01, 0.3, 0.4999, 0.5, 0.6, 0.8, 1.0, 1.5, 3.0])
    expected = [1, 1, 1, 1 / 3, 0.25, 1 / 9, 0, 0, 0]
    np.testing.assert_allclose(upper_bound_gamma(C, "as_printed"), expected, rtol=1e-14, atol=0)


def test_upper_bound_schedule_adds_its_offset():
    C = (0.1 + 1 / sqrt(5)) / sqrt(3) / 1.05 + 0.05 / sqrt(5) / 1.05
    gamma = select(UpperBound(gamma_0=0.25), sigma=[0.1], t=3)[0, 0]
    assert gamma == pytest.approx(0.25 + (1 - C) / (1 + C), rel=1e-14)
    assert float(regret_constant(1, 1, 0.9)) > 1
    assert select(UpperBound(gamma_0=0.3), sigma=[0.9], t=1, m=1)[0, 0] == 0.3


def test_upper_bound_schedule_is_cut_at_gamma_eval():
    assert select(UpperBound(gamma_0=0.5), sigma=[0.0], t=10_000, m=100)[0, 0] == 0.99
    assert float(regret_constant(2, 5, 0.1)) < 0.5
    assert select(UpperBound(gamma_0=0.0, variant="as_printed"), sigma=[0.1], t=2)[0, 0] == 0.99


def test_only_the_upper_bound_needs_a_similarity():
    assert UpperBound.needs_similarity
    assert not any(schedule.needs_similarity for schedule in (Grid, Hindsight, Fixed, Dong))
