"""Random grids, and random chains with slow mixing."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from jaxtyping import Float

from pomrl.components import Field, MeanModel, TaskDistribution, Tasks

MOVES = np.array([[-1, 0], [1, 0], [0, 1], [0, -1], [0, 0]])
"""The moves of the actions in a grid, in rows and columns."""


class DrawnWorld(TaskDistribution):
    """Base class of worlds drawn once for all tasks of a run."""

    @abstractmethod
    def world(self, rng: np.random.Generator) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A"]]:
        """Draw transition probabilities and rewards."""

    def draw_mean(self, seed: int, run: int, S: int, A: int, sigma: float | None) -> MeanModel:
        P, R = self.world(np.random.default_rng([seed, run]))
        return MeanModel(P, R, np.zeros(R.shape, bool), 0.0, np.inf)

    def draw(self, rngs: Sequence[np.random.Generator], means: Sequence[MeanModel], tasks: int) -> Tasks:
        P, R = (np.stack([getattr(mean, name) for mean in means]) for name in ("P_o", "R"))
        return Tasks(np.broadcast_to(P, (tasks, *P.shape)), np.broadcast_to(R, (tasks, *R.shape)))

    def variance(self, mean: MeanModel) -> Float[np.ndarray, "S A S"]:
        return np.zeros(mean.P_o.shape)


class DrawnGrid(DrawnWorld):
    """A grid with a random probability of success for each move.

    The state is row * side + column. Actions move to the four neighbours, or stay; failed moves stay. Success
    probabilities are uniform in [0, 1). Rewards depend on the state alone and are uniform in [-0.5, 0.5); one random
    state pays 1.
    """

    side: Annotated[int, Field(ge=2, le=30)] = 4
    """Number of places along a side."""

    @property
    def size(self) -> tuple[int, int]:
        return self.side**2, len(MOVES)

    def world(self, rng: np.random.Generator) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A"]]:
        S, A = self.size
        s, a = np.indices((S, A))
        moved = np.stack(np.divmod(s, self.side), axis=-1) + MOVES
        legal = ((moved >= 0) & (moved < self.side)).all(-1)
        works = np.where(legal, rng.random((S, A)), 0.0)
        P = np.zeros((S, A, S))
        P[s, a, np.where(legal, moved @ [self.side, 1], s)] += works
        P[s, a, s] += 1.0 - works
        reward = rng.uniform(-0.5, 0.5, S)
        reward[rng.integers(S)] = 1.0
        return P, np.repeat(reward[:, None], A, axis=1)


class TwoGroups(DrawnWorld):
    """Random chains of two groups of states, with rare steps between them.

    A pair (s, a) leads to two states in the group of s, with normalised uniform weights. With probability `leave` it
    leads to one random state instead. The mixing time, one over the spectral gap under the uniform policy, is about
    1 / leave.
    """

    states: Annotated[int, Field(ge=4, le=1000)] = 10
    """Number of states, half of them in each group."""
    actions: Annotated[int, Field(ge=1, le=100)] = 5
    """Number of actions."""
    leave: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Probability of a step to any state."""

    @property
    def size(self) -> tuple[int, int]:
        return self.states, self.actions

    def world(self, rng: np.random.Generator) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A"]]:
        (S, A), group = self.size, 2 * np.arange(self.states) // self.states
        other = (group[:, None] != group)[:, None]
        rank = (rng.random((S, A, S)) + other).argsort(-1).argsort(-1)
        weight = np.where(rank < 2, 1.0 - rng.random((S, A, S)), 0.0)
        anywhere = np.eye(S)[rng.integers(S, size=(S, A))]
        P = (1.0 - self.leave) * weight / weight.sum(-1, keepdims=True) + self.leave * anywhere
        return P, rng.random((S, A))
