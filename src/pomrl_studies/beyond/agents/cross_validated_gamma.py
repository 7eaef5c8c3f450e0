"""Select the discount factor by cross-validation."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Int
from pydantic import Field

from pomrl.components import Agent, Batch, Counts, Decision, TaskData


class CrossValidatedGamma(Agent[None]):
    """The discount factor with the smallest loss on held-out transitions.

    Policies are planned on all folds but one, and evaluated on the frequencies of the remaining fold.
    """

    chooses_gamma: ClassVar[bool] = True

    folds: Annotated[int, Field(ge=2, le=100)] = 5
    """Number of folds of the transitions of a task."""

    @property
    def plans_per_gamma(self) -> int:
        return 9 * self.folds

    def act(self, task: TaskData, memory: None) -> Decision:
        counts, m = task.batch.counts, task.batch.m
        run_folds = [_divide(run_counts, rng, self.folds) for run_counts, rng in zip(counts, task.rngs, strict=True)]
        losses = []
        for fold in np.stack(run_folds, axis=1):
            policy = task.plan(task.believe(Batch.of_counts(counts - fold, m)).P_hat, task.gammas)
            losses.append(task.losses(Batch.of_counts(fold, m).P_bar, policy))
        return Decision.best(task, np.mean(losses, axis=0))


def _divide(counts: Counts, rng: np.random.Generator, folds: int) -> Int[np.ndarray, "{parts} S A S"]:
    transitions = rng.permutation(np.repeat(np.arange(counts.size), counts.ravel()))
    members = np.array_split(transitions, folds)
    return np.stack([np.bincount(fold, minlength=counts.size).reshape(counts.shape) for fold in members])
