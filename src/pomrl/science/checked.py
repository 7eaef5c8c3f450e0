"""What components return is checked in every task, because components may be anybody's.

Each function below calls the method of a component that bears its name and refuses a result of the wrong shape or kind,
of values out of range, or that is not finite: an array that broadcasts would otherwise pass unnoticed, and NaN would
end in a table. The arrays that components receive are read-only (`checks.read_only`), so that no component can
change what another one sees.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimator, MemoryT, Truth
from pomrl.science.estimators.memory import Models, PerPair
from pomrl.science.gamma_schedules import GammaSchedule, TaskState

_ROW_SUM_ULPS = 64.0
"""How far the sum of a row may be from 1, in units of S times the machine epsilon."""


class ComponentError(ValueError):
    """A component has returned what it must not; the message names it, its method, the task and the first bad index."""


Where = tuple[Any, str, int]
"""The component, its method and the task, of which a message makes a name."""


def prior_model(estimator: Estimator[MemoryT], t: int, memory: MemoryT, batch: Batch, truth: Truth) -> Models:
    """Return h_t, whose rows are distributions."""
    h = estimator.prior_model(memory, batch, truth)
    where = (estimator, "prior_model", t)
    _check_array(h, (batch.P_bar.shape,), where)
    if not h.min() >= 0.0:  # rows that sum to 1 then have no entry above 1
        _check_range(h, 0.0, 1.0, where, "is not a probability")
    S = h.shape[-1]
    total = h.reshape(-1, S) @ np.ones(S)  # ten times as fast as a sum over a short axis
    tolerance = _ROW_SUM_ULPS * S * np.finfo(float).eps
    _check_range(total.reshape(h.shape[:-1]), 1.0 - tolerance, 1.0 + tolerance, where, "is a row's sum, not 1")
    return h


def similarity_estimate(estimator: Estimator[MemoryT], t: int, m: int, memory: MemoryT, truth: Truth) -> PerPair:
    """Return sigma for task t, at least 0, or NaN in all places where the estimator uses none."""
    sigma = estimator.similarity_estimate(memory, m, truth)
    where = (estimator, "similarity_estimate", t)
    _check_array(sigma, _per_pair(truth), where)
    if not np.isnan(sigma).all():
        _check_range(sigma, 0.0, np.finfo(float).max, where, "is not at least 0 and finite")
    return sigma


def mixing_rate(
    estimator: Estimator[MemoryT], t: int, batch: Batch, sigma: PerPair, memory: MemoryT, truth: Truth
) -> Float[np.ndarray, "n K #S #A"]:
    """Return alpha_t, which is in [0, 1], for each trial of the batch, or once if all trials have the same."""
    equal = batch.is_equal or estimator.mixes_by_m
    numbers = [batch.m] if equal else list(batch.visits.swapaxes(0, 1))
    where = (estimator, "mixing_rate", t)
    rates = []
    for m in numbers:
        alpha = estimator.mixing_rate(t, m, sigma, memory, truth)
        _check_array(alpha, _per_pair(truth), where)
        _check_range(alpha, 0.0, 1.0, where, "is not in [0, 1]")
        rates.append(alpha)
    return np.stack(np.broadcast_arrays(*rates), axis=1)


def select(gamma_schedule: GammaSchedule, state: TaskState) -> Float[np.ndarray, "n G"]:
    """Return the discount factors of a task, which are in [0, gamma_eval]."""
    gamma = gamma_schedule.select(state)
    where = (gamma_schedule, "select", state.t)
    _check_array(gamma, ((len(state.alpha), gamma_schedule.gammas_per_task),), where)
    _check_range(gamma, 0.0, state.gamma_eval, where, "is not between 0 and gamma_eval")
    return gamma


def _per_pair(truth: Truth) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of a number for each pair (s, a) of each run, or one for all pairs."""
    n, S, A, _ = truth.P_o.shape
    return ((n, 1, 1), (n, S, 1), (n, 1, A), (n, S, A))


def _name(where: Where) -> str:
    component, method, t = where
    return f"{type(component).__module__}.{type(component).__qualname__}.{method} in task {t}"


def _check_array(array: Any, shapes: tuple[tuple[int, ...], ...], where: Where) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        kind = f"{type(array).__name__} of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ComponentError(f"{_name(where)} returned a {kind}; it has to be an array of float64")
    if array.shape not in shapes:
        allowed = " or ".join(map(str, dict.fromkeys(shapes)))
        raise ComponentError(f"{_name(where)} returned an array of shape {array.shape}; it has to be {allowed}")


def _check_range(values: Float[np.ndarray, "..."], low: float, high: float, where: Where, why: str) -> None:
    """Refuse values that are not all between two numbers; NaN is not."""
    if not (values.min() >= low and values.max() <= high):
        index = tuple(int(i) for i in np.argwhere(~((values >= low) & (values <= high)))[0])
        raise ComponentError(f"{_name(where)}: [{', '.join(map(str, index))}] = {float(values[index])!r} {why}")
