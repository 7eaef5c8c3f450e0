"""What is tested of distributions of tasks around random chains, and of streams of their mean models."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, RUNS, ComponentContract, assert_models, problem
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, RandomChains
from pomrl.science.tasks.streams import TaskStream

SIGMA = 0.002
DRAWS = 4000
TASKS = 12
DISTRIBUTION = Dirichlet(zeros=2)


class TaskDistributionContract(ComponentContract):
    """Tests of a distribution on random chains that can have sigma = 0.002; the fixture `component` returns it."""

    has_the_moments_it_says: ClassVar[bool] = True
    """Whether the mean of tasks is exactly P_o and their variance exactly `RandomChains.variance`."""

    def experiments(self, component: RandomChains) -> Sequence[tuple[Problem, Method]]:
        return [(problem(component, SIGMA), METHOD)]

    def test_mean_models_are_models_with_the_zeros_asked_for(self, component: RandomChains) -> None:
        for run in range(RUNS):
            mean = draw_mean(component, run=run)
            assert_models(mean.P_o)
            assert ((mean.P_o == 0).sum(-1) == component.zeros).all()
            assert mean.deviation == pytest.approx(SIGMA if component.measure == "std" else np.sqrt(SIGMA), abs=1e-15)

    def test_tasks_are_models_on_the_support_of_the_mean(self, component: RandomChains) -> None:
        mean = draw_mean(component)
        tasks = draw_tasks(component, mean, 50)
        assert_models(tasks)
        assert (tasks[:, mean.P_o == 0] == 0).all()
        assert (tasks[0] != tasks[1]).any()

    def test_pairs_that_do_not_vary_have_the_mean_model(self, component: RandomChains) -> None:
        some = replace(component, varying=0.5)
        mean = draw_mean(some)
        assert mean.varying.sum() == mean.varying.size // 2
        for task in draw_tasks(some, mean, 5):
            assert_array_equal(task[~mean.varying], mean.P_o[~mean.varying])
        assert (some.variance(mean)[~mean.varying] == 0).all()

    def test_sigma_zero_gives_the_mean_model(self, component: RandomChains) -> None:
        mean = draw_mean(component, sigma=0.0)
        assert_array_equal(draw_tasks(component, mean, 1)[0], mean.P_o)

    def test_sigma_is_the_largest_deviation(self, component: RandomChains) -> None:
        mean = draw_mean(component)
        variance = component.variance(mean)
        assert variance.min() >= 0
        assert variance.max() == pytest.approx(mean.deviation**2)

    def test_a_sigma_that_is_too_large_is_refused(self, component: RandomChains) -> None:
        limit = draw_mean(component).largest_deviation
        if np.isfinite(limit):
            too_large = limit * 1.001 if component.measure == "std" else (limit * 1.001) ** 2
            with pytest.raises(ValueError, match="sigma"):
                draw_mean(component, sigma=too_large)

    def test_tasks_have_the_moments_that_are_said(self, component: RandomChains) -> None:
        if not self.has_the_moments_it_says:
            return
        mean = draw_mean(component)
        tasks, variance = draw_tasks(component, mean, DRAWS), component.variance(mean)
        squares = (tasks - mean.P_o) ** 2
        assert (np.abs(tasks.mean(0) - mean.P_o) <= 5 * np.sqrt(variance / DRAWS) + 1e-12).all()
        assert (np.abs(squares.mean(0) - variance) <= 5 * squares.std(0) / np.sqrt(DRAWS) + 1e-12).all()


def draw_mean(component: RandomChains, run: int = 0, sigma: float = SIGMA) -> MeanModel:
    """Draw the mean model of a run, with four states more than there are zeros in a row."""
    return component.draw_mean(0, run, component.zeros + 4, 2, sigma)


def draw_tasks(component: RandomChains, mean: MeanModel, tasks: int) -> np.ndarray:
    """Draw the models of several tasks from a new generator with a fixed seed."""
    rng = np.random.default_rng(1)
    return component.draw_tasks(rng, mean, tasks)


class TaskStreamContract(ComponentContract):
    """Tests of a stream that goes with twelve tasks, which the fixture `component` of a subclass returns."""

    def experiments(self, component: TaskStream) -> Sequence[tuple[Problem, Method]]:
        of_problem = replace(problem(), stream=component, T=TASKS)
        forgetting = replace(METHOD, estimator=replace(METHOD.estimator, forgetting="learned"))
        return [(of_problem, METHOD), (of_problem, forgetting)]

    def test_it_goes_from_the_mean_model_of_the_run_to_others_with_the_same_sigma_and_rewards(
        self, component: TaskStream
    ) -> None:
        first = DISTRIBUTION.draw_mean(0, 0, 6, 2, 0.01)
        means = component.means(np.random.default_rng(0), first, DISTRIBUTION)
        assert next(means) is first
        for mean in islice(means, TASKS - 1):
            assert_models(mean.P_o)
            assert mean.deviation == first.deviation
            assert mean.has_room
            assert mean.largest_deviation == np.sqrt((mean.P_o * (1.0 - mean.P_o)).max())
            assert_array_equal(mean.R, first.R)
            assert_array_equal(mean.varying, first.varying)
