"""Checks of the output of components.

Arrays passed to components are read-only (`base.make_read_only`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Float

from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimate, Estimator
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.solvers import input_checks

MAX_FLOAT = float(np.finfo(float).max)
Shape = tuple[int, ...]


class ComponentError(ValueError):
    """A violation of a component's contract."""


@dataclass(frozen=True)
class ComponentOutput:
    """Checks of the output of a component's method; failures are a ComponentError."""

    component: Any
    method: str
    context: str = ""
    """Task or run, as in ` in task 3`, appended to the method's name."""

    @property
    def name(self) -> str:
        kind = type(self.component)
        return f"{kind.__module__}.{kind.__qualname__}.{self.method}{self.context}"

    def check_type(self, expected: type, value: Any, field: str = "") -> None:
        if not isinstance(value, expected):
            self._refuse(field, expected.__name__, type(value).__name__)

    def check_array(self, value: Any, *shapes: Shape, field: str = "", dtype: Any = np.float64) -> None:
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            kind = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            self._refuse(field, f"an array of {np.dtype(dtype)}", kind)
        if value.shape not in shapes:
            allowed = " or ".join(str(list(shape)) for shape in dict.fromkeys(shapes))
            self._refuse(field, f"an array of shape {allowed}", str(list(value.shape)))

    def check_range(self, values: np.ndarray, low: float, high: float, field: str = "", label: str = "") -> None:
        """Raise a ComponentError for a value outside [low, high], or NaN."""
        if not (values.min() >= low and values.max() <= high):
            index = tuple(np.argwhere(~((values >= low) & (values <= high)))[0].tolist())
            entry = f"{label}{field}{list(index) if index else ''}"
            raise ComponentError(f"{self.name}: {entry} = {float(values[index])!r} is not {_range_label(low, high)}")

    def check_finite(self, values: np.ndarray, field: str = "") -> None:
        self.check_range(values, -MAX_FLOAT, MAX_FLOAT, field)

    def check_models(self, P: Any, shape: Shape, field: str = "") -> None:
        self.check_array(P, shape, field=field)
        if not P.min() >= 0.0:  # rows with sum 1 then have no entry above 1
            self.check_range(P, 0.0, 1.0, field)
        self.check_row_sums(P, field)

    def check_row_sums(self, P: Float[np.ndarray, "*n S A S"], field: str = "") -> None:
        total, tolerance = input_checks.row_sums(P)
        self.check_range(total, 1.0 - tolerance, 1.0 + tolerance, field, "the sum of the row ")

    def check_counts(self, counts: Any, shape: Shape, field: str = "") -> None:
        whole = isinstance(counts, np.ndarray) and counts.dtype.kind in "iu"
        self.check_array(counts, shape, field=field, dtype=counts.dtype if whole else np.int64)
        self.check_range(counts, 0.0, MAX_FLOAT, field)

    def _refuse(self, field: str, expected: str, actual: str) -> NoReturn:
        raise ComponentError(f"{self.name} must return {expected}{field and f' as {field}'}, got {actual}")


def _range_label(low: float, high: float) -> str:
    if high == MAX_FLOAT:
        return "finite" if low < 0.0 else f"finite and at least {low:g}"
    return f"{high:g}" if high - low < 1e-6 else f"between {low:g} and {high:g}"


def check_estimate(estimator: Estimator[Any], t: int, estimate: Any, batch: Batch) -> None:
    """Check the prior h_t and the deviation, >= 0 or NaN everywhere."""
    output = ComponentOutput(estimator, "assess", f" in task {t}")
    output.check_type(Estimate, estimate)
    if not callable(estimate.h):
        output.check_models(estimate.h, batch.P_bar.shape, "h")
    output.check_array(estimate.deviation, *_per_pair(batch.P_bar.shape), field="deviation")
    if not np.isnan(estimate.deviation).all():
        output.check_range(estimate.deviation, 0.0, MAX_FLOAT, "deviation")


def check_trials(
    estimator: Estimator[Any], t: int, estimate: Estimate, priors: Sequence[Any], rates: Sequence[Any], shape: Shape
) -> None:
    """Check priors h_t and mixing rates alpha_t, of each trial or shared."""
    for h in priors if callable(estimate.h) else ():  # a shared prior was checked in `check_estimate`
        ComponentOutput(estimator, "estimate", f" in task {t}").check_models(h, shape)
    for alpha in rates:
        check_mixing_rate(estimator, t, alpha, shape)


def check_mixing_rate(estimator: Estimator[Any], t: int, alpha: Any, shape: Shape) -> None:
    """Check the shape and range [0, 1] of a mixing rate alpha_t."""
    output = ComponentOutput(estimator, "assess", f" in task {t}")
    output.check_array(alpha, *_per_pair(shape), field="alpha")
    output.check_range(alpha, 0.0, 1.0, "alpha")


def check_gammas(gamma_schedule: GammaSchedule, gammas: Any, state: TaskState) -> None:
    """Check the shape and range [0, gamma_eval] of discount factors."""
    output = ComponentOutput(gamma_schedule, "select", f" in task {state.t}")
    output.check_array(gammas, (len(state.alpha), gamma_schedule.gammas_per_task))
    output.check_range(gammas, 0.0, state.gamma_eval)


def _per_pair(shape: Shape) -> list[Shape]:
    n, S, A, _ = shape
    return [(n, 1, 1), (n, S, 1), (n, 1, A), (n, S, A)]
