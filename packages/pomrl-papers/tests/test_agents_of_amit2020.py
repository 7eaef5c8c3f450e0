"""Agents of the study `amit2020`, against direct computations."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.support.sample_tasks import some_task

from pomrl.science.agents.agent import TaskData
from pomrl.science.data import Batch
from pomrl_papers.amit2020.least_squares import LeastSquares
from pomrl_papers.amit2020.temporal_difference import TemporalDifference

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("target", "has_transition_rewards", "initial", "l2"),
    [
        ("sarsa", False, None, 0.0),
        ("sarsa", True, 0.0, 0.02),
        ("q_learning", True, None, 0.0),
        ("q_learning", False, 3.0, 0.5),
    ],
)
def test_temporal_differences_equal_a_loop(
    target: Any, has_transition_rewards: bool, initial: float | None, l2: float
) -> None:
    agent = TemporalDifference(target=target, steps=60, rate=5.0, delay=10.0, initial=initial, l2=l2)
    transitions = agent._draw(some_task())
    task = some_task(has_transition_rewards=has_transition_rewards)
    policy = agent.act(task, None).policy
    for run, g in product(range(3), range(3)):
        gamma, R = task.gammas[run, g], task.R[run]
        Q = np.full((4, 2), R.mean() / (1 - gamma) if initial is None else initial)
        for i, (s, a, after, b) in enumerate(transitions[..., run]):
            r = R[s, a, after] if has_transition_rewards else R[s, a]
            following = Q[after, b] if target == "sarsa" else max(Q[after])
            Q[s, a] += 5 / (10 + i) * (r + gamma * following - Q[s, a])
            Q -= 5 / (10 + i) * l2 * 2 * Q  # the gradient of l2 times the sum of squares
        assert_array_equal(policy[run, g], Q.argmax(-1))


@pytest.mark.parametrize("ends", [0.0, 0.3])
def test_trajectories_end_in_any_action(ends: float) -> None:
    """Action 1 follows half of the transitions that end a trajectory, although the data have action 0 alone."""
    counts = np.zeros((1, 4, 2, 4), int)
    counts[:, :, 0] = 3
    task = replace(some_task(slice(1)), batch=Batch.of_counts(counts, 3))
    b = TemporalDifference(target="sarsa", steps=20_000, ends=ends)._draw(task)[:, 3, 0]
    assert abs(b.mean() - ends / 2) <= 5 * np.sqrt(ends / 2 / 20_000)


def slow_lstd(task: TaskData, run: int, gamma: float, l2: float, improvements: int) -> np.ndarray:
    """Return the policy of LSTD-Q with a feature for each pair, from the sums over transitions of its definition."""
    S, A = 4, 2
    pi = np.full((S, A), 1 / A)
    for _ in range(improvements):
        matrix, vector = l2 * np.eye(S * A), np.zeros(S * A)
        for (s, a, after), count in np.ndenumerate(task.batch.counts[run]):
            for _ in range(count):
                phi, following = np.eye(S * A)[s * A + a], np.zeros((S, A))
                following[after] = pi[after]
                matrix += np.outer(phi, phi - gamma * following.ravel())
                vector += phi * task.R[run, s, a]
        Q = np.linalg.solve(matrix, vector).reshape(S, A).round(9)  # a state that was not visited has a tie
        pi = np.eye(A)[Q.argmax(-1)]
    return pi.argmax(-1)


@pytest.mark.parametrize(("l2", "improvements"), [(0.1, 1), (1.0, 3)])
def test_least_squares_follow_their_definition(l2: float, improvements: int) -> None:
    task = some_task()
    policy = LeastSquares(l2=l2, improvements=improvements).act(task, None).policy
    for run, g in product(range(3), range(3)):
        slow = slow_lstd(task, run, task.gammas[run, g], l2, improvements)
        assert_array_equal(policy[run, g], slow)
