"""The discount factor with the smallest loss on transitions that were held out."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Int
from pydantic import Field

from pomrl.components import Agent, Batch, Counts, Decision, TaskData


class CrossValidatedGamma(Agent[None]):
    """The discount factor whose policy has the smallest loss in the frequencies of transitions that were held out.

    The task's transitions are divided into parts at random. The policies of all discount factors of the schedule are
    planned on the estimate from all parts but one, and judged on the frequencies of that one.
    """

    chooses_gamma: ClassVar[bool] = True

    folds: Annotated[int, Field(ge=2, le=100)] = 5
    """Parts that the transitions of a task are divided into."""

    @property
    def plans_per_gamma(self) -> int:
        return 9 * self.folds

    def act(self, task: TaskData, memory: None) -> Decision:
        counts, m = task.batch.counts, task.batch.m
        parts = [_divide(of_run, rng, self.folds) for of_run, rng in zip(counts, task.rngs, strict=True)]
        losses = []
        for part in np.stack(parts, axis=1):
            policy = task.plan(task.believe(Batch.of_counts(counts - part, m)).P_hat, task.gammas)
            losses.append(task.losses(Batch.of_counts(part, m).P_bar, policy))
        return Decision.best(task, np.mean(losses, axis=0))


def _divide(counts: Counts, rng: np.random.Generator, parts: int) -> Int[np.ndarray, "{parts} S A S"]:
    """Divide transitions into parts at random, whose sizes differ by at most one."""
    transitions = rng.permutation(np.repeat(np.arange(counts.size), counts.ravel()))
    of_parts = np.array_split(transitions, parts)
    return np.stack([np.bincount(part, minlength=counts.size).reshape(counts.shape) for part in of_parts])
