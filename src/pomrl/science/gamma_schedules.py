"""Schedules of discount factors: the gamma-Selection-Procedure of Algorithms 1 and 2 (Sec. 6).

The functions of Sec. 6.2 broadcast their arguments.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Num
from pydantic import Field

from pomrl.base import Ascending, Component
from pomrl.science.sampling import elementary

Numbers = Num[np.ndarray, "..."] | float | int
"""A number or an array, an argument of an elementwise function."""

Values = Float[np.ndarray, "..."] | float
"""The value of an elementwise function."""

Formula = Literal["text", "notebook"]
"""Formula of C_t: from Sec. 6.2, or from the authors' notebook."""

Minimum = Literal["corrected", "as_printed"]
"""Minimum of U(γ): correct, or as in Proposition 1."""


def regret_constant(t: Numbers, m: Numbers, deviation: Numbers, formula: Formula = "text") -> Values:
    """Return C_t, the uncertainty factor of the bound for task t (Sec. 6.2).

        C_t = ((σ + 1/√m) / √t + σ² m / √m) / (σ² m + 1)

    σ is the standard deviation of tasks, and m the number of transitions from each pair. The notebook has σ² m + 1 in
    place of σ² m in the second term.
    """
    deviation, root = np.asarray(deviation, float), np.sqrt(np.asarray(m, float))
    x = deviation**2 * m
    model_term = x if formula == "text" else x + 1.0
    return ((deviation + 1.0 / root) / np.sqrt(t) + model_term / root) / (x + 1.0)


def upper_bound_gamma(C: Numbers, minimum: Minimum = "corrected") -> Values:
    """Return γ̃ of Prop. 1, the minimiser of U(γ) on [0, 1].

    The derivative of U (`regret_upper_bound`) has the sign of C (1 + γ) - (1 - γ). So γ̃ is (1 - C) / (1 + C) for C < 1,
    and 0 otherwise. Proposition 1, `as_printed`, has 1 for C < 1/2.
    """
    C = np.asarray(C, float)
    gamma = np.maximum((1.0 - C) / (1.0 + C), 0.0)
    return np.where(C < 0.5, 1.0, gamma) if minimum == "as_printed" else gamma


def regret_upper_bound(gamma: Numbers, C: Numbers, gamma_eval: Numbers) -> Values:
    """Return the upper bound U(γ) on the planning loss, in discounted reward (Sec. 6.2).

        U(γ) = 1/(1 - γ_eval) - 1/(1 - γ) + C γ/(1 - γ)²

    The first two terms bound the bias of planning with γ, the last term the effect of the uncertain model,
    with C of `regret_constant`.

    Raises:
        ValueError: Unless 0 <= gamma <= gamma_eval < 1.
    """
    gamma, gamma_eval = np.asarray(gamma, float), np.asarray(gamma_eval, float)
    if not np.all((gamma >= 0) & (gamma <= gamma_eval) & (gamma_eval < 1)):
        raise ValueError(f"gamma must be in [0, gamma_eval], and gamma_eval below 1, got {gamma} and {gamma_eval}")
    return 1.0 / (1.0 - gamma_eval) - 1.0 / (1.0 - gamma) + C * gamma / (1.0 - gamma) ** 2


Discount = Annotated[float, Field(ge=0, le=1)]
Scope = Literal["all_tasks", "each_task"]
"""One choice in hindsight for all tasks, or one for each."""

HindsightChoice = Literal["population", "per_run"]
"""Best choice in hindsight for the mean over runs, or in each run (R8)."""

Gammas = Annotated[list[Discount], Field(min_length=1), Ascending]


@dataclass(frozen=True)
class TaskState:
    """The input of a schedule: a task in n runs."""

    t: int
    """Number of the task, from 1."""
    m: int
    """Number of transitions sampled for each pair (s, a) in each task, or of trajectories."""
    S: int
    A: int
    gamma_eval: float
    """Discount factor of losses."""
    alpha: Float[np.ndarray, " n"]
    """Mixing rate of the task, a mean over pairs (s, a) and trials."""
    deviation: Float[np.ndarray, " n"]
    """Similarity of the tasks as a standard deviation, the maximum over pairs; NaN if the estimator has none."""


class GammaSchedule(Component):
    """Base class of schedules of discount factors."""

    needs_similarity: ClassVar[bool] = False
    """Whether the choice depends on `TaskState.deviation`."""

    @abstractmethod
    def select(self, state: TaskState) -> Float[np.ndarray, "n G"]:
        """Return the discount factors of a task in n runs, in [0, gamma_eval]."""

    def check(self, gamma_eval: float) -> None:
        """Raise a ValueError if the schedule does not allow this gamma_eval."""

    def computed_schedule(self) -> "GammaSchedule":
        """Return the schedule to compute and store, a grid for hindsight."""
        return self

    @property
    def gammas_per_task(self) -> int:
        """The number G of discount factors per task."""
        return 1


class Grid(GammaSchedule):
    """All discount factors of a grid in every task, for curves of the loss."""

    gammas: Gammas
    """Discount factors, ascending, <= gamma_eval."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n G"]:
        return np.tile(self.gammas, (len(state.alpha), 1))

    def check(self, gamma_eval: float) -> None:
        _check_limit(self.gammas[-1], gamma_eval, "gammas")

    @property
    def gammas_per_task(self) -> int:
        return len(self.gammas)


class Hindsight(Grid):
    """A choice from a stored grid in hindsight, knowing the losses (`pomrl.science.gamma_star`).

    It is the best fixed or dynamic choice of Sec. 6.3.
    """

    scope: Scope
    """One choice for all tasks, or one for each."""
    choice: HindsightChoice = "population"
    """Best for the mean over runs, or in each run (R8)."""

    def computed_schedule(self) -> Grid:
        return Grid(gammas=self.gammas)


class Fixed(GammaSchedule):
    """One discount factor in every task; gamma_eval is the naive choice (Sec. 5.1)."""

    gamma: Discount
    """The discount factor, <= gamma_eval."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        return np.full((len(state.alpha), 1), self.gamma)

    def check(self, gamma_eval: float) -> None:
        _check_limit(self.gamma, gamma_eval, "gamma")


class Snapping(GammaSchedule):
    """Base class of schedules with an optional grid of discount factors."""

    snap: Gammas | None = None
    """Grid to round gamma_t to, with ties rounded down; null: no rounding."""

    def check(self, gamma_eval: float) -> None:
        if self.snap:
            _check_limit(self.snap[-1], gamma_eval, "snap")

    def _finish(self, gamma: Float[np.ndarray, " n"], gamma_eval: float) -> Float[np.ndarray, "n 1"]:
        """Cut discount factors to [0, gamma_eval], and round them to the grid."""
        gamma = np.clip(gamma, 0.0, gamma_eval)[:, None]
        if self.snap is None:
            return gamma
        grid = np.array(self.snap)
        return grid[np.abs(gamma - grid).argmin(-1)][:, None]


class Dong(Snapping):
    """The schedule of Dong et al., gamma_t = 1 - T_t^(-1/5) with phase sizes T_t (Sec. 6.1).

        T_t = (S A / L) ((1 - α_t) m + α_t m (t - 1)),    T_0 = m,

    and gamma_t is cut to [0, gamma_eval].
    """

    L: Annotated[int, Field(ge=1)] = 1
    """Maximum trajectory length (R7)."""
    start: Literal["T0", "T1"] = "T1"
    """Phase size in task 1: T_0 or T_1 (R18)."""
    T_0: Literal["m", "scaled"] = "m"
    """Phase size T_0: m, or m S A / L, scaled like later phases."""
    alpha: Literal["own"] | Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(min_length=1)] = "own"
    """Alpha_t in T_t: the learner's, or a list for tasks 1, 2, ..., with its last value for all later tasks."""
    lag: Annotated[int, Field(ge=0)] = 0
    """Delay, in tasks, of the number t - 1 of past tasks in T_t."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        scale = state.S * state.A / self.L
        if state.t == 1 and self.start == "T0":
            T_t = np.full_like(state.alpha, state.m if self.T_0 == "m" else scale * state.m)
        else:
            alpha, past = self._alpha(state), max(state.t - 1 - self.lag, 0)
            T_t = scale * ((1.0 - alpha) * state.m + alpha * state.m * past)
        return self._finish(1.0 - elementary.power(np.maximum(T_t, 1.0), -0.2), state.gamma_eval)

    def _alpha(self, state: TaskState) -> Float[np.ndarray, " n"]:
        if self.alpha == "own":
            return state.alpha
        return np.full_like(state.alpha, self.alpha[min(state.t, len(self.alpha)) - 1])


class UpperBound(Snapping):
    """gamma_t = gamma_0 + gamma_tilde(C_t), an offset plus the minimiser of a loss bound.

    The bound is from Sec. 6.2 and Prop. 1 (`upper_bound_gamma`). gamma_t is cut to [0, gamma_eval].
    """

    needs_similarity: ClassVar[bool] = True

    gamma_0: Discount = 0.25
    """Offset (R12)."""
    minimum: Minimum = "corrected"
    """Minimum of U: corrected, or as in Prop. 1 (E1)."""
    formula: Formula = "text"
    """C_t as in the text, or as in the notebook, with the second term 1/sqrt(m)."""
    deviation: Literal["own"] | Annotated[float, Field(ge=0)] = "own"
    """Standard deviation of tasks in C_t: the learner's own, or a number."""
    plug: Literal["std", "variance"] = "std"
    """Value used as the standard deviation in C_t: the standard deviation, or the variance."""

    def select(self, state: TaskState) -> Float[np.ndarray, "n 1"]:
        own = state.deviation
        deviation = own if self.deviation == "own" else np.full_like(own, self.deviation)
        C_t = regret_constant(state.t, state.m, deviation if self.plug == "std" else deviation**2, self.formula)
        gamma = self.gamma_0 + upper_bound_gamma(C_t, self.minimum)
        return self._finish(np.asarray(gamma), state.gamma_eval)


def _check_limit(gamma: float, gamma_eval: float, key: str) -> None:
    if gamma > gamma_eval:
        raise ValueError(f"gamma_schedule.{key} must be at most gamma_eval={gamma_eval}, got {gamma}")
