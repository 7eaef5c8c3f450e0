"""Garnet: random models with few successors (Archibald, McKinnon and Thomas 1995)."""

from typing import Annotated

import numpy as np
from jaxtyping import Float
from pydantic import Field, model_validator

from pomrl.components import Latents, Rewards, TaskFamily


class Garnet(TaskFamily):
    """Mixtures of two random models with shared successors; the latent is the weight of the second."""

    states: Annotated[int, Field(ge=2, le=10_000)] = 20
    """Number of states."""
    actions: Annotated[int, Field(ge=1, le=1000)] = 3
    """Number of actions."""
    branching: Annotated[int, Field(ge=1)] = 4
    """Number of random successors of each pair (s, a)."""
    model_seed: Annotated[int, Field(ge=0)] = 0
    """Seed of the two models."""

    @model_validator(mode="after")
    def _few_successors(self) -> "Garnet":
        if self.branching > self.states:
            raise ValueError(f"branching must be at most states={self.states}, got {self.branching}")
        return self

    @property
    def size(self) -> tuple[int, int]:
        return self.states, self.actions

    def models(self, latent: Latents) -> tuple[Float[np.ndarray, "k S A S"], Rewards]:
        (S, A), b = self.size, self.branching
        rng = np.random.default_rng(self.model_seed)
        successors = np.stack([rng.random((A, S)).argsort(-1)[:, :b] for _ in range(S)])
        cuts = np.sort(rng.random((2, S, A, b - 1)), axis=-1)
        edges = np.concatenate([np.zeros((2, S, A, 1)), cuts, np.ones((2, S, A, 1))], axis=-1)
        ends, R = np.diff(edges), rng.random((S, A))
        weight, P, (state, action) = latent[:, None, None], np.zeros((len(latent), S, A, S)), np.indices((S, A))
        for i in range(b):
            P[:, state, action, successors[..., i]] += (1.0 - weight) * ends[0, ..., i] + weight * ends[1, ..., i]
        return P, R
