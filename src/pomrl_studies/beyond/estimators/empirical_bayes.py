"""Empirical Bayes: the prior of tasks is learned by marginal likelihood (`pomrl.priors`)."""

from typing import cast

import numpy as np

from pomrl.components import Batch, Estimate, Estimator, Forgetting, Truth, learn_and_forget
from pomrl.priors import DirichletMemory, initial_memory


class EmpiricalBayes(Estimator[DirichletMemory]):
    """The posterior mean of P_t under a prior learned by marginal likelihood."""

    forgetting: Forgetting = 1.0
    """Factor by which each new task reduces the weight of past tasks; learned: chosen by how well past batches predict
    the next.
    """

    def initial_memory(self, n: int, S: int, A: int) -> DirichletMemory:
        return initial_memory(n, S, A)

    def learn(self, memory: DirichletMemory, batch: Batch) -> DirichletMemory:
        return cast(DirichletMemory, learn_and_forget(memory, batch, self.forgetting))

    def assess(self, t: int, batch: Batch, before: DirichletMemory, after: DirichletMemory, truth: Truth) -> Estimate:
        """Return the posterior mean of P_o, with weight c / (c + N).

        The similarity is the largest sqrt(p (1 - p) / (c + 1)), over entries p of P_o.
        """
        P_o, c = after.P_o, after.c[..., 0]
        variance = (P_o * (1.0 - P_o)).max((1, 2, 3), keepdims=True) / (after.c + 1.0)
        return Estimate(P_o, lambda N: c / (c + N), np.sqrt(np.maximum(variance[..., 0], 0.0)))
