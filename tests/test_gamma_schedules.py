from math import sqrt
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pomrl.bounds import regret_constant, upper_bound_gamma
from pomrl.gamma_schedules import Dong, Fixed, GammaSchedule, Grid, Hindsight, UpperBound

GRID = [0.0, 0.2, 0.4, 0.6, 0.8, 0.9]


def select(schedule: GammaSchedule, alpha=(0.5,), sigma=(0.1,), t=2, m=5, S=10, A=2, gamma_eval=0.99) -> np.ndarray:
    return schedule.select(m, np.array(alpha), np.array(sigma), t, S, A, gamma_eval)


def hindsight(scope: Literal["all_tasks", "each_task"], choice: Literal["population", "per_run"] = "population"):
    return Hindsight(gammas=GRID, scope=scope, choice=choice)


def on_grid(loss: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """The losses [n, T] at the chosen discount factors."""
    return np.take_along_axis(loss, np.searchsorted(GRID, gamma)[..., None], -1)[..., 0]


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


def test_grid_gives_all_its_gammas_to_every_run():
    assert np.array_equal(select(Grid(gammas=GRID), [0.1, 0.2, 0.3], [0.1] * 3), [GRID] * 3)


def test_fixed_gives_its_gamma_to_every_run_and_task():
    for t in (1, 2, 15):
        assert np.array_equal(select(Fixed(gamma=0.7), [0.1, 0.2], [0.1] * 2, t), [[0.7], [0.7]])


@pytest.mark.parametrize("gammas", [[], [0.5, 0.4], [0.1, 0.1], [0.5, 1.0], [-0.1, 0.5], [float("nan")]])
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


@pytest.mark.parametrize("make", [lambda: Fixed(gamma=1.0), lambda: UpperBound(gamma_0=-0.1), lambda: Dong(L=0)])
def test_options_outside_their_range_are_refused(make):
    with pytest.raises(ValueError, match="validation error"):
        make()


@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_choices_in_hindsight_order_the_losses(choice: Literal["population", "per_run"]):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        loss = rng.gamma(1.0, size=(7, 5, len(GRID))) + rng.random((1, 5, 1)) * np.array(GRID)
        best = on_grid(loss, hindsight("all_tasks", choice).choose(loss)).mean()
        dynamic = on_grid(loss, hindsight("each_task", choice).choose(loss)).mean()
        assert dynamic < best
        assert best <= loss.mean((0, 1)).min() + 1e-15
        if choice == "population":
            assert best == pytest.approx(loss.mean((0, 1)).min(), rel=1e-14)
            assert dynamic == pytest.approx(loss.mean(0).min(-1).mean(), rel=1e-14)
        else:
            assert best == pytest.approx(loss.mean(1).min(-1).mean(), rel=1e-14)
            assert dynamic == pytest.approx(loss.min(-1).mean(), rel=1e-14)


def test_each_hindsight_choice_is_made_over_the_axes_it_says():
    loss = np.full((2, 2, len(GRID)), 10.0)
    loss[0, 0, 1], loss[0, 1, 2], loss[1, 0, 3], loss[1, 1, 2] = 4, 6, 5, 1
    assert np.array_equal(hindsight("all_tasks").choose(loss), np.full((2, 2), 0.4))
    assert np.array_equal(hindsight("each_task").choose(loss), [[0.2, 0.4], [0.2, 0.4]])
    assert np.array_equal(hindsight("all_tasks", "per_run").choose(loss), [[0.2, 0.2], [0.4, 0.4]])
    assert np.array_equal(hindsight("each_task", "per_run").choose(loss), [[0.2, 0.4], [0.6, 0.4]])


@pytest.mark.parametrize("scope", ["all_tasks", "each_task"])
@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_among_equals_the_largest_gamma_is_chosen(scope, choice):
    loss = np.tile([3.0, 1.0, 2.0, 1.0, 1.0, 2.0], (4, 3, 1))
    assert np.all(hindsight(scope, choice).choose(loss) == 0.8)
    assert np.all(hindsight(scope, choice).choose(np.zeros((4, 3, 6))) == 0.9)


def test_best_in_hindsight_of_one_run_is_the_same_per_run_and_for_the_population():
    loss = np.random.default_rng(3).random((1, 6, len(GRID)))
    for scope in ("all_tasks", "each_task"):
        assert np.array_equal(hindsight(scope, "per_run").choose(loss), hindsight(scope).choose(loss))


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


def test_bounds_take_single_numbers_as_well_as_arrays():
    assert float(regret_constant(1, 4, 0.5)) == pytest.approx(0.75, rel=1e-14)
    assert float(upper_bound_gamma(0.6)) == pytest.approx(0.25, rel=1e-14)
    assert float(upper_bound_gamma(0.4, "as_printed")) == 1


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


def test_another_variant_of_the_bound_is_refused():
    with pytest.raises(ValueError, match="variant='printed'"):
        upper_bound_gamma(0.3, "printed")


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


def test_an_offset_beyond_gamma_eval_is_cut_to_it():
    schedule = UpperBound(gamma_0=0.25)
    schedule.check(0.2)
    gamma = schedule.select(5, np.zeros(1), np.full(1, 0.1), 1, 10, 2, 0.2)
    assert gamma[0, 0] == 0.2
