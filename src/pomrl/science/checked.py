"""What components return is checked in every task, because components may be anybody's.

Each function below calls a method of a component and refuses a result of the wrong shape or kind, of values out of
range, or that is not finite: an array that broadcasts would otherwise pass unnoticed, NaN would end in a table, and
numbers of another type than float64 would be computed with in another precision. The arrays that components receive are
read-only (`checks.read_only`), so that no component can change what another one sees. What an estimator keeps from task
to task is its own: what it makes of it is checked.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from pomrl.science.data import Batch, Data, TaskModels
from pomrl.science.estimators.estimator import Estimator, MemoryT, Truth
from pomrl.science.estimators.memory import Models, PerPair
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.meta_batches import MetaBatch
from pomrl.science.randomness import Generators
from pomrl.science.solvers.evaluation import row_sums
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution, Tasks
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import TaskStream

LARGEST = float(np.finfo(float).max)


class ComponentError(ValueError):
    """A component has returned what it must not; the message names it, its method, the task and the first bad index."""


class Where(NamedTuple):
    """The method of a component that has returned a result, as error messages name it."""

    component: Any
    method: str
    place: str = ""
    """The task or the run, in words that follow the name of the method; empty if there is none."""
    part: str = ""
    """The name of the field of the result; empty if the result has no fields."""


def draw_mean(distribution: TaskDistribution, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
    """Return what the tasks of a run have in common; `moments` checks its values."""
    mean = distribution.draw_mean(seed, run, S, A, sigma)
    _check_mean(mean, S, A, Where(distribution, "draw_mean", f" in run {run}"))
    return mean


def means(
    stream: TaskStream, rng: np.random.Generator, mean: MeanModel, distribution: RandomChains, run: int
) -> Iterator[MeanModel]:
    """Yield the mean model of each task of a run; the first one has been checked, and `moments` checks values."""
    checked, where, (S, A) = mean, Where(stream, "means", f" in run {run}"), mean.varying.shape
    for each in stream.means(rng, mean, distribution):
        if each is not checked:
            _check_mean(each, S, A, where)
            checked = each
        yield each
    raise ComponentError(f"{_name(where)} ended; it has to yield mean models without end")


def moments(
    distribution: TaskDistribution, means: Sequence[MeanModel], author: TaskDistribution | TaskStream
) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A S"]]:
    """Return the mean models of n runs, which are models, and the variance of each of their entries, at least 0.

    The rewards of the mean models are finite.

    The values of all runs are checked at once, which takes a tenth of the time.

    Args:
        distribution: The distribution of the tasks.
        means: What the tasks of each run have in common.
        author: The component that has returned it.
    """
    P_o, where = np.stack([mean.P_o for mean in means]), Where(distribution, "variance")
    method = "means" if isinstance(author, TaskStream) else "draw_mean"
    _check_models(P_o, P_o.shape, Where(author, method, part="P_o"))
    for mean in means:
        check_range(mean.R, -LARGEST, LARGEST, Where(author, method, part="R"), "is not finite")
    of_runs = [distribution.variance(mean) for mean in means]
    for variance in of_runs:
        check_array(variance, (P_o.shape[1:],), where)
    variance = np.stack(of_runs)
    check_range(variance, 0.0, LARGEST, where, "is not at least 0 and finite")
    return P_o, variance


def candidates(distribution: TaskDistribution, S: int, A: int) -> Float[np.ndarray, "k S A S"] | None:
    """Return the models that tasks have with the same chance, or None."""
    models, where = distribution.candidates(), Where(distribution, "candidates")
    if models is not None:
        _check_models(models, (max(np.shape(models)[:1], (1,))[0], S, A, S), where)
    return models


def draw_tasks(distribution: TaskDistribution, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
    """Return the next tasks of n runs, whose models are models and whose rewards are finite."""
    drawn, where = distribution.draw(rngs, means, tasks), Where(distribution, "draw")
    _check_type(drawn, Tasks, where)
    shape = (tasks, len(means), *means[0].P_o.shape)
    _check_models(drawn.P, shape, where._replace(part="P"))
    _check_rewards(drawn.R, shape, where._replace(part="R"))
    if drawn.latent is not None:
        check_array(drawn.latent, (shape[:2],), where._replace(part="latent"))
    return drawn


def draw_batch(data: Data, rngs: Generators, P: TaskModels, m: int, batches: int) -> Batch:
    """Return the batches of T tasks, whose counts are whole numbers, and equally many for all pairs if data say so."""
    counts, where = data.draw(rngs, P, m, batches), Where(data, "draw")
    _check_counts(counts, (*P.shape[:2], batches, *P.shape[2:]), where)
    batch = Batch.of_counts(counts, m, equal=data.is_equal)
    if data.is_equal:  # whose numbers of transitions are those of the first pair
        why = "times the transitions of the first pair, although is_equal says that all pairs have the same number"
        check_range(batch.visits, 1.0, np.inf, where, "is the number of transitions of all pairs")
        _check_sums(batch.P_bar, where, why)
    return batch


def of_tasks(
    meta_batch: MetaBatch,
    own: Batch,
    data: Data,
    rngs: Generators,
    P: TaskModels,
) -> Batch:
    """Return the batches for the meta-learner, whose frequencies are distributions."""
    batch, where = meta_batch.of_tasks(own, data, rngs, P), Where(meta_batch, "of_tasks")
    _check_type(batch, Batch, where)
    T, n, K, *model = own.counts.shape
    shape = (T, n if meta_batch.is_shared else n * K, *model)
    _check_counts(batch.counts, shape, where._replace(part="counts"))
    _check_models(batch.P_bar, shape, where._replace(part="P_bar"))
    per_pair = (shape[:-1], (*shape[:2], 1, 1))
    check_array(batch.visits, per_pair, where._replace(part="visits"))
    check_range(batch.visits, 0.0, LARGEST, where._replace(part="visits"), "is not at least 0 and finite")
    check_array(batch.counted, per_pair, where._replace(part="counted"), np.bool_)
    return batch


def prior_model(estimator: Estimator[MemoryT], t: int, memory: MemoryT, batch: Batch, truth: Truth) -> Models:
    """Return h_t, whose rows are distributions."""
    h = estimator.prior_model(memory, batch, truth)
    _check_models(h, batch.P_bar.shape, _in_task(estimator, "prior_model", t))
    return h


def similarity_estimate(estimator: Estimator[MemoryT], t: int, m: int, memory: MemoryT, truth: Truth) -> PerPair:
    """Return sigma for task t, at least 0, or NaN in all places where the estimator uses none."""
    sigma = estimator.similarity_estimate(memory, m, truth)
    where = _in_task(estimator, "similarity_estimate", t)
    check_array(sigma, _per_pair(truth), where)
    if not np.isnan(sigma).all():
        check_range(sigma, 0.0, LARGEST, where, "is not at least 0 and finite")
    return sigma


def mixing_rate(
    estimator: Estimator[MemoryT], t: int, batch: Batch, sigma: PerPair, memory: MemoryT, truth: Truth
) -> Float[np.ndarray, "n K #S #A"]:
    """Return alpha_t, which is in [0, 1], for each trial of the batch, or once if all trials have the same."""
    equal = batch.is_equal or estimator.mixes_by_m
    numbers = [batch.m] if equal else list(batch.visits.swapaxes(0, 1))
    rates = [rate_after(estimator, t, m, sigma, memory, truth) for m in numbers]
    return np.stack(np.broadcast_arrays(*rates), axis=1)


def rate_after(
    estimator: Estimator[MemoryT], t: int, m: int | PerPair, sigma: PerPair, memory: MemoryT, truth: Truth
) -> PerPair:
    """Return the mixing rate after m transitions, or after as many as each pair has, which is in [0, 1]."""
    alpha = estimator.mixing_rate(t, m, sigma, memory, truth)
    where = _in_task(estimator, "mixing_rate", t)
    check_array(alpha, _per_pair(truth), where)
    check_range(alpha, 0.0, 1.0, where, "is not in [0, 1]")
    return alpha


def select(gamma_schedule: GammaSchedule, state: TaskState) -> Float[np.ndarray, "n G"]:
    """Return the discount factors of a task, which are in [0, gamma_eval]."""
    gamma = gamma_schedule.select(state)
    where = _in_task(gamma_schedule, "select", state.t)
    check_array(gamma, ((len(state.alpha), gamma_schedule.gammas_per_task),), where)
    check_range(gamma, 0.0, state.gamma_eval, where, "is not between 0 and gamma_eval")
    return gamma


def _per_pair(truth: Truth) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of a number for each pair (s, a) of each run, or one for all pairs."""
    n, S, A, _ = truth.P_o.shape
    return ((n, 1, 1), (n, S, 1), (n, 1, A), (n, S, A))


def _in_task(component: Any, method: str, t: int) -> Where:
    return Where(component, method, f" in task {t}")


def _name(where: Where) -> str:
    kind = type(where.component)
    return f"{kind.__module__}.{kind.__qualname__}.{where.method}{where.place}"


def _returned(where: Where) -> str:
    return f"{_name(where)} returned {where.part and f'as {where.part} '}"


def _kind(value: Any) -> str:
    return f"{type(value).__name__} of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__


def _check_mean(mean: Any, S: int, A: int, where: Where) -> None:
    """Refuse what is no mean model, by the kinds and shapes of its parts."""
    _check_type(mean, MeanModel, where)
    check_array(mean.P_o, ((S, A, S),), where._replace(part="P_o"))
    check_array(mean.R, ((S, A), (S, A, S)), where._replace(part="R"))
    check_array(mean.varying, ((S, A),), where._replace(part="varying"), np.bool_)
    _check_type(mean.sigma, float, where._replace(part="sigma"))
    _check_type(mean.largest_sigma, float, where._replace(part="largest_sigma"))
    check_range(np.array(mean.sigma), 0.0, LARGEST, where._replace(part="sigma"), "is not at least 0 and finite")
    if mean.unsmoothed is not None:
        check_array(mean.unsmoothed, ((S, A, S),), where._replace(part="unsmoothed"))


def _check_models(P: Any, shape: tuple[int, ...], where: Where) -> None:
    """Refuse what is no array of transition models of this shape, whose rows are distributions."""
    check_array(P, (shape,), where)
    if not P.min() >= 0.0:  # rows that sum to 1 then have no entry above 1
        check_range(P, 0.0, 1.0, where, "is not a probability")
    _check_sums(P, where, "is a row's sum, not 1")


def _check_sums(P: Float[np.ndarray, "*n S A S"], where: Where, why: str) -> None:
    """Refuse rows that do not sum to 1."""
    total, tolerance = row_sums(P)
    check_range(total, 1.0 - tolerance, 1.0 + tolerance, where, why)


def _check_rewards(R: Any, shape: tuple[int, ...], where: Where) -> None:
    """Refuse what are no finite rewards of pairs or of transitions of models of this shape."""
    check_array(R, (shape[:-1], shape), where)
    check_range(R, -LARGEST, LARGEST, where, "is not finite")


def _check_counts(counts: Any, shape: tuple[int, ...], where: Where) -> None:
    """Refuse what are no whole numbers, at least 0, of this shape: integers, or doubles without a fraction."""
    whole = isinstance(counts, np.ndarray) and counts.dtype.kind in "iu"
    if not whole:
        check_array(counts, (shape,), where)
        check_range(counts - np.floor(counts), 0.0, 0.0, where, "is the fraction of a number of transitions")
    check_array(counts, (shape,), where, counts.dtype)
    check_range(counts, 0.0, np.inf, where, "is not a number of transitions")


def _check_type(value: Any, wanted: type, where: Where) -> None:
    if not isinstance(value, wanted):
        raise ComponentError(f"{_returned(where)}a {_kind(value)}; it has to be a {wanted.__name__}")


def check_array(array: Any, shapes: tuple[tuple[int, ...], ...], where: Where, dtype: Any = np.float64) -> None:
    """Refuse what is no array of this type and of one of these shapes."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise ComponentError(f"{_returned(where)}a {_kind(array)}; it has to be an array of {np.dtype(dtype)}")
    if array.shape not in shapes:
        allowed = " or ".join(map(str, dict.fromkeys(shapes)))
        raise ComponentError(f"{_returned(where)}an array of shape {array.shape}; it has to be {allowed}")


def check_range(values: np.ndarray, low: float, high: float, where: Where, why: str) -> None:
    """Refuse values that are not all between two numbers; NaN is not."""
    if not (values.min() >= low and values.max() <= high):
        index = tuple(np.argwhere(~((values >= low) & (values <= high)))[0].tolist())
        place = f"{where.part}{list(index) if index else ''}"
        raise ComponentError(f"{_name(where)}: {place} = {float(values[index])!r} {why}")
