"""Task distributions of the paper, around a random chain P_o (Sec. 5, App. F)."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import ceil, sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Bool, Float
from pydantic import Field

from pomrl.science.mdp import random_chain_mdp, random_chain_mdps
from pomrl.science.randomness import Generators, GeneratorsOfRuns, Stream, task_keys
from pomrl.science.sampling import draws, elementary
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution, Tasks

MIN_DEVIATION = 4096.0 * float(np.finfo(float).eps)
"""Smallest positive sigma, as a standard deviation: about 9.1e-13. Below it, rounding adds to the spread of models."""

MIN_CONCENTRATION = float(np.finfo(float).eps)
"""Smallest concentration of a Dirichlet, in place of one rounded to 0."""

NOTEBOOK_CONCENTRATIONS = {0.01: 1.5, 0.025: 0.75, 0.047: 0.375}
"""The multiple of S in the concentration of the authors' notebook, by the sigma of the paper."""


def _are_inherited(distribution: TaskDistribution, owner: type, *methods: str) -> bool:
    """Return whether methods are those of `owner`, so that runs can be drawn together without them."""
    return all(getattr(type(distribution), method) is getattr(owner, method) for method in methods)


class RandomChains(TaskDistribution):
    """Base class of distributions around random chains."""

    measure: Literal["variance", "std"] = "variance"
    """Whether sigma is a variance or a standard deviation (R1)."""
    zeros: Annotated[int, Field(ge=0)]
    """Number of next states with probability 0 in each row of the mean model, before smoothing (R15)."""
    mean_model: Literal["per_run", "fixed"] = "per_run"
    """A mean model for each run, or one for all runs (R6)."""
    mean_seed: Annotated[int, Field(ge=0)] = 0
    """Seed of a fixed mean model (R6)."""
    smoothing: Annotated[float, Field(ge=0)] = 0.0
    """Number added to each probability of the mean model before its rows are normalised."""
    varying: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Fraction of the pairs (s,a) in which tasks differ, rounded up."""
    reward: Literal["state_action", "state"] = "state_action"
    """Whether the reward depends on the action (R14)."""
    reward_spread: Annotated[float, Field(ge=0)] = 0.0
    """Standard deviation over tasks of each normally distributed reward; 0: the same rewards in all tasks."""

    def check(self, S: int, A: int) -> None:
        if self.zeros > S - 1:
            raise ValueError(f"task_distribution.zeros must be at most S - 1 = {S - 1}, got {self.zeros}")

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        mean_seed, mean_run = self.mean_key(seed, run)
        rngs = GeneratorsOfRuns(mean_seed, [mean_run], Stream.MEAN_MODEL)
        return self._draw_means(rngs, [run], S, A, sigma)[0]

    def draw_means(self, seed: int, runs: Sequence[int], S: int, A: int, sigma: float | None) -> list[MeanModel]:
        if not _are_inherited(self, RandomChains, "draw_mean", "mean_key"):
            return super().draw_means(seed, runs, S, A, sigma)
        if self.mean_model == "fixed":
            return super().draw_means(seed, runs[:1], S, A, sigma) * len(runs)
        return self._draw_means(GeneratorsOfRuns(seed, runs, Stream.MEAN_MODEL), runs, S, A, sigma)

    def _draw_means(
        self, rngs: Generators, runs: Sequence[int], S: int, A: int, sigma: float | None
    ) -> list[MeanModel]:
        chains, R = random_chain_mdps(rngs, S, A, self.zeros)
        if self.reward == "state":
            R = np.repeat(R[:, :, :1], A, axis=2)
        varying = np.ones((len(rngs), S, A), bool)
        if self.varying < 1:
            pairs = ceil(round(self.varying * S * A, 9))  # rounded first, because 0.2 * 30 exceeds 6 in binary
            varying = np.array([rng.permutation(S * A) < pairs for rng in rngs]).reshape(-1, S, A)
        return [
            self._mean(chain, rewards, mask, sigma, run)
            for chain, rewards, mask, run in zip(chains, R, varying, runs, strict=True)
        ]

    def _mean(
        self,
        chain: Float[np.ndarray, "S A S"],
        R: Float[np.ndarray, "S A"],
        varying: Bool[np.ndarray, "S A"],
        sigma: float | None,
        run: int,
    ) -> MeanModel:
        P_o = self._smooth(chain)
        rows = P_o[varying]
        deviation, largest = self._deviation(sigma, rows), self._largest_deviation(rows)
        mean = MeanModel(P_o, R, varying, deviation, largest, chain if self.smoothing else None)
        self._check_sigma(sigma, mean, run)
        return mean

    def mean_key(self, seed: int, run: int) -> tuple[int, int]:
        """Return the seed and run for draws of mean models."""
        return (seed, run) if self.mean_model == "per_run" else (self.mean_seed, 0)

    def _smooth(self, chain: Float[np.ndarray, "S A S"]) -> Float[np.ndarray, "S A S"]:
        return (chain + self.smoothing) / (1.0 + self.smoothing * chain.shape[-1]) if self.smoothing else chain

    def recentre(self, mean: MeanModel, P_o: Float[np.ndarray, "S A S"]) -> MeanModel:
        """Replace P_o and keep sigma, even if impossible (`MeanModel.has_room`)."""
        unsmoothed = None if mean.unsmoothed is None else P_o
        return replace(
            mean, P_o=P_o, largest_deviation=self._largest_deviation(P_o[mean.varying]), unsmoothed=unsmoothed
        )

    def another_mean(self, rng: np.random.Generator, mean: MeanModel) -> MeanModel:
        """Draw another mean model with the same rewards, sigma and varying pairs.

        ValueError: sigma is impossible with its P_o.
        """
        S, A, _ = mean.P_o.shape
        chain, _ = random_chain_mdp(rng, S, A, self.zeros)
        other = self.recentre(mean, self._smooth(chain))
        if not other.has_room:
            raise ValueError(
                f"sigma must be below {other.largest_deviation:.6g} as a standard deviation, got {mean.deviation:.6g} "
                f"({type(self).__name__} on another mean model of the stream)"
            )
        return replace(other, unsmoothed=chain) if self.smoothing else other

    def _deviation(self, sigma: float | None, P_o: Float[np.ndarray, "pairs S"]) -> float:
        if sigma is None:
            raise ValueError("sigma must be a number, got null")
        return sqrt(sigma) if self.measure == "variance" else float(sigma)

    def _check_sigma(self, sigma: float | None, mean: MeanModel, run: int) -> None:
        power = 2 if self.measure == "variance" else 1
        if 0 < mean.deviation < MIN_DEVIATION:
            raise ValueError(
                f"sigma must be 0 or at least {MIN_DEVIATION**power:.3g} as a {self.measure}, got {sigma}: tasks "
                "would differ only by rounding errors"
            )
        if not mean.has_room:
            largest = mean.largest_deviation**power
            limit = f"below {largest:.6g} as a {self.measure}" if largest else "0 for rows with a single next state"
            raise ValueError(
                f"sigma must be {limit}, got {sigma} ({type(self).__name__} on the mean model of "
                f"run {run}, task_distribution.zeros={self.zeros})"
            )

    def draw_tasks(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        """Draw the next models P_t of a run, with P_o outside `mean.varying`."""
        if mean.deviation == 0:
            return np.broadcast_to(mean.P_o, (tasks, *mean.P_o.shape))
        models = self._draw(rng, mean, tasks)
        return models if mean.varying.all() else np.where(mean.varying[..., None], models, mean.P_o)

    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        R = np.stack([mean.R for mean in means])
        if not self.reward_spread:
            P = self._draw_runs(rngs, means, tasks)
            return Tasks(P, np.broadcast_to(R, (tasks, *R.shape)))
        shape = (R.shape[1], R.shape[2] if self.reward == "state_action" else 1)
        P, deviates = np.empty((tasks, *R.shape, R.shape[1])), np.empty((tasks, len(R), *shape))
        for t in range(tasks):  # task by task, so that two calls draw the same as one
            for i, (rng, mean) in enumerate(zip(rngs, means, strict=True)):
                P[t, i], deviates[t, i] = self.draw_tasks(rng, mean, 1)[0], rng.standard_normal(shape)
        return Tasks(P, R + self.reward_spread * deviates)

    def _draw_runs(
        self, rngs: Generators, means: Sequence[MeanModel], tasks: int
    ) -> Float[np.ndarray, "tasks n S A S"]:
        runs = zip(rngs, means, strict=True)
        return np.stack([self.draw_tasks(rng, mean, tasks) for rng, mean in runs], axis=1)

    @abstractmethod
    def _largest_deviation(self, P_o: Float[np.ndarray, "pairs S"]) -> float:
        """Return the exclusive upper limit of the deviation, from rows of varying pairs."""

    @abstractmethod
    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        """Draw the next models, in order, for sigma > 0, varying in all pairs."""


class Dirichlet(RandomChains):
    """P_t(s,a) ~ Dir(c P_o(s,a)) on P_o's support, with one concentration c (App. F).

    An entry with mean p has the variance p (1 - p) / (c + 1); sigma sets the largest one. With the measure `notebook`,
    sigma is the name of a concentration (`NOTEBOOK_CONCENTRATIONS`), or 0. The key `concentration_over_S` sets c
    instead of sigma.
    """

    measure: Literal["variance", "std", "notebook"] = "variance"  # pyright: ignore[reportIncompatibleVariableOverride]
    """Whether sigma is a variance, a standard deviation, or names a concentration of the authors' notebook (R1)."""
    concentration_over_S: Annotated[float | None, Field(gt=0)] = None
    """Sets c = concentration_over_S S (1 + smoothing S) instead of sigma, which must be null; null: c follows from
    sigma."""

    def concentration(self, mean: MeanModel) -> float:
        """Return c = max p (1 - p) / deviation^2 - 1; infinite if tasks do not differ."""
        return mean.largest_deviation**2 / mean.deviation**2 - 1.0 if mean.deviation > 0 else np.inf

    def _deviation(self, sigma: float | None, P_o: Float[np.ndarray, "pairs S"]) -> float:
        factor = self._concentration_over_S(sigma)
        if factor is None:
            return super()._deviation(sigma, P_o)
        S = P_o.shape[-1]
        return self._largest_deviation(P_o) / sqrt(factor * S * (1.0 + self.smoothing * S) + 1.0)

    def _concentration_over_S(self, sigma: float | None) -> float | None:
        if self.concentration_over_S is not None:
            if sigma is not None:
                setting = f"task_distribution.concentration_over_S={self.concentration_over_S}"
                raise ValueError(f"sigma must be null with {setting}, got {sigma}; set sigma=null")
            return self.concentration_over_S
        if sigma is None:
            raise ValueError("sigma must be a number unless task_distribution.concentration_over_S is set, got null")
        if self.measure != "notebook" or sigma == 0:
            return None
        if sigma not in NOTEBOOK_CONCENTRATIONS:
            names = ", ".join(map(str, NOTEBOOK_CONCENTRATIONS))
            raise ValueError(
                f"sigma must be 0, {names} with task_distribution.measure=notebook, got {sigma}; set sigma=null and "
                "task_distribution.concentration_over_S=NUMBER for others"
            )
        return NOTEBOOK_CONCENTRATIONS[sigma]

    def recentre(self, mean: MeanModel, P_o: Float[np.ndarray, "S A S"]) -> MeanModel:
        """Replace P_o, and keep c if it was given, otherwise sigma."""
        moved = super().recentre(mean, P_o)
        if self.concentration_over_S is None and self.measure != "notebook":
            return moved
        share = mean.deviation / mean.largest_deviation if mean.largest_deviation else 0.0
        return replace(moved, deviation=share * moved.largest_deviation)

    def _largest_deviation(self, P_o: Float[np.ndarray, "pairs S"]) -> float:
        return sqrt((P_o * (1.0 - P_o)).max())  # the limit for c = 0, where each row of P_t has a single next state

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        P_o = mean.P_o * mean.varying[..., None]
        return P_o * (1.0 - P_o) / (self.concentration(mean) + 1.0)

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return self._draw_models([rng], [mean], tasks)[:, 0]

    def _draw_runs(
        self, rngs: Generators, means: Sequence[MeanModel], tasks: int
    ) -> Float[np.ndarray, "tasks n S A S"]:
        is_inherited = _are_inherited(self, Dirichlet, "_draw", "draw_tasks")
        if not is_inherited or any(mean.deviation == 0 or not mean.varying.all() for mean in means):
            return super()._draw_runs(rngs, means, tasks)
        return self._draw_models(rngs, means, tasks)

    def _draw_models(
        self, rngs: Generators, means: Sequence[MeanModel], tasks: int
    ) -> Float[np.ndarray, "tasks n S A S"]:
        concentration = [max(self.concentration(mean), MIN_CONCENTRATION) for mean in means]
        P_o = np.stack([mean.P_o for mean in means])
        shapes = np.array(concentration)[:, None, None] * P_o.reshape(len(means), -1, P_o.shape[-1])
        return draws.dirichlet(task_keys(rngs, tasks), shapes).reshape(tasks, *P_o.shape)


class Gaussian(RandomChains):
    """P_t = P_o + normal noise on P_o's support, clipped at 0 and normalised (R9).

    Rows without positive entries are drawn again. sigma is the variance or standard deviation of the noise; clipping
    and normalising change the moments.
    """

    has_exact_moments: ClassVar[bool] = False

    def _largest_deviation(self, P_o: Float[np.ndarray, "pairs S"]) -> float:
        return np.inf

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return np.where((mean.P_o > 0) & mean.varying[..., None], mean.deviation**2, 0.0)

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        return np.stack([self._draw_task(rng, mean) for _ in range(tasks)])

    def _draw_task(self, rng: np.random.Generator, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        weight = np.zeros_like(mean.P_o)
        while (empty := weight.sum(-1) == 0).any():
            P_o = mean.P_o[empty]
            noise = mean.deviation * rng.standard_normal(P_o.shape)
            weight[empty] = np.where(P_o > 0, np.maximum(P_o + noise, 0.0), 0.0)
        return weight / weight.sum(-1, keepdims=True)


class UniformBall(RandomChains):
    """P_t(s,a) = P_o(s,a) + a uniform point of a Euclidean ball, with sum zero on the support.

    These tasks are bounded almost surely, as the theory assumes (Eq. 3). In a row with k supported states, a ball with
    entries of at most b gives each the variance b^2/(k + 1). Entries stay in [0, 1], so b is at most the smallest
    supported entry. Rows with too little room for sigma vary as much as possible; rows with a single state do not vary.
    """

    def almost_sure_radius(self, mean: MeanModel) -> float:
        """Return the smallest b with |P_t - P_o| <= b almost surely (Eq. 3)."""
        return float(self._reach(mean).max())

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        _, scale = self._room(mean.P_o)
        return np.where(mean.P_o > 0, (self._reach(mean) / scale)[..., None] ** 2, 0.0)

    def _reach(self, mean: MeanModel) -> Float[np.ndarray, "S A"]:
        room, scale = self._room(mean.P_o)
        return np.where(mean.varying, np.minimum(mean.deviation * scale, room), 0.0)

    @staticmethod
    def _room(P_o: Float[np.ndarray, "*n S"]) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
        """Return the largest possible b of each row, and b / sigma."""
        states = (P_o > 0).sum(-1)
        room = np.where(P_o > 0, P_o, 1.0).min(-1)
        return np.where(states > 1, room, 0.0), np.sqrt(states + 1.0)

    def _largest_deviation(self, P_o: Float[np.ndarray, "pairs S"]) -> float:
        room, scale = self._room(P_o)
        return float((room / scale).max())

    def _draw(self, rng: np.random.Generator, mean: MeanModel, tasks: int) -> Float[np.ndarray, "tasks S A S"]:
        """Draw a uniform point in the ball of each row."""
        normals, uniforms = np.empty((tasks, *mean.P_o.shape)), np.empty((tasks, *mean.P_o.shape[:-1], 1))
        for t in range(tasks):  # task by task, so that two calls draw the same as one
            rng.standard_normal(out=normals[t])
            rng.random(out=uniforms[t])
        supported = mean.P_o > 0
        states = supported.sum(-1, keepdims=True)
        direction = np.where(supported, normals, 0.0)
        direction -= np.where(supported, direction.sum(-1, keepdims=True) / states, 0.0)
        dimension = np.maximum(states - 1.0, 1.0)
        reach = self._reach(mean)[..., None] * np.sqrt(states / dimension)  # an entry moves less than its vector
        radius = reach * elementary.power(uniforms, 1.0 / dimension)
        length = np.sqrt((direction**2).sum(-1, keepdims=True))
        moved = mean.P_o + np.divide(radius, length, out=np.zeros_like(length), where=states > 1) * direction
        moved = np.maximum(moved, 0.0)  # at the edge of the ball rounding may make an entry negative
        return moved / moved.sum(-1, keepdims=True)  # entries of a short direction sum to 0 only up to rounding
