"""Families with several latents or independent rows, written before any learner was run on them."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field
from scipy.stats import binom

from pomrl.components import (
    Candidates,
    FiniteTasks,
    Generators,
    Latents,
    MeanModel,
    Rewards,
    TaskDistribution,
    TaskFamily,
    Tasks,
)

Spread = Annotated[float, Field(gt=0, lt=0.5)]


class Workshop(FiniteTasks):
    """A workshop with two independent latents: the yield of production, and the demand.

    The state is the number of items in store, up to `capacity`. Action a starts a items; each succeeds with the
    probability of the yield. Each of four customers comes with the probability of the demand, and takes an item in
    store. New items come after the customers. Each of the first three items in store earns 4, a started item costs 2,
    and an item in store 0.5. Both latents have `values` equally spaced values.
    """

    spread: Spread = 0.05
    """Largest difference of each latent from its mean; 0.05 is small and 0.15 large."""
    yield_centre: float = 0.6
    """Mean yield."""
    demand_centre: float = 0.4
    """Mean demand."""
    capacity: Annotated[int, Field(ge=3, le=200)] = 12
    """The largest number of items in store."""
    values: Annotated[int, Field(ge=2, le=100)] = 7
    """Number of values of each latent."""

    customers: ClassVar[int] = 4
    largest_start: ClassVar[int] = 3

    @property
    def size(self) -> tuple[int, int]:
        return self.capacity + 1, self.largest_start + 1

    def candidate_models(self) -> Candidates:
        deviations = np.linspace(-self.spread, self.spread, self.values)
        grid = np.meshgrid(self.yield_centre + deviations, self.demand_centre + deviations, indexing="ij")
        yields, demands = (axis.ravel() for axis in grid)
        return Candidates(np.arange(len(yields)), self._models(yields, demands), self._rewards())

    def _models(
        self, yields: Float[np.ndarray, " k"], demands: Float[np.ndarray, " k"]
    ) -> Float[np.ndarray, "k S A S"]:
        (S, A), k = self.size, len(yields)
        sales, made = np.arange(self.customers + 1), np.arange(A)
        customer_chance = binom.pmf(sales, self.customers, demands[:, None])
        success_chance = binom.pmf(made, np.arange(A)[:, None], yields[:, None, None])
        P = np.zeros((k, S, A, S))
        for s, sold, new in np.ndindex(S, len(sales), len(made)):
            after = min(max(s - sold, 0) + new, self.capacity)
            P[:, s, :, after] += customer_chance[:, sold, None] * success_chance[:, :, new]
        return P

    def _rewards(self) -> Float[np.ndarray, "S A"]:
        S, A = self.size
        items = np.arange(S)
        return (4.0 * np.minimum(items, 3) - 0.5 * items)[:, None] - 2.0 * np.arange(A)


class Fishery(TaskFamily):
    """A fishery; the latent is the growth, the probability of an offspring of a fish without crowding.

    The state is the stock in units, up to `capacity`. Actions are four efforts, which catch each unit with probability
    0, 0.15, 0.3 or 0.5. Each unit of the stock x that is left has an offspring with probability growth * (1 - x /
    capacity). A unit comes from outside with probability 0.1. A unit caught on average earns 2, and effort a costs 0.4
    a (cf. Clark 1990, Mathematical Bioeconomics).
    """

    capacity: Annotated[int, Field(ge=2, le=100)] = 14
    """The largest stock, in units."""

    catch_chances: ClassVar[tuple[float, ...]] = (0.0, 0.15, 0.3, 0.5)

    @property
    def size(self) -> tuple[int, int]:
        return self.capacity + 1, len(self.catch_chances)

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        catch, stock = np.array(self.catch_chances), np.arange(self.capacity + 1)
        stays = binom.pmf(stock, stock[:, None, None], 1.0 - catch[:, None])  # S, A, stock left
        grows = self._growth(latent, stock)  # k, stock left, next stock
        P = np.einsum("saj,kjn->ksan", stays, grows)
        return P, 2.0 * stock[:, None] * catch - 0.4 * np.arange(len(catch))

    def _growth(self, latent: Latents, stock: Int[np.ndarray, " S"]) -> Float[np.ndarray, "k S S"]:
        S, chance = len(stock), latent[:, None] * (1.0 - stock / self.capacity)
        grows = np.zeros((len(latent), S, S))
        for left in range(S):
            for born in range(left + 1):
                probability = binom.pmf(born, left, chance[:, left])
                for arrival, arrival_chance in ((0, 0.9), (1, 0.1)):
                    grows[:, left, min(left + born + arrival, self.capacity)] += probability * arrival_chance
        return grows


class GarnetRows(TaskDistribution):
    """Random sparse models with independent rows: no latent connects two rows.

    A run draws its mean model: each pair (s, a) has four random successors with probabilities from uniform cuts, and a
    uniform reward in [0, 1]. Rows of tasks are Dirichlet distributed around the rows of the mean model. `spread` is the
    largest standard deviation of an entry.
    """

    spread: Spread = 0.05
    """Largest standard deviation of an entry of the model; 0.05 is small and 0.15 large."""
    states: Annotated[int, Field(ge=4, le=1000)] = 20
    """Number of states."""
    actions: Annotated[int, Field(ge=1, le=100)] = 3
    """Number of actions."""

    branching: ClassVar[int] = 4

    @property
    def size(self) -> tuple[int, int]:
        return self.states, self.actions

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        _check_no_sigma(sigma)
        rng, b = np.random.default_rng((seed, run)), self.branching
        cuts = np.sort(rng.random((S, A, b - 1)), axis=-1)
        chances = np.diff(np.concatenate([np.zeros((S, A, 1)), cuts, np.ones((S, A, 1))], axis=-1))
        P_o = np.zeros((S, A, S))
        np.put_along_axis(P_o, rng.random((S, A, S)).argsort(-1)[..., :b], chances, axis=-1)
        return MeanModel(P_o, rng.random((S, A)), np.ones((S, A), bool), self.spread, np.inf)

    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        P_o, R = (np.stack([getattr(mean, name) for mean in means]) for name in ("P_o", "R"))
        shape = np.stack([self._concentration(mean) * mean.P_o for mean in means])
        P = np.stack([[rng.standard_gamma(row) for rng, row in zip(rngs, shape, strict=True)] for _ in range(tasks)])
        total = P.sum(-1, keepdims=True)
        return Tasks(
            np.where(total > 0, P / np.where(total > 0, total, 1.0), P_o), np.broadcast_to(R, (tasks, *R.shape))
        )

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return mean.P_o * (1.0 - mean.P_o) / (self._concentration(mean) + 1.0)

    def _concentration(self, mean: MeanModel) -> float:
        return float((mean.P_o * (1.0 - mean.P_o)).max()) / self.spread**2 - 1.0


class IcyGrid(TaskDistribution):
    """A 5 x 5 grid with ice; each cell has its own latent, the probability of slipping from it.

    Actions move up, right, down or left. On a slip, the move is at a right angle, with equal probability to both sides.
    Latents are independent and uniform. The lower right cell earns 1 and leads to the upper left cell. Three holes cost
    1 and lead there, too. A wall leaves the state unchanged.
    """

    centre: float = 0.35
    """Mean probability of slipping."""
    spread: Spread = 0.05
    """Largest difference of a latent from its mean; 0.05 is small and 0.15 large."""

    side: ClassVar[int] = 5
    holes: ClassVar[tuple[int, ...]] = (7, 13, 21)

    @property
    def size(self) -> tuple[int, int]:
        return self.side**2, 4

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        _check_no_sigma(sigma)
        straight, slips = self._moves()
        difference = slips - straight
        deviation = float(np.abs(difference).max()) * self.spread / np.sqrt(3.0)
        varying = (difference != 0).any(-1)
        return MeanModel(straight + self.centre * difference, self._rewards(), varying, deviation, np.inf)

    def draw(self, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
        straight, slips = self._moves()
        uniform = np.stack([rng.uniform(-self.spread, self.spread, (tasks, len(straight))) for rng in rngs], axis=1)
        P = straight + (self.centre + uniform)[..., None, None] * (slips - straight)
        return Tasks(P, np.broadcast_to(self._rewards(), (tasks, len(means), *self.size)))

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        straight, slips = self._moves()
        return (slips - straight) ** 2 * self.spread**2 / 3.0

    def _moves(self) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A S"]]:
        """Return the models without a slip, and with certain slips."""
        S, A = self.size
        row, column = np.divmod(np.arange(S), self.side)
        straight = np.zeros((S, A, S))
        for action, (down, right) in enumerate([(-1, 0), (0, 1), (1, 0), (0, -1)]):
            rows, columns = np.clip(row + down, 0, self.side - 1), np.clip(column + right, 0, self.side - 1)
            straight[np.arange(S), action, rows * self.side + columns] = 1.0
        slips = 0.5 * (straight[:, [1, 2, 3, 0]] + straight[:, [3, 0, 1, 2]])
        for moves in (straight, slips):
            moves[[*self.holes, S - 1]] = np.eye(S)[0]
        return straight, slips

    def _rewards(self) -> Float[np.ndarray, "S A"]:
        R = np.zeros(self.size)
        R[-1], R[[*self.holes]] = 1.0, -1.0
        return R


def _check_no_sigma(sigma: float | None) -> None:
    if sigma is not None:
        raise ValueError(f"sigma must be null, because it follows from the spread, got {sigma}")
