"""Planners refuse bad models, gammas and options, and name the first bad index."""

import inspect

import numpy as np
import pytest
from tests.support.sample_models import (
    random_models,
)
from tests.support.sample_planners import PLANNERS, every_planner

from pomrl.science.planners import Planner, ValueIteration
from pomrl.science.solvers.evaluation import check_gammas, check_models


def set_nan(P, R):
    P[2, 1, 0, 3] = np.nan


def set_negative(P, R):
    P[2, 1, 0, :2] += [-1.0, 1.0]


def set_row_to_zero(P, R):
    P[2, 1, 0] = 0.0


def set_row_sum_off(P, R):
    P[2, 1, 0, 0] += 1e-9


def set_later_row_sum_off_too(P, R):
    P[2, 1, 0, 0] += 0.5
    P[2, 2, 1, 0] += 0.5


def set_infinite_reward(P, R):
    R[2, 1, 0] = np.inf


def set_nan_reward(P, R):
    R[2, 1, 0] = np.nan


@every_planner
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (set_nan, r"P\[2, 1, 0, 3\] = nan is not a probability"),
        (set_negative, r"P\[2, 1, 0, 0\] = -0\.\d+ is not a probability"),
        (set_row_to_zero, r"sum of the row P\[2, 1, 0\] = 0\.0 is not 1"),
        (set_row_sum_off, r"sum of the row P\[2, 1, 0\] = 1\.00000000\d+ is not 1"),
        (set_later_row_sum_off_too, r"sum of the row P\[2, 1, 0\] = 1\.5\d* is not 1"),
        (set_infinite_reward, r"R\[2, 1, 0\] = inf is not finite"),
        (set_nan_reward, r"R\[2, 1, 0\] = nan is not finite"),
    ],
)
def test_bad_models_are_refused_by_their_first_bad_index(planner: Planner, spoil, message: str):
    P, R = random_models(np.random.default_rng(12), 4, 4, 2)
    spoil(P, R)
    with pytest.raises(ValueError, match=message):
        planner.plan(P, R, np.array([0.5]))


def test_models_whose_shapes_do_not_fit_are_refused():
    check = inspect.unwrap(check_models)  # as it is without run-time checks of shapes
    with pytest.raises(ValueError, match=r"shapes are \(4, 3, 2, 3\) and \(4, 3, 3\)"):
        check(np.full((4, 3, 2, 3), 1 / 3), np.zeros((4, 3, 3)))
    with pytest.raises(ValueError, match=r"shapes are \(3, 2, 4\) and \(3, 2\)"):
        check(np.full((3, 2, 4), 0.25), np.zeros((3, 2)))


def test_rows_that_sum_to_one_but_for_rounding_are_accepted():
    rng = np.random.default_rng(13)
    P = rng.random((200, 30, 2, 30))
    check_models(P / P.sum(-1, keepdims=True), np.zeros((200, 30, 2)))
    check_models(rng.multinomial(7, np.full(30, 1 / 30), (200, 30, 2)) / 7, np.zeros((200, 30, 2)))


@pytest.mark.parametrize("bad", [1.5, -0.1, np.nan, np.inf])
def test_bad_gammas_are_refused_by_their_first_bad_index(bad: float):
    P, R = random_models(np.random.default_rng(14), 3, 4, 2)
    gammas = np.array([[0.1, 0.2], [0.1, bad], [bad, 0.2]])
    for planner in PLANNERS:
        with pytest.raises(ValueError, match=rf"gamma\[1, 1\] = {bad} is not in \[0, 1\]"):
            planner.plan(P, R, gammas)
        with pytest.raises(ValueError, match=r"gamma\[0, 2\]"):
            planner.plan(P, R, np.array([0.0, 0.5, bad]))
    with pytest.raises(ValueError, match=r"gamma\[1\]"):
        check_gammas(np.array([0.0, bad]))


@every_planner
def test_gammas_for_another_number_of_models_are_refused(planner: Planner):
    P, R = random_models(np.random.default_rng(15), 3, 4, 2)
    with pytest.raises(ValueError, match="shape"):
        planner.plan(P, R, np.full((2, 2), 0.5))


@pytest.mark.parametrize("wrong", [{"tolerance": 0.0}, {"max_sweeps": 0}, {"tolerance": float("nan")}, {"sweeps": 3}])
def test_options_of_value_iteration_are_checked(wrong: dict):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ValueIteration(**wrong)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 0), (1, 3, 2)])
def test_gammas_of_another_shape_are_refused(shape: tuple[int, ...]):
    P, R = random_models(np.random.default_rng(21), 3, 4, 2)
    for planner in PLANNERS:
        with pytest.raises(ValueError, match="gammas must be"):
            planner.plan(P, R, np.full(shape, 0.5))
