"""The gamma-Selection-Procedure of Algorithms 1 and 2: which discount factors a task is planned with (Sec. 6)."""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field, field_validator
from pydantic.dataclasses import dataclass

from pomrl.bounds import regret_constant, upper_bound_gamma
from pomrl.components import CHECKED

Discount = Annotated[float, Field(ge=0, lt=1)]

PerRun = Float[np.ndarray, " n"]
"""A number for each of n runs."""


class GammaSchedule(ABC):
    """Which discount factors are planned with in task t."""

    needs_similarity: ClassVar[bool] = False
    """Whether the choice depends on sigma, which not every estimator has."""

    @abstractmethod
    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n G"]:
        """The discount factors of task t in each of n runs, in [0, gamma_eval].

        alpha is the mixing rate (its mean over pairs where it differs between them), sigma the similarity as a standard
        deviation (its maximum).
        """

    def check(self, gamma_eval: float) -> None:  # noqa: B027 (most schedules go with any)
        """Refuse, with a ValueError, what cannot go with this gamma_eval."""

    def computed(self) -> "GammaSchedule":
        """The schedule that is computed and stored where this one is asked for."""
        return self

    @property
    def gammas_per_task(self) -> int:
        """How many discount factors it gives in each task."""
        return 1


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Grid(GammaSchedule):
    """All discount factors of a grid, in every task: the curves of loss against gamma."""

    gammas: Annotated[list[Discount], Field(min_length=1, description="discount factors, ascending, <= gamma_eval")]

    @field_validator("gammas")
    @classmethod
    def _ascending(cls, gammas: list[float]) -> list[float]:
        if any(b <= a for a, b in pairwise(gammas)):
            raise ValueError("they have to ascend strictly")
        return gammas

    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n G"]:
        return np.tile(self.gammas, (len(alpha), 1))

    def check(self, gamma_eval: float) -> None:
        _refuse_beyond(self.gammas[-1], gamma_eval, "gammas")

    @property
    def gammas_per_task(self) -> int:
        return len(self.gammas)


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Hindsight(Grid):
    """A schedule that picks from the grid afterwards, knowing the losses: it is read from the stored grid.

    `best_fixed` takes one discount factor for all tasks, the best on average; `dynamic_best` the best in each task
    (Sec. 6.3). The best is that of the mean over the runs that are loaded, or that of each run (A8); among equals the
    largest.
    """

    scope: Annotated[Literal["all_tasks", "each_task"], Field(description="one choice for all tasks, or one for each")]
    choice: Annotated[
        Literal["population", "per_run"], Field(description="best for the mean over runs, or in each run (A8)")
    ] = "population"

    def computed(self) -> Grid:
        return Grid(gammas=self.gammas)

    def choose(self, loss: Float[np.ndarray, "n T G"]) -> Float[np.ndarray, "n T"]:
        """The discount factor that is chosen in each run and task, from the losses on the grid."""
        axes = (0,) * (self.choice == "population") + (1,) * (self.scope == "all_tasks")
        mean = np.broadcast_to(loss.mean(axes, keepdims=True), loss.shape)
        last_best = mean.shape[-1] - 1 - mean[..., ::-1].argmin(-1)
        return np.asarray(self.gammas)[last_best]


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Fixed(GammaSchedule):
    """One discount factor in every task; gamma_eval is the naive choice (Sec. 5.1)."""

    gamma: Annotated[Discount, Field(description="the discount factor, <= gamma_eval")]

    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n 1"]:
        return np.full((len(alpha), 1), self.gamma)

    def check(self, gamma_eval: float) -> None:
        _refuse_beyond(self.gamma, gamma_eval, "gamma")


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Dong(GammaSchedule):
    """gamma_t = 1 - T_t^(-1/5), with T_t = (S A / L) ((1 - alpha_t) m + alpha_t m (t - 1)) and T_0 = m (Sec. 6.1).

    Cut to [0, gamma_eval].
    """

    L: Annotated[int, Field(ge=1, description="maximum trajectory length (A7)")] = 1
    start: Annotated[Literal["T0", "T1"], Field(description="the phase size that rules task 1 (A18)")] = "T1"

    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n 1"]:
        T_t = S * A / self.L * ((1.0 - alpha) * m + alpha * m * (t - 1))
        if t == 1 and self.start == "T0":
            T_t = np.full_like(alpha, m)
        gamma = 1.0 - np.maximum(T_t, 1.0) ** -0.2
        return np.clip(gamma, 0.0, gamma_eval)[:, None]


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class UpperBound(GammaSchedule):
    """gamma_t = gamma_0 + gamma_tilde(C_t), where gamma_tilde minimises the regret bound (Sec. 6.2, Prop. 1).

    Cut to [0, gamma_eval].
    """

    needs_similarity: ClassVar[bool] = True

    gamma_0: Annotated[Discount, Field(description="offset (A12)")] = 0.25
    variant: Annotated[
        Literal["corrected", "as_printed"], Field(description="the minimum of U, right or as in Prop. 1 (E1)")
    ] = "corrected"

    def select(
        self, m: int, alpha: PerRun, sigma: PerRun, t: int, S: int, A: int, gamma_eval: float
    ) -> Float[np.ndarray, "n 1"]:
        gamma = self.gamma_0 + upper_bound_gamma(regret_constant(t, m, sigma), self.variant)
        return np.clip(gamma, 0.0, gamma_eval)[:, None]


def _refuse_beyond(gamma: float, gamma_eval: float, key: str) -> None:
    if gamma > gamma_eval:
        raise ValueError(f"gamma_schedule.{key}={gamma}: it has to be at most gamma_eval={gamma_eval}")
