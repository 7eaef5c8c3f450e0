"""Rewards of tasks: the posterior is that of a normal model, and what tasks differ by is found."""

import numpy as np
import pandas as pd
import pytest

import pomrl_logs
from pomrl_logs.log_tables import COLUMNS
from pomrl_logs.safe_improvement import KEEP
from pomrl_logs.task_rewards import LearnedRewards, learn_rewards


def sums(tasks: int, noise: float, by_task: float, seed: int = 0, visits: int = 3) -> tuple[np.ndarray, ...]:
    """Counts, sums of rewards and of their squares in 3 states and 2 actions, and the true R(s, a, s') of each task."""
    rng = np.random.default_rng(seed)
    R = rng.normal(0.0, 2.0, (3, 2, 3)) + by_task * rng.standard_normal((tasks, 3, 2, 1))
    counts = rng.poisson(visits, R.shape)
    total, squares = np.zeros(R.shape), np.zeros(R.shape)
    for cell in zip(*np.nonzero(counts), strict=True):
        rewards = R[cell] + noise * rng.standard_normal(counts[cell])
        total[cell], squares[cell] = rewards.sum(), (rewards**2).sum()
    return counts, total, squares, R


def conditioned(rewards: LearnedRewards, counts: np.ndarray, total: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
    """The posterior mean of R(s, a, s') of each task in a pair, from the covariance of all means of cells."""
    (s, a), v = pair, rewards.variances
    K, S = len(counts), counts.shape[-1]
    task, following = np.indices((K, S)).reshape(2, -1)
    same = task[:, None] == task, following[:, None] == following
    prior = v.pair_variance + v.successor_variance * same[1] + v.task_variance * same[0]
    n, totals = counts[:, s, a].ravel(), total[:, s, a].ravel()
    visited = np.flatnonzero(n)
    noisy = prior[np.ix_(visited, visited)] + np.diag(v.noise_variance / n[visited])
    gap = totals[visited] / n[visited] - rewards.average
    return rewards.average + (prior[:, visited] @ np.linalg.solve(noisy, gap)).reshape(K, S)


@pytest.mark.parametrize(("noise", "by_task"), [(1.0, 1.0), (0.5, 0.0)])
def test_the_posterior_is_that_of_normal_numbers(noise: float, by_task: float):
    counts, total, squares, _ = sums(4, noise, by_task, visits=1)
    rewards = learn_rewards(counts, total, squares)
    for pair in np.ndindex(3, 2):
        expected = conditioned(rewards, counts, total, pair)
        for task, following in np.ndindex(4, 3):
            P = np.zeros((3, 2, 3))
            P[..., following] = 1.0
            np.testing.assert_allclose(rewards.mean(task, P)[pair], expected[task, following], rtol=0, atol=1e-7)


@pytest.mark.parametrize(("noise", "by_task"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.1)])
def test_differences_of_tasks_exceed_noise(noise: float, by_task: float):
    counts, total, squares, _ = sums(10, noise, by_task, seed=3)
    actual = learn_rewards(counts, total, squares)
    assert np.sqrt(actual.variances.noise_variance) == pytest.approx(noise, abs=0.1)
    assert np.sqrt(actual.variances.task_variance) == pytest.approx(by_task, abs=0.3)


def two_kinds_of_tasks() -> pd.DataFrame:
    """Six tasks: half pay for one action, and half for the other."""
    rng = np.random.default_rng(0)
    rows = []
    for task in range(6):
        for _ in range(60):
            state, action = rng.integers(3), rng.integers(2)
            rows.append((task, state, action, float(action == task % 2), rng.integers(3)))
    return pd.DataFrame(rows, columns=COLUMNS)


def test_tasks_are_planned_by_own_rewards():
    report = pomrl_logs.horizon_report(pomrl_logs.from_log(two_kinds_of_tasks(), accept=["independent"]), 0.9)
    policies = report.recommendation.policies
    assert (policies == np.where(policies == KEEP, KEEP, np.arange(6)[:, None] % 2)).all()
    assert report.improvement.lower > 3.0  # random actions earn 5, the right ones 10


def test_known_rewards_replace_those_of_logs():
    log = pomrl_logs.from_log(two_kinds_of_tasks(), accept=["independent"])
    R = np.zeros((3, 2))
    R[:, 1] = 1.0
    replaced = log.with_rewards(R)
    assert (pomrl_logs.horizon_report(replaced, 0.9).recommendation.policies == 1).all()
    by_task = log.with_rewards(np.stack([np.repeat(R[..., None], 3, -1), *[np.zeros((3, 2, 3))] * 5]))
    assert by_task.rewards.mean(0, np.full((3, 2, 3), 1 / 3)).tolist() == R.tolist()
    assert not by_task.rewards.mean(1, np.full((3, 2, 3), 1 / 3)).any()
