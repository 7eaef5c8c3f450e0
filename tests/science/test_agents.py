"""Agents: what they decide, against direct computations, and what is refused of those of others."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.support.sample_tasks import some_task

from pomrl.components import check_component
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.running.plan import Chunk
from pomrl.running.work import Failure, Versions, simulate
from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Belief
from pomrl.science.mdp import Criterion, Rewards, planning_loss, policy_value
from pomrl.science.problem import Method
from pomrl.small_experiments import SMALL_METHOD, small_problem
from pomrl_studies.beyond.agents.cross_validated_gamma import CrossValidatedGamma
from pomrl_studies.beyond.agents.posterior_gamma import PosteriorGamma

pytestmark = pytest.mark.slow

OPTIONS = [path.stem for path in PUBLISHED.options("agent")]


class LastAction(Agent[Any]):
    """The last action that is best on the frequencies of all tasks, or a random one; it asks for all that it may."""

    def initial_memory(self, n: int, S: int, A: int) -> Any:
        return np.ones((n, S, A, S))

    def act(self, task: TaskData, memory: Any) -> Decision:
        counts = memory + task.batch.counts
        task.believe(Batch.of_counts(task.batch.counts // 2, task.batch.m))
        policy = task.plan(counts / counts.sum(-1, keepdims=True), task.gammas)
        uniform = np.stack([rng.random(policy.shape[1:]) for rng in task.rngs])
        return Decision(np.where(uniform < 0.1, 0, policy), task.gammas)

    def learn(self, memory: Any, batch: Batch, R: Rewards) -> Any:
        return memory + batch.counts


def option(name: str) -> Agent[Any]:
    return sweeps.experiment(PUBLISHED, [f"agent={name}"]).method.agent


def test_an_agent_with_memory_keeps_its_contracts() -> None:
    check_component(LastAction())


def fast(agent: Agent[Any]) -> Agent[Any]:
    fewer = {"steps": 20, "samples": 2, "folds": 2}
    return replace(agent, **{key: value for key, value in fewer.items() if hasattr(agent, key)})


def method(agent: Agent[Any], **changes: Any) -> Method:
    return replace(SMALL_METHOD, agent=agent, **changes)


def test_the_posterior_minimises_the_expected_loss() -> None:
    """Against the integral over the belief of one row, by enumeration of a grid, where all else is known."""
    P = np.zeros((1, 2, 2, 2))
    P[0, 0, 0], P[0, 0, 1], P[0, 1, :] = [1.0, 0.0], [0.5, 0.5], [0.0, 1.0]
    R = np.array([[[0.62, 0.5], [1.0, 1.0]]])
    concentration = np.full((1, 2, 2), 1e12)
    concentration[0, 0, 1] = 2.0  # a uniform distribution of the chance to get to the state with reward 1
    gammas = np.array([[0.0, 0.2, 0.4, 0.6]])
    task = replace(
        some_task(slice(1)), batch=Batch.of_counts(np.ones(P.shape, int), 1), R=R, P_hat=P, gammas=gammas,
        criterion=Criterion(0.6), believe=lambda batch: Belief(P, concentration), rngs=[np.random.default_rng(0)],
    )  # fmt: skip
    policy = task.plan(P, gammas)
    models = np.repeat(P, 401, axis=0)
    models[:, 0, 1, 1] = (np.arange(401) + 0.5) / 401
    models[:, 0, 1, 0] = 1 - models[:, 0, 1, 1]
    expected = planning_loss(models, np.repeat(R, 401, axis=0), np.repeat(policy, 401, axis=0), 0.6).mean(0)
    best = gammas[0, np.flatnonzero(expected <= expected.min() + 1e-12)[-1]]
    assert len(np.unique(policy, axis=1)[0]) == 2
    assert PosteriorGamma(samples=300).act(task, None).gamma.item() == best


def test_cross_validation_minimises_the_fold_loss() -> None:
    task = some_task(slice(1))
    rests: list[Batch] = []

    def believe(batch: Batch) -> Belief:
        rests.append(batch)
        return task.believe(batch)

    decided = CrossValidatedGamma(folds=2).act(replace(task, believe=believe), None)
    held_out = [task.batch.counts - training.counts for training in rests]
    assert_array_equal(sum(held_out), task.batch.counts)
    assert abs(held_out[0].sum() - held_out[1].sum()) <= 1
    losses = np.zeros(3)
    for training in rests:
        counts = task.batch.counts - training.counts
        visits = counts.sum(-1, keepdims=True)
        frequencies = np.where(visits > 0, counts / np.maximum(visits, 1), 0.25)
        policy = task.plan(task.believe(training).P_hat, task.gammas)[0]
        best = max(policy_value(frequencies[0], task.R[0], np.array(actions), 0.9).sum() for actions in every_policy())
        star = next(
            V for actions in every_policy()
            if (V := policy_value(frequencies[0], task.R[0], np.array(actions), 0.9)).sum() >= best - 1e-9
        )  # fmt: skip
        losses += [np.abs(star - policy_value(frequencies[0], task.R[0], plan, 0.9)).max() for plan in policy]
    assert decided.gamma.item() == task.gammas[0, np.flatnonzero(losses <= losses.min() + 1e-9)[-1]]


def every_policy() -> list[tuple[int, ...]]:
    return list(product(range(2), repeat=4))


class Misbehaving(Agent[None]):
    """An agent of somebody else's that writes to what it is given."""

    def act(self, task: TaskData, memory: None) -> Decision:
        task.batch.counts[:] = 0
        return Decision(task.plan(task.P_hat, task.gammas), task.gammas)


def test_misbehaving_agents_end_alone() -> None:
    """The method beside it has its table."""
    methods = {"misbehaving": method(Misbehaving()), "other": SMALL_METHOD}
    _, _, outcomes = simulate(Chunk(small_problem(), methods, range(2), range(2)), Versions.current([]))
    failure = outcomes["misbehaving"]
    assert isinstance(outcomes["other"], bytes)
    assert isinstance(failure, Failure)
    assert "read-only" in failure.reason


class Overwriting(Agent[None]):
    """An agent that writes into what it is given."""

    field_name: str

    def act(self, task: TaskData, memory: None) -> Decision:
        getattr(task, self.field_name)[...] = 0.0
        return Decision(task.plan(task.P_hat, task.gammas), task.gammas)


@pytest.mark.parametrize("field_name", ["P_hat", "R", "gammas"])
def test_agents_cannot_write_to_their_inputs(field_name: str) -> None:
    chunk = Chunk(small_problem(), {"overwriting": method(Overwriting(field_name=field_name))}, range(2), range(2))
    failure = simulate(chunk, Versions.current([]))[-1]["overwriting"]
    assert isinstance(failure, Failure)
    assert "read-only" in failure.reason
