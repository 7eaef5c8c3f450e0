"""Pessimism where there are few data."""

from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.mdp import expected_rewards


class LowerConfidence(Agent[None]):
    """Plans with lower confidence bounds: rewards are lowered the more, the fewer transitions a pair has.

    Of a pair with N transitions the bound is the reward minus penalty * gamma * W / sqrt(max(N, 1)), where
    W = (max R - min R) / (1 - gamma) is the range of values (Rashidinejad et al., 2021, Algorithm 3). Where all pairs
    have the same number of transitions, as with data=generative, this changes no policy.
    """

    discounts: ClassVar[bool] = True

    penalty: Annotated[float, Field(ge=0)] = 0.1
    """Width of the confidence bounds."""

    def act(self, task: TaskData, memory: None) -> Decision:
        R = expected_rewards(task.R, task.P_hat)
        scale = R.max((1, 2), keepdims=True) - R.min((1, 2), keepdims=True)
        width = self.penalty * scale / np.sqrt(np.maximum(task.batch.visits, 1.0))
        policies = []
        for gamma in np.split(task.gammas, task.gammas.shape[1], axis=1):
            lowered = replace(task, R=R - width * (gamma / (1.0 - gamma))[..., None])
            policies.append(lowered.plan(task.P_hat, gamma))
        return Decision(np.concatenate(policies, axis=1), task.gammas)
