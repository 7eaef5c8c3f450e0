"""Model-free SARSA and Q-learning."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Int
from pydantic import Field

from pomrl.components import Agent, Decision, TaskData


class TemporalDifference(Agent[None]):
    """A greedy learner of action values from resampled transitions of the task.

    Step i moves Q(s, a) by the share rate / (delay + i), at most 1, to its target. In SARSA it is R + gamma Q(s', a'),
    with a' from the frequencies of actions at s' in the data. In Q-learning it is R + gamma max Q(s', .).
    """

    discounts: ClassVar[bool] = True

    target: Literal["sarsa", "q_learning"]
    """The value of the next state: by the behaviour's action, or by the best one."""
    steps: Annotated[int, Field(ge=1, le=10**6)] = 2000
    """Number of resampled transitions."""
    rate: Annotated[float, Field(gt=0)] = 50.0
    """Numerator of the learning rate."""
    delay: Annotated[float, Field(gt=0)] = 100.0
    """Offset of the step number in its denominator."""
    initial: float | None = None
    """Initial action values; null: the mean reward / (1 - gamma)."""
    l2: Annotated[float, Field(ge=0, le=0.5)] = 0.0
    """Weight of the squares of all action values; each step also descends their gradient."""
    next_action: Literal["drawn_again", "kept"] = "drawn_again"
    """Whether the action a' is drawn at each step, or once for each transition as in recorded data; only for
    target=sarsa.
    """
    ends: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of transitions without a next action in the data, as at the end of a trajectory: a' is then uniform; only
    for target=sarsa.
    """

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
        counts = task.batch.counts
        actions = np.broadcast_to(counts.sum(-1), counts.shape[:-1])
        samples = []
        for run_counts, taken, rng in zip(counts, actions, task.rngs, strict=True):
            u, action_uniform = rng.random((2, self.steps))
            transition = (u * run_counts.sum()).astype(np.intp)
            if self.next_action == "kept":
                action_uniform = rng.random(run_counts.sum())[transition]
            s, a, after = np.unravel_index(np.searchsorted(run_counts.cumsum(), transition, "right"), run_counts.shape)
            visits = np.where(taken.sum(-1, keepdims=True) > 0, taken, 1)
            often = ((1.0 - self.ends) * visits + self.ends * visits.mean(-1, keepdims=True)).cumsum(-1)
            b = (action_uniform[:, None] * often[after, -1:] >= often[after]).sum(-1)
            samples.append(np.stack([s, a, after, b], axis=1))
        return np.stack(samples, axis=-1)
