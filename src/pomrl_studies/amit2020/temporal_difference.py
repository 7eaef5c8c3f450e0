"""SARSA and Q-learning on the transitions of a task, which know no model."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Int
from pydantic import Field

from pomrl.components import Agent, Decision, TaskData


class TemporalDifference(Agent[None]):
    """Learns action values from transitions that are drawn from the task's own with replacement, and acts greedily.

    Step i moves Q(s, a) by the share rate / (delay + i) to its target: R + gamma Q(s', a') with an action a' that is
    drawn from the frequencies of actions in the data at s' (SARSA, which evaluates the behaviour), or
    R + gamma max Q(s', .) (Q-learning). Each step costs about 30 microseconds for all runs and discount factors
    together.
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
    initial: float | None = None
    """What all action values are before the first step; null: the mean reward / (1 - gamma)."""
    l2: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Weight of the squares of all action values, whose gradient each step descends too."""
    next_action: Literal["drawn_again", "kept"] = "drawn_again"
    """Whether the action a' after a transition is drawn each time that the transition is, or once and for all, as in
    data that have it; for target=sarsa alone."""
    ends: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of transitions after which the data have no action, as after the last one of a trajectory, so that the next
    action is uniform; for target=sarsa alone."""

    @property
    def plans_per_gamma(self) -> int:
        return self.steps

    def act(self, task: TaskData, memory: None) -> Decision:
        R, gammas, run = task.R, task.gammas, np.arange(len(task.R))
        mean = R.reshape(len(R), 1, -1).mean(-1) / (1.0 - gammas)
        first = mean if self.initial is None else np.full_like(mean, self.initial)
        Q = np.broadcast_to(first[..., None, None], (*gammas.shape, *R.shape[1:3])).copy()
        for i, (s, a, after, b) in enumerate(self._draw(task)):
            reward = R[run, s, a] if R.ndim == 3 else R[run, s, a, after]
            value = Q[run, :, after, b] if self.target == "sarsa" else Q[run, :, after].max(-1)
            error = reward[:, None] + gammas * value - Q[run, :, s, a]
            rate = min(self.rate / (self.delay + i), 1.0)
            Q[run, :, s, a] += rate * error
            if self.l2:
                Q *= 1.0 - 2.0 * rate * self.l2
        return Decision(Q.argmax(-1), gammas)

    def _draw(self, task: TaskData) -> Int[np.ndarray, "steps 4 n"]:
        """Draw transitions of each run, with the action that is taken after each."""
        counts = task.batch.counts
        actions = np.broadcast_to(counts.sum(-1), counts.shape[:-1])
        parts = []
        for of_run, taken, rng in zip(counts, actions, task.rngs, strict=True):
            u, of_action = rng.random((2, self.steps))
            transition = (u * of_run.sum()).astype(np.intp)
            if self.next_action == "kept":
                of_action = rng.random(of_run.sum())[transition]
            s, a, after = np.unravel_index(np.searchsorted(of_run.cumsum(), transition, "right"), of_run.shape)
            seen = np.where(taken.sum(-1, keepdims=True) > 0, taken, 1)
            often = ((1.0 - self.ends) * seen + self.ends * seen.mean(-1, keepdims=True)).cumsum(-1)
            b = (of_action[:, None] * often[after, -1:] >= often[after]).sum(-1)
            parts.append(np.stack([s, a, after, b], axis=1))
        return np.stack(parts, axis=-1)
