"""Policies that stay near the behaviour in the data where there are few of them."""

from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field
from scipy.special import rel_entr

from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.agents.stochastic_policies import action_values
from pomrl.science.mdp import expected_rewards

ROUNDS = 20
"""Rounds of evaluation and improvement; both converge as Newton's method does, after about five."""


class DataRegularised(Agent[None]):
    """Plans on the estimate with a penalty on the divergence of the policy from the behaviour in the data.

    The policy pi maximises the discounted sum of R - tau(s) KL(pi(.|s), beta(.|s)) with the frequencies beta of actions
    in state s, to which one transition is added that all actions share, and tau(s) = temperature / sqrt(max(N(s), 1))
    for a state with N(s) transitions. The most likely action of each state is taken.
    """

    discounts: ClassVar[bool] = True

    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Weight of the divergence in a state with one transition."""

    @property
    def plans_per_gamma(self) -> int:
        return 20 * ROUNDS

    def act(self, task: TaskData, memory: None) -> Decision:
        P, R = task.P_hat, expected_rewards(task.R, task.P_hat)
        A, visits = R.shape[-1], task.batch.counts.sum(-1)[:, None]
        N = visits.sum(-1, keepdims=True)
        beta, tau = (visits + 1.0 / A) / (N + 1.0), self.temperature / np.sqrt(np.maximum(N, 1))
        pi = score = np.broadcast_to(beta, (*task.gammas.shape, *R.shape[1:]))
        for _ in range(ROUNDS):
            penalty = (tau * rel_entr(pi, beta)).sum(-1)
            score = action_values(P, R, pi, task.gammas, penalty) / tau + np.log(beta)
            pi = _softmax(score)
        return Decision(score.argmax(-1), task.gammas)


def _softmax(score: Float[np.ndarray, "*n A"]) -> Float[np.ndarray, "*n A"]:
    weight = np.exp(score - score.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)
