"""What every distribution of tasks has to keep to."""

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from pomrl.contracts.component import (
    ComponentContract,
    assert_experiment_runs,
    assert_models,
    assert_same,
    method,
    problem,
)
from pomrl.task_distributions import MeanModel, TaskDistribution

SIGMA = 0.002
DRAWS = 4000


class TaskDistributionContract(ComponentContract):
    """For subclasses with a fixture `component`: a distribution for which a sigma of 0.002 is not too much."""

    has_the_moments_it_says: ClassVar[bool] = True
    """Whether tasks have exactly the mean P_o and the variance that the distribution says."""

    def test_an_experiment_runs(self, component: TaskDistribution) -> None:
        assert_experiment_runs(problem(component, SIGMA), method())

    def test_mean_models_are_models_with_the_zeros_asked_for(self, component: TaskDistribution) -> None:
        for run in range(3):
            mean = drawn_mean(component, run=run)
            assert_models(mean.P_o)
            assert ((mean.P_o == 0).sum(-1) == component.zeros).all()
            assert mean.sigma == pytest.approx(SIGMA if component.measure == "std" else np.sqrt(SIGMA), abs=1e-15)

    def test_tasks_are_models_on_the_support_of_the_mean(self, component: TaskDistribution) -> None:
        mean = drawn_mean(component)
        tasks = drawn_tasks(component, mean, 50)
        assert_models(tasks)
        assert (tasks[:, mean.P_o == 0] == 0).all()

    def test_tasks_come_from_the_generator_and_from_nothing_else(self, component: TaskDistribution) -> None:
        mean = drawn_mean(component)
        first = drawn_tasks(component, mean, 3)
        np.random.default_rng().random()
        assert_same(drawn_tasks(component, mean, 3), first)
        assert (first[0] != first[1]).any()

    def test_pairs_that_do_not_vary_have_the_mean_model(self, component: TaskDistribution) -> None:
        some = dataclasses.replace(component, varying=0.5)
        mean = drawn_mean(some)
        assert mean.varying.sum() == mean.varying.size // 2
        tasks = drawn_tasks(some, mean, 5)
        assert_same(tasks[:, ~mean.varying], np.broadcast_to(mean.P_o[~mean.varying], tasks[:, ~mean.varying].shape))
        assert (some.variance(mean)[~mean.varying] == 0).all()

    def test_sigma_zero_gives_the_mean_model(self, component: TaskDistribution) -> None:
        mean = drawn_mean(component, sigma=0.0)
        assert_same(drawn_tasks(component, mean, 1)[0], mean.P_o)

    def test_sigma_is_the_largest_deviation(self, component: TaskDistribution) -> None:
        mean = drawn_mean(component)
        variance = component.variance(mean)
        assert variance.min() >= 0
        assert variance.max() == pytest.approx(mean.sigma**2)

    def test_a_sigma_that_is_too_large_is_refused(self, component: TaskDistribution) -> None:
        limit = drawn_mean(component).largest_sigma
        if np.isfinite(limit):
            too_large = limit * 1.001 if component.measure == "std" else (limit * 1.001) ** 2
            with pytest.raises(ValueError, match="sigma"):
                drawn_mean(component, sigma=too_large)

    def test_tasks_have_the_moments_that_are_said(self, component: TaskDistribution) -> None:
        if not self.has_the_moments_it_says:
            return
        mean = drawn_mean(component)
        tasks, variance = drawn_tasks(component, mean, DRAWS), component.variance(mean)
        error = np.abs(tasks.mean(0) - mean.P_o)
        assert (error <= 5 * np.sqrt(variance / DRAWS) + 1e-12).all()
        deviation = ((tasks - mean.P_o) ** 2).mean(0)
        of_deviation = ((tasks - mean.P_o) ** 2).std(0) / np.sqrt(DRAWS)
        assert (np.abs(deviation - variance) <= 5 * of_deviation + 1e-12).all()


def drawn_mean(component: TaskDistribution, run: int = 0, sigma: float = SIGMA) -> MeanModel:
    """The mean model of a run, with as many states as the zeros leave room for."""
    return component.draw_mean(0, run, component.zeros + 4, 2, sigma)


def drawn_tasks(component: TaskDistribution, mean: MeanModel, tasks: int) -> np.ndarray:
    """Models of tasks, of a generator that begins anew."""
    rng = np.random.default_rng(1)
    return np.stack([component.draw_task(rng, mean) for _ in range(tasks)])
