"""Streams of tasks: what changes, when it does, and what is refused."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pomrl.contracts import check_component
from pomrl.science import drawn_tasks
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.tasks.distribution import MeanModel
from pomrl.science.tasks.random_chains import Dirichlet, UniformBall
from pomrl.science.tasks.streams import Cycle, Drift, Stationary, Switch, TaskStream
from pomrl.small_experiments import SMALL_METHOD, small_problem

STREAMS = [Stationary(), Drift(speed=1.0), Switch(at=(3, 4)), Cycle(models=3), Cycle(models=2, order="random")]
TOLD = replace(SMALL_METHOD, estimator=RegularisedLeastSquares(prior="known", mixing=1.0))


def means(stream: TaskStream, T: int = 8, sigma: float = 0.01) -> list[MeanModel]:
    distribution = Dirichlet(zeros=2)
    mean = distribution.draw_mean(0, 0, 6, 2, sigma)
    return list(islice(stream.means(np.random.default_rng(1), mean, distribution), T))


def changes(stream: TaskStream, T: int = 8) -> list[int]:
    """The tasks whose mean model is not that of the task before."""
    actual = means(stream, T)
    return [t for t in range(2, T + 1) if actual[t - 1] is not actual[t - 2]]


def test_mean_models_change_when_the_stream_says():
    assert changes(Stationary()) == []
    assert changes(Drift(speed=0.5)) == list(range(2, 9))
    assert changes(Switch(at=(3, 7))) == [3, 7]
    assert changes(Cycle(models=1)) == []


@pytest.mark.parametrize("stream", STREAMS, ids=str)
def test_streams_keep_their_contract(stream: TaskStream):
    check_component(stream)


def test_models_take_turns_or_come_at_random():
    turns = means(Cycle(models=3), 9)
    identities = [[id(mean) for mean in turns].index(id(mean)) for mean in turns]
    assert identities == [0, 1, 2] * 3
    random = {id(mean) for mean in means(Cycle(models=3, order="random"), 60)}
    assert len(random) == 3


def test_steps_of_the_drift_have_its_speed():
    actual = means(Drift(speed=0.1), 300)
    P = np.stack([mean.P_o for mean in actual])
    inside = (P[:-1] > 0.05) & (P[:-1] < 0.95)  # where nothing is reflected
    steps = np.diff(P, axis=0)[inside]
    centred = np.sqrt(3 / 4)  # the deviates of the four supported states of a row are centred
    assert steps.std() == pytest.approx(0.1 * actual[0].deviation * centred, rel=0.1)


@pytest.mark.parametrize("distribution", [Dirichlet(zeros=2), UniformBall(zeros=2, measure="std")])
def test_the_fastest_drift_leaves_room(distribution):
    mean = distribution.draw_mean(0, 0, 6, 2, 0.01)
    for moved in islice(Drift(speed=10.0).means(np.random.default_rng(0), mean, distribution), 300):
        assert moved.has_room
        assert moved.P_o.min() >= 0
        np.testing.assert_allclose(moved.P_o.sum(-1), 1.0, rtol=0, atol=1e-12)
        assert np.array_equal(moved.P_o > 0, mean.P_o > 0)


@pytest.mark.parametrize("stream", STREAMS)
def test_told_learners_get_the_present_mean(stream):
    problem = replace(
        small_problem(sigma=0.0), stream=replace(stream, speed=0.0) if isinstance(stream, Drift) else stream, T=9
    )
    (table,) = tables(problem, [TOLD], range(2))
    assert (table["model_error"] == 0).all()


@pytest.mark.parametrize("stream", STREAMS)
def test_tables_do_not_depend_on_stacks(stream, monkeypatch):
    problem = replace(small_problem(), stream=stream, T=9, reward_model="shrunk", reward_noise=0.2)
    (joint,) = tables(problem, [SMALL_METHOD], range(2))
    monkeypatch.setattr(drawn_tasks, "STACK_BYTES", 1)
    (one_by_one,) = tables(problem, [SMALL_METHOD], range(2))
    assert joint.equals(one_by_one)
