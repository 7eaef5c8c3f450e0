"""Draws shared by all methods of a problem: tasks, rewards and batches."""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from pomrl.base import make_read_only
from pomrl.science import validation
from pomrl.science.data import Batch, Batches, Trajectories, join
from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Models
from pomrl.science.estimators.reward_models import RewardMemory, sample_means
from pomrl.science.exploration import Exploration, explorations
from pomrl.science.mdp import Rewards
from pomrl.science.problem import Problem
from pomrl.science.randomness import Generators, GeneratorsOfRuns, Stream
from pomrl.science.tasks.distribution import MeanModel

STACK_BYTES = 4 * 2**20
"""Largest size of a stack of models planned together, unless one task exceeds it."""


class DrawnTask(NamedTuple):
    """The data of a task in all runs."""

    R_hat: Rewards
    """Rewards to plan with, for each of n K trials."""
    batches: Batches | Exploration
    truth: Truth


class DrawnStack(NamedTuple):
    """Consecutive tasks in all runs; models and rewards are ordered by task and run."""

    tasks: list[DrawnTask]
    P: Models
    R: Rewards
    R_hat: Rewards
    """Rewards to plan with, ordered by task, run and trial."""


class _Setting(NamedTuple):
    means: Sequence[MeanModel]
    truth: Truth


def _settings(problem: Problem, runs: Sequence[int]) -> Iterator[_Setting]:
    """Yield the setting of each task, the same object while unchanged."""
    setting = None
    for means in islice(zip(*validation.mean_models(problem, runs), strict=True), problem.T):
        if setting is None or any(new is not old for new, old in zip(means, setting.means, strict=True)):
            setting = _Setting(means, _truth(problem, means))
        yield setting


def _truth(problem: Problem, means: Sequence[MeanModel]) -> Truth:
    moments = validation.check_moments(problem.task_distribution, means)
    unsmoothed = [mean.unsmoothed for mean in means if mean.unsmoothed is not None]
    moments_of_runs = [*moments, *([np.stack(unsmoothed)] if unsmoothed else [])]
    repeated = [np.repeat(array, problem.memories, axis=0) for array in moments_of_runs]
    for mean in means:
        make_read_only(mean.P_o, mean.R, mean.varying)
    make_read_only(*repeated)
    P_o, variance, *without_smoothing = repeated
    return Truth(P_o, variance, *without_smoothing, candidates=problem.task_distribution.candidates())


def tasks_at_a_time(problem: Problem, runs: int) -> int:
    """Return the number of tasks to process together, for stacks of `STACK_BYTES`."""
    return int(np.clip(STACK_BYTES // (runs * problem.bytes_of_model * problem.copies), 1, problem.T))


def draw(problem: Problem, runs: Sequence[int], at_a_time: int) -> Iterator[DrawnStack]:
    """Draw the tasks of all runs in order, in stacks of at most `at_a_time`."""
    task_streams, batch_streams, meta_streams, reward_streams = (
        GeneratorsOfRuns(problem.seed, runs, stream)
        for stream in (Stream.TASKS, Stream.BATCHES, Stream.META_BATCHES, Stream.REWARDS)
    )
    settings, memory, distribution = _settings(problem, runs), RewardMemory(), problem.task_distribution
    while stack := list(islice(settings, at_a_time)):
        groups = [list(group) for _, group in groupby(stack, key=id)]
        draws = [validation.draw_tasks(distribution, task_streams, group[0].means, len(group)) for group in groups]
        P, R = join([tasks.P for tasks in draws]), join([tasks.R for tasks in draws])
        if isinstance(problem.data, Trajectories) and problem.data.is_adaptive:
            batches = explorations(problem.data, batch_streams, P, R, problem.m, problem.gamma_eval)
            R_hat = R
        else:
            own = validation.draw_batch(problem.data, batch_streams, P, problem.m, problem.trials)
            meta = validation.draw_meta_batches(problem.meta_batch, own, problem.data, meta_streams, P)
            R_hat, memory = _rewards(problem, reward_streams, memory, R, own)
            batches_of_memories = own if problem.meta_batch.is_shared else own.reshape(*meta.P_bar.shape[:2], 1)
            batches = map(Batches, batches_of_memories, meta)
        make_read_only(P, R)
        truths = (setting.truth for setting in stack)
        tasks = [DrawnTask(*fields) for fields in zip(R_hat, batches, truths, strict=True)]
        yield DrawnStack(tasks, *(array.reshape(-1, *array.shape[2:]) for array in (P, R, R_hat)))


def _rewards(
    problem: Problem, rngs: Generators, memory: RewardMemory, R: Rewards, own: Batch
) -> tuple[Rewards, RewardMemory]:
    """Return rewards to plan with, [T, n K, ...], and the next memory."""
    trials = problem.trials
    if problem.reward_model == "known":
        return np.repeat(R, trials, axis=1), memory
    estimates = []
    for task_rewards, batch in zip(R, own, strict=True):
        mean = sample_means(rngs, problem.reward_noise, batch, task_rewards)
        N = np.broadcast_to(batch.visits, mean.shape)
        estimated, memory = problem.reward_learning.estimate(memory, mean, N)
        estimates.append(estimated.reshape(-1, *mean.shape[2:]))
    return np.stack(estimates), memory
