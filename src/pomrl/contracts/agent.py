"""The contract of agents."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from pomrl.contracts.component import METHOD, ComponentContract, problem
from pomrl.science.agents.agent import Agent, TaskData
from pomrl.science.data import Batch, Trajectories
from pomrl.science.experiment import tables
from pomrl.science.exploration import Belief
from pomrl.science.gamma_schedules import Fixed
from pomrl.science.mdp import Criterion, Rewards
from pomrl.science.meta_batches import Separate
from pomrl.science.problem import Method, check

GAMMAS = np.array([0.0, 0.5, 0.9])

CERTAIN = Method(
    estimator=METHOD.estimator,
    gamma_schedule=METHOD.gamma_schedule,
    planner=METHOD.planner,
)
"""A method of which tests replace the agent."""

UNEQUAL = {"data": Trajectories(length=3), "meta_batch": Separate(batches=2), "trials": 2}
ONLINE = {"data": Trajectories(length=3, behaviour="epsilon_greedy")}
SAMPLED = {"reward_model": "own", "reward_noise": 0.1}


class AgentContract(ComponentContract):
    """Tests of an agent, which the fixture `component` of a subclass returns."""

    @pytest.mark.parametrize("changes", [{}, UNEQUAL, ONLINE, SAMPLED], ids=["equal", "unequal", "online", "sampled"])
    def test_an_experiment_runs(self, component: Agent[Any], changes: dict[str, Any]) -> None:
        """Losses are finite, and the same for runs alone and together."""
        of_problem, method = replace(problem(), **changes), replace(CERTAIN, agent=component)
        check(of_problem, method, range(2))
        (together,) = tables(of_problem, [method], range(2))
        alone = pd.concat([tables(of_problem, [method], [run])[0] for run in range(2)], ignore_index=True)
        pd.testing.assert_frame_equal(together, alone, check_exact=True)
        assert together["planning_loss"].between(0, np.inf, inclusive="left").all()
        assert together["gamma"].between(0, of_problem.gamma_eval).all()
        if not component.chooses_gamma:
            assert sorted(together["gamma"].unique()) == GAMMAS.tolist()

    def test_one_discount_factor_gives_one_policy(self, component: Agent[Any]) -> None:
        method = replace(CERTAIN, agent=component, gamma_schedule=Fixed(gamma=0.5))
        (table,) = tables(problem(), [method], range(2))
        assert len(table) == 2 * problem().T

    @pytest.mark.parametrize("of_transitions", [False, True])
    def test_it_draws_from_its_generators_and_from_nothing_else(
        self, component: Agent[Any], *, of_transitions: bool
    ) -> None:
        first = acted(component, task(of_transitions=of_transitions))
        np.random.seed(1)  # noqa: NPY002, the global state, on which nothing may depend
        assert_array_equal(acted(component, task(of_transitions=of_transitions)), first)

    def test_runs_do_not_influence_one_another(self, component: Agent[Any]) -> None:
        together = acted(component, task())
        for run in range(len(together)):
            assert_array_equal(acted(component, task(slice(run, run + 1)))[0], together[run])

    def test_what_it_is_given_stays_as_it_is(self, component: Agent[Any]) -> None:
        """Arrays can be written to here, which those of experiments cannot."""
        given = task()
        kept = {name: getattr(given, name).copy() for name in ("R", "P_hat", "gammas")}
        acted(component, given)
        for name, before in kept.items():
            assert_array_equal(getattr(given, name), before)


def acted(agent: Agent[Any], given: TaskData) -> np.ndarray:
    """Return the policies for the second task in runs whose first task was the same."""
    S, A = given.P_hat.shape[1:3]
    memory = agent.learn(agent.initial_memory(len(given.P_hat), S, A), given.batch, given.R)
    policy = agent.act(given, memory).policy
    assert policy.dtype.kind in "iu"
    assert 0 <= policy.min() <= policy.max() < A
    return policy


def task(runs: slice = slice(None), *, of_transitions: bool = False) -> TaskData:
    """Return the data of a task in three runs, with 0 to 9 transitions of each pair, or of some of the runs."""
    rng = np.random.default_rng(3)
    n, S, A = 3, 4, 2
    counts = rng.multinomial(rng.integers(0, 10, (n, S, A)), rng.dirichlet(np.ones(S), (n, S, A)))[runs]
    R: Rewards = rng.random((n, S, A, S) if of_transitions else (n, S, A))[runs]
    batch = Batch.of_counts(counts, 5)
    return TaskData(
        t=2,
        criterion=Criterion(0.9),
        batch=batch,
        R=R,
        P_hat=believed(batch).P_hat,
        gammas=np.tile(GAMMAS, (len(R), 1)),
        planner=METHOD.planner,
        believe=believed,
        rngs=[np.random.default_rng(seed) for seed in range(n)][runs],
    )


def believed(batch: Batch) -> Belief:
    """Return what is believed after data if before them one transition to each state was."""
    S = batch.counts.shape[-1]
    visits = np.broadcast_to(batch.visits, batch.counts.shape[:-1])
    return Belief((batch.counts + 1.0) / (visits + S)[..., None], visits + S)
