"""The contract of task distributions on random chains."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, ComponentContract, assert_experiment_runs, assert_models, problem
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import RandomChains

SIGMA = 0.002
DRAWS = 4000


class TaskDistributionContract(ComponentContract):
    """Tests of a distribution on random chains that can have sigma = 0.002; the fixture `component` returns it."""

    has_the_moments_it_says: ClassVar[bool] = True
    """Whether the mean of tasks is exactly P_o and their variance exactly `RandomChains.variance`."""

    def test_an_experiment_runs(self, component: RandomChains) -> None:
        assert_experiment_runs(problem(component, SIGMA), METHOD)

    def test_mean_models_are_models_with_the_zeros_asked_for(self, component: RandomChains) -> None:
        for run in range(3):
            mean = drawn_mean(component, run=run)
            assert_models(mean.P_o)
            assert ((mean.P_o == 0).sum(-1) == component.zeros).all()
            assert mean.sigma == pytest.approx(SIGMA if component.measure == "std" else np.sqrt(SIGMA), abs=1e-15)

    def test_tasks_are_models_on_the_support_of_the_mean(self, component: RandomChains) -> None:
        mean = drawn_mean(component)
        tasks = drawn_tasks(component, mean, 50)
        assert_models(tasks)
        assert (tasks[:, mean.P_o == 0] == 0).all()

    def test_tasks_come_from_the_generator_and_from_nothing_else(self, component: RandomChains) -> None:
        mean = drawn_mean(component)
        first = drawn_tasks(component, mean, 3)
        np.random.default_rng().random()
        assert_array_equal(drawn_tasks(component, mean, 3), first)
        assert (first[0] != first[1]).any()

    def test_pairs_that_do_not_vary_have_the_mean_model(self, component: RandomChains) -> None:
        some = replace(component, varying=0.5)
        mean = drawn_mean(some)
        assert mean.varying.sum() == mean.varying.size // 2
        tasks = drawn_tasks(some, mean, 5)
        assert_array_equal(
            tasks[:, ~mean.varying], np.broadcast_to(mean.P_o[~mean.varying], tasks[:, ~mean.varying].shape)
        )
        assert (some.variance(mean)[~mean.varying] == 0).all()

    def test_sigma_zero_gives_the_mean_model(self, component: RandomChains) -> None:
        mean = drawn_mean(component, sigma=0.0)
        assert_array_equal(drawn_tasks(component, mean, 1)[0], mean.P_o)

    def test_sigma_is_the_largest_deviation(self, component: RandomChains) -> None:
        mean = drawn_mean(component)
        variance = component.variance(mean)
        assert variance.min() >= 0
        assert variance.max() == pytest.approx(mean.sigma**2)

    def test_a_sigma_that_is_too_large_is_refused(self, component: RandomChains) -> None:
        limit = drawn_mean(component).largest_sigma
        if np.isfinite(limit):
            too_large = limit * 1.001 if component.measure == "std" else (limit * 1.001) ** 2
            with pytest.raises(ValueError, match="sigma"):
                drawn_mean(component, sigma=too_large)

    def test_tasks_have_the_moments_that_are_said(self, component: RandomChains) -> None:
        if not self.has_the_moments_it_says:
            return
        mean = drawn_mean(component)
        tasks, variance = drawn_tasks(component, mean, DRAWS), component.variance(mean)
        squares = (tasks - mean.P_o) ** 2
        assert (np.abs(tasks.mean(0) - mean.P_o) <= 5 * np.sqrt(variance / DRAWS) + 1e-12).all()
        assert (np.abs(squares.mean(0) - variance) <= 5 * squares.std(0) / np.sqrt(DRAWS) + 1e-12).all()


def drawn_mean(component: RandomChains, run: int = 0, sigma: float = SIGMA) -> MeanModel:
    """Draw the mean model of a run, with four states more than there are zeros in a row."""
    return component.draw_mean(0, run, component.zeros + 4, 2, sigma)


def drawn_tasks(component: RandomChains, mean: MeanModel, tasks: int) -> np.ndarray:
    """Draw the models of several tasks from a new generator with a fixed seed."""
    rng = np.random.default_rng(1)
    return np.stack([component.draw_task(rng, mean) for _ in range(tasks)])
