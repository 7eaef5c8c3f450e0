"""Select the discount factor by the expected posterior loss."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from pomrl.components import Agent, Decision, TaskData, draw_models


class PosteriorGamma(Agent[None]):
    """The discount factor with the smallest expected loss under the posterior of the task.

    Policies are evaluated on models drawn from the posterior, a Dirichlet distribution in each pair.
    """

    chooses_gamma: ClassVar[bool] = True

    samples: Annotated[int, Field(ge=1, le=10**4)] = 20
    """Number of drawn models."""

    @property
    def plans_per_gamma(self) -> int:
        return 7 * self.samples

    def act(self, task: TaskData, memory: None) -> Decision:
        policy, belief = task.plan(task.P_hat, task.gammas), task.believe(task.batch)
        losses = [task.losses(draw_models(belief, task.rngs), policy) for _ in range(self.samples)]
        return Decision.best(task, np.mean(losses, axis=0))
