"""SARSA and Q-learning on the transitions of a task, which know no model."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field

from pomrl.science.agents.agent import Agent, Decision, TaskData


class TemporalDifference(Agent[None]):
    """Learns action values from transitions that are drawn from the task's own with replacement, and acts greedily.

    Step i moves Q(s, a) by the share rate / (delay + i) to its target: R + gamma Q(s', a') with an action a' that is
    drawn from the frequencies of actions in the data at s' (SARSA, which evaluates the behaviour), or
    R + gamma max Q(s', .) (Q-learning). Values start at the mean reward / (1 - gamma). Each step costs about 30
    microseconds for all runs and discount factors together.
    """

    discounts: ClassVar[bool] = True

    target: Literal["sarsa", "q_learning"]
    """What the value of the next state is: that of the behaviour's action, or that of the best."""
    steps: Annotated[int, Field(ge=1, le=10**6)] = 2000
    """Transitions that are drawn."""
    rate: Annotated[float, Field(gt=0)] = 50.0
    """Numerator of the learning rate."""
    delay: Annotated[float, Field(gt=0)] = 100.0
    """What is added to the number of the step in its denominator."""

    @property
    def plans_per_gamma(self) -> int:
        return self.steps

    def act(self, task: TaskData, memory: None) -> Decision:
        R, gammas, run = task.R, task.gammas, np.arange(len(task.R))
        mean = R.reshape(len(R), 1, -1).mean(-1) / (1.0 - gammas)
        Q = np.broadcast_to(mean[..., None, None], (*gammas.shape, *R.shape[1:3])).copy()
        for i, (s, a, after, b) in enumerate(self._drawn(task)):
            reward = R[run, s, a] if R.ndim == 3 else R[run, s, a, after]
            value = Q[run, :, after, b] if self.target == "sarsa" else Q[run, :, after].max(-1)
            error = reward[:, None] + gammas * value - Q[run, :, s, a]
            Q[run, :, s, a] += min(self.rate / (self.delay + i), 1.0) * error
        return Decision(Q.argmax(-1), gammas)

    def _drawn(self, task: TaskData) -> Int[np.ndarray, "steps 4 n"]:
        """Draw transitions of each run, with the action that is taken after each."""
        counts = task.batch.counts
        actions = np.broadcast_to(counts.sum(-1), counts.shape[:-1])
        parts = []
        for of_run, taken, rng in zip(counts, actions, task.rngs, strict=True):
            u = rng.random((2, self.steps))
            s, a, after = np.unravel_index(_index(of_run.ravel(), u[0]), of_run.shape)
            often = np.where(taken.sum(-1, keepdims=True) > 0, taken, 1).cumsum(-1)
            b = (u[1, :, None] * often[after, -1:] >= often[after]).sum(-1)
            parts.append(np.stack([s, a, after, b], axis=1))
        return np.stack(parts, axis=-1)


def _index(counts: Int[np.ndarray, " k"], u: Float[np.ndarray, " steps"]) -> Int[np.ndarray, " steps"]:
    """Return indices in proportion to counts, for uniform numbers u."""
    upto = counts.cumsum()
    return np.searchsorted(upto, (u * upto[-1]).astype(np.intp), side="right")
