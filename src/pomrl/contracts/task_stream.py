"""The contract of streams of tasks."""

from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, ComponentContract, assert_experiment_runs, assert_models, problem
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.science.tasks.streams import TaskStream

T = 12
DISTRIBUTION = Dirichlet(zeros=2)


class TaskStreamContract(ComponentContract):
    """Tests of a stream that goes with twelve tasks, which the fixture `component` of a subclass returns."""

    def test_an_experiment_runs(self, component: TaskStream) -> None:
        of_problem = replace(problem(), stream=component, T=T)
        assert_experiment_runs(of_problem, METHOD)
        assert_experiment_runs(of_problem, replace(METHOD, estimator=replace(METHOD.estimator, forgetting="learned")))

    def test_it_begins_with_the_mean_model_of_the_run(self, component: TaskStream) -> None:
        mean = DISTRIBUTION.draw_mean(0, 0, 6, 2, 0.01)
        assert next(component.means(np.random.default_rng(0), mean, DISTRIBUTION)) is mean

    def test_mean_models_are_models_with_room_for_the_same_sigma(self, component: TaskStream) -> None:
        first, *others = drawn(component)
        for mean in others:
            assert_models(mean.P_o)
            assert mean.sigma == first.sigma
            assert mean.has_room
            assert mean.largest_sigma == np.sqrt((mean.P_o * (1.0 - mean.P_o)).max())

    def test_rewards_and_varying_pairs_stay(self, component: TaskStream) -> None:
        first, *others = drawn(component)
        for mean in others:
            assert_array_equal(mean.R, first.R)
            assert_array_equal(mean.varying, first.varying)

    def test_mean_models_come_from_the_generator_and_from_nothing_else(self, component: TaskStream) -> None:
        once = drawn(component)
        np.random.default_rng().random()
        for a, b in zip(once, drawn(component), strict=True):
            assert_array_equal(a.P_o, b.P_o)


def drawn(stream: TaskStream) -> list[MeanModel]:
    """Draw the mean models of twelve tasks of one run from a new generator with a fixed seed."""
    mean = DISTRIBUTION.draw_mean(0, 0, 6, 2, 0.01)
    return list(islice(stream.means(np.random.default_rng(1), mean, DISTRIBUTION), T))
