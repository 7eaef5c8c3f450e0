"""Distributions of related tasks (Sec. 3.1)."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Shaped
from pydantic import Field, model_validator

from pomrl.base import Component, check_memory, make_read_only
from pomrl.science.mdp import Rewards, expected_rewards, for_each_model
from pomrl.science.randomness import Generators
from pomrl.science.solvers import input_checks
from pomrl.science.solvers.input_checks import check_models


@dataclass(frozen=True)
class MeanModel:
    """The mean model of the tasks of a run, with their rewards and similarity."""

    P_o: Float[np.ndarray, "S A S"]
    """Mean over tasks of the transition probabilities."""
    R: Rewards
    """Rewards R(s, a) or R(s, a, s'), their mean if tasks differ."""
    varying: Bool[np.ndarray, "S A"]
    """Whether tasks differ in the pair (s, a)."""
    deviation: float
    """Largest standard deviation over tasks of an entry of the model."""
    largest_deviation: float
    """Exclusive upper limit of the deviation with this P_o."""
    unsmoothed: Float[np.ndarray, "S A S"] | None = None
    """Mean model before smoothing, or P_o after a drift; None without smoothing."""

    @property
    def has_room(self) -> bool:
        """Return whether the deviation is possible with this P_o."""
        return self.deviation < self.largest_deviation or self.deviation == 0


@dataclass(frozen=True, eq=False)
class Tasks:
    """The models and rewards of consecutive tasks in n runs."""

    P: Float[np.ndarray, "tasks n S A S"]
    """Transition probabilities."""
    R: Rewards
    """Rewards R(s, a), [tasks, n, S, A], or R(s, a, s'), [tasks, n, S, A, S]."""
    latent: Float[np.ndarray, "tasks n"] | None = None
    """Number that determines the model of a task; None for independent rows."""


class TaskDistribution(Component):
    """Base class of distributions of tasks around a mean model."""

    has_exact_moments: ClassVar[bool] = True
    """Whether `MeanModel.P_o` and `variance` are the exact moments of tasks."""

    @property
    def size(self) -> tuple[int, int] | None:
        """The sizes (S, A), if determined by the distribution."""
        return None

    @property
    def start(self) -> list[float] | None:
        """The default probability of each first state; None: uniform."""
        return None

    def check(self, S: int, A: int) -> None:
        """Raise a ValueError if the distribution does not allow S and A."""
        if self.size not in (None, (S, A)):
            raise ValueError(
                f"S and A must be {self.size[0]} and {self.size[1]} for the tasks of {type(self).__name__}, "
                f"got {S} and {A}; set S=null A=null"
            )

    @abstractmethod
    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        """Draw the mean model of a run.

        sigma is None if another key determines it. ValueError: sigma is impossible, missing, or given with this key.
        """

    def draw_means(self, seed: int, runs: Sequence[int], S: int, A: int, sigma: float | None) -> list[MeanModel]:
        """Draw the mean models of runs, as `draw_mean` does."""
        return [self.draw_mean(seed, run, S, A, sigma) for run in runs]

    @abstractmethod
    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        """Draw the next tasks of n runs, each from its own generator.

        Tasks are drawn in order, so two calls draw the same tasks as one.
        """

    @abstractmethod
    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        """Return the variance over tasks of each entry; the largest is `mean.deviation` squared."""

    def candidates(self) -> Float[np.ndarray, "k S A S"] | None:
        """Return the k equally likely models of a task; None if infinitely many."""
        return None


Latents = Float[np.ndarray, " k"]
"""Values of the latent, the number that determines a model of a family, in its units."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The k equally likely models of a task, and their moments.

    Rows are divided by their sums. ValueError: P and R are not models.
    """

    latent: Shaped[np.ndarray, " k"]
    P: Shaped[np.ndarray, "..."]
    """Transition probabilities of each model, [k, S, A, S]."""
    R: Shaped[np.ndarray, "..."]
    """Rewards R(s, a), [k, S, A], or R(s, a, s'), [k, S, A, S]; without k, shared."""

    def __post_init__(self) -> None:
        latent, P, R = (input_checks.float64(getattr(self, name), name) for name in ("latent", "P", "R"))
        if P.ndim != 4 or P.shape[1] != P.shape[3] or len(P) != len(latent) or not P.size:
            actions_first = P.ndim == 4 and P.shape[2] == P.shape[3]
            hint = ", actions before states; swap these two axes" if actions_first else ""
            raise ValueError(
                f"P must be a non-empty array [k, S, A, S] with k = {len(latent)}, got {list(P.shape)}{hint}"
            )
        R = for_each_model(R, P)
        if R.shape not in (P.shape[:-1], P.shape):
            shapes = f"[S, A], [S, A, S], [k, S, A] or [k, S, A, S] with P {list(P.shape)}"
            raise ValueError(f"R must be {shapes}, got {list(R.shape)}")
        check_models(P, np.zeros(P.shape[:-1]))  # first, because a wrong entry spoils expected rewards
        check_models(P, expected_rewards(R, P))
        for name, array in (("latent", latent), ("P", P / P.sum(-1, keepdims=True)), ("R", R)):
            make_read_only(array)
            object.__setattr__(self, name, array)

    @cached_property
    def variance(self) -> Float[np.ndarray, "S A S"]:
        return ((self.P - self.P.mean(0)) ** 2).mean(0)

    @cached_property
    def mean(self) -> MeanModel:
        """The mean over tasks, with the largest standard deviation."""
        deviation = float(np.sqrt(self.variance.max()))
        return MeanModel(self.P.mean(0), self.R.mean(0), np.asarray((self.variance > 0).any(-1)), deviation, np.inf)


class FiniteTasks(TaskDistribution):
    """Base class of distributions of finitely many, equally likely models."""

    @abstractmethod
    def candidate_models(self) -> Candidates:
        """Return the equally likely models, if possible from a cache."""

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        if sigma is not None:
            raise ValueError(
                f"sigma must be null because the models of the tasks determine it, got {sigma}; set sigma=null"
            )
        return self.candidate_models().mean

    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        candidates = self.candidate_models()
        uniform = np.stack([rng.random(tasks) for rng in rngs], axis=1)
        index = (uniform * len(candidates.P)).astype(np.intp)
        return Tasks(candidates.P[index], candidates.R[index], candidates.latent[index])

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return self.candidate_models().variance

    def candidates(self) -> Float[np.ndarray, "k S A S"]:
        return self.candidate_models().P


class TaskFamily(FiniteTasks):
    """Base class of families of models with one parameter, the latent.

    Its values are equally spaced and equally likely.
    """

    domain: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Smallest and largest value of the latent."""

    centre: float
    """Mean of the latent, in its units."""
    spread: Annotated[float, Field(ge=0)]
    """Largest difference of the latent from its mean, in its units."""
    values: Annotated[int, Field(ge=2, le=10_000)] = 15
    """Number of equally spaced values of the latent."""

    @model_validator(mode="after")
    def _within_the_domain(self) -> "TaskFamily":
        low, high = self.domain
        if not (low <= self.centre - self.spread + 1e-12 and self.centre + self.spread <= high + 1e-12):
            raise ValueError(
                f"centre - spread and centre + spread must be between {low:g} and {high:g}, got centre={self.centre} "
                f"and spread={self.spread}"
            )
        return self

    def latents(self) -> Latents:
        """Return the values of the latent, ascending."""
        values = np.linspace(self.centre - self.spread, self.centre + self.spread, self.values)
        return np.clip(values, *self.domain)

    @abstractmethod
    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        """Return P and R for values of the latent.

        R is [k, S, A] or [k, S, A, S], without k if shared.
        """

    def candidate_models(self) -> Candidates:
        return _candidates(self)


@lru_cache(maxsize=2)  # the models of the largest family take 100 MB
def _candidates(family: TaskFamily) -> Candidates:
    latent = family.latents()
    if family.size is not None:
        S, A = family.size
        check_memory(8 * len(latent) * S * A * S, f"{type(family).__name__} with {S} states")
    try:
        return Candidates(latent, *family.models(latent))
    except ValueError as error:
        raise ValueError(f"{type(family).__name__}.models: {error}") from error
