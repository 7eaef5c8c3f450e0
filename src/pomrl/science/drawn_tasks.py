"""Draws shared by all methods of a problem: tasks, rewards and batches."""

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, repeat
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from pomrl.base import make_read_only
from pomrl.science.component_output import MAX_FLOAT, ComponentError, ComponentOutput
from pomrl.science.data import Batch, Batches, Data, TaskModels, Trajectories, join
from pomrl.science.estimators.estimator import Truth
from pomrl.science.estimators.memory import Models
from pomrl.science.estimators.reward_models import RewardMemory, sample_means
from pomrl.science.exploration import Exploration, explorations
from pomrl.science.mdp import Rewards
from pomrl.science.meta_batches import MetaBatch
from pomrl.science.problem import Problem
from pomrl.science.randomness import Generators, GeneratorsOfRuns, Stream, generator
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution, Tasks
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import Stationary

STACK_BYTES = 8 * 2**20
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
    for means in islice(zip(*mean_models(problem, runs), strict=True), problem.T):
        if setting is None or any(new is not old for new, old in zip(means, setting.means, strict=True)):
            setting = _Setting(means, _truth(problem, means))
        yield setting


def _truth(problem: Problem, means: Sequence[MeanModel]) -> Truth:
    moments = _moments(problem.task_distribution, means)
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
        draws = [draw_tasks(distribution, task_streams, group[0].means, len(group)) for group in groups]
        P, R = join([tasks.P for tasks in draws]), join([tasks.R for tasks in draws])
        if isinstance(problem.data, Trajectories) and problem.data.is_adaptive:
            batches = explorations(problem.data, batch_streams, P, R, problem.m, problem.gamma_eval)
            R_hat = R
        else:
            own = draw_batch(problem.data, batch_streams, P, problem.m, problem.trials)
            meta = draw_meta_batches(problem.meta_batch, own, problem.data, meta_streams, P)
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


def mean_models(problem: Problem, runs: Sequence[int]) -> list[Iterator[MeanModel]]:
    """Return an endless iterator of mean models, one per task, for each run.

    ValueError: sigma is impossible.
    """
    distribution, S, A = problem.task_distribution, problem.S, problem.A
    firsts = distribution.draw_means(problem.seed, runs, S, A, problem.sigma)
    for run, first in zip(runs, firsts, strict=True):
        _check_mean(first, S, A, ComponentOutput(distribution, "draw_mean", f" in run {run}"))
    if isinstance(problem.stream, Stationary) or not isinstance(distribution, RandomChains):
        return [repeat(first) for first in firsts]
    streams = list[Iterator[MeanModel]]()
    for run, first in zip(runs, firsts, strict=True):
        rng = generator(*distribution.mean_key(problem.seed, run), Stream.CHANGES)
        output = ComponentOutput(problem.stream, "means", f" in run {run}")
        streams.append(_changing_means(problem.stream.means(rng, first, distribution), first, output))
    return streams


def _changing_means(means: Iterator[MeanModel], first: MeanModel, output: ComponentOutput) -> Iterator[MeanModel]:
    last, (S, A) = first, first.varying.shape
    for mean in means:
        if mean is not last:
            _check_mean(mean, S, A, output)
            output.check_models(mean.P_o, mean.P_o.shape, "P_o")
            last = mean
        yield mean
    raise ComponentError(f"{output.name} must yield mean models without end")


def _moments(
    distribution: TaskDistribution, means: Sequence[MeanModel]
) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A S"]]:
    """Return the checked mean models and variances of n runs."""
    P_o = np.stack([mean.P_o for mean in means])
    mean_output, output = ComponentOutput(distribution, "draw_mean"), ComponentOutput(distribution, "variance")
    mean_output.check_models(P_o, P_o.shape, "P_o")
    mean_output.check_finite(np.stack([mean.R for mean in means]), "R")
    variances = [distribution.variance(mean) for mean in means]
    for variance in variances:
        output.check_array(variance, P_o.shape[1:])
    variance = np.stack(variances)
    output.check_range(variance, 0.0, MAX_FLOAT)
    return P_o, variance


def draw_tasks(distribution: TaskDistribution, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
    """Draw and check the next tasks of n runs."""
    draws, output = distribution.draw(rngs, means, tasks), ComponentOutput(distribution, "draw")
    output.check_type(Tasks, draws)
    shape = (tasks, len(means), *means[0].P_o.shape)
    output.check_models(draws.P, shape, "P")
    output.check_array(draws.R, shape[:-1], shape, field="R")
    output.check_finite(draws.R, "R")
    if draws.latent is not None:
        output.check_array(draws.latent, shape[:2], field="latent")
    return draws


def draw_batch(data: Data, rngs: Generators, P: TaskModels, m: int, batches: int) -> Batch:
    """Draw and check the batches of T tasks."""
    counts, output = data.draw(rngs, P, m, batches), ComponentOutput(data, "draw")
    output.check_counts(counts, (*P.shape[:2], batches, *P.shape[2:]))
    batch = Batch.of_counts(counts, m, equal=data.is_equal)
    if data.is_equal:  # numbers of transitions were taken from the first pair alone
        output.check_range(batch.visits, 1.0, MAX_FLOAT, label="visits (is_equal: of the first pair)")
        output.check_row_sums(batch.P_bar, "P_bar (is_equal: divided by the visits of the first pair)")
    return batch


def draw_meta_batches(meta_batch: MetaBatch, own: Batch, data: Data, rngs: Generators, P: TaskModels) -> Batch:
    """Draw and check the batches for the meta-learner."""
    batch, output = meta_batch.of_tasks(own, data, rngs, P), ComponentOutput(meta_batch, "of_tasks")
    output.check_type(Batch, batch)
    T, n, K, *model = own.counts.shape
    shape = (T, n if meta_batch.is_shared else n * K, *model)
    per_pair = shape[:-1], (*shape[:2], 1, 1)
    output.check_counts(batch.counts, shape, "counts")
    output.check_models(batch.P_bar, shape, "P_bar")
    output.check_array(batch.visits, *per_pair, field="visits")
    output.check_range(batch.visits, 0.0, MAX_FLOAT, "visits")
    output.check_array(batch.counted, *per_pair, field="counted", dtype=np.bool_)
    return batch


def _check_mean(mean: Any, S: int, A: int, output: ComponentOutput) -> None:
    output.check_type(MeanModel, mean)
    output.check_array(mean.P_o, (S, A, S), field="P_o")
    output.check_array(mean.R, (S, A), (S, A, S), field="R")
    output.check_array(mean.varying, (S, A), field="varying", dtype=np.bool_)
    output.check_type(float, mean.deviation, "deviation")
    if not 0.0 <= mean.deviation <= MAX_FLOAT:
        output.check_range(np.array(mean.deviation), 0.0, MAX_FLOAT, "deviation")
