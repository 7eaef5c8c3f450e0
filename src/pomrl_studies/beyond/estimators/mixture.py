"""Learn several mean models, each an average of its tasks.

Each task joins the component with the largest likelihood of its batch; empty components compete too.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from jaxtyping import Float, Int
from pydantic import Field

from pomrl.components import (
    GRID,
    Batch,
    Estimate,
    Estimator,
    Memory,
    Models,
    PerPair,
    Truth,
    elementary,
    evidence,
    make_read_only,
    predictive_concentration,
)


@dataclass(frozen=True)
class MixtureMemory:
    """The average of each component and the last task's prior."""

    members: Memory
    """The memories of all components, ordered by component and then by run."""
    log_likelihood: Float[np.ndarray, "n C"]
    """The log-likelihood of all batches under their components, for each concentration in `GRID`."""
    prior: Models
    """The prior mean of the last task: the average of its component before its batch."""
    concentration: PerPair
    """The concentration of this prior."""
    spread: Float[np.ndarray, " n"]
    """The posterior geometric mean of the concentration of tasks around their component's mean model."""

    def __post_init__(self) -> None:
        make_read_only(self.log_likelihood, self.prior, self.concentration, self.spread)

    def update(self, batch: Batch) -> "MixtureMemory":
        n, members = len(self.prior), self.members
        K = len(members.P_o_hat) // n
        likelihoods = members.log_likelihoods(batch.counts)
        chosen = evidence(self.log_likelihood + likelihoods).argmax(0)
        log_likelihood = self.log_likelihood + likelihoods[chosen, np.arange(n)]
        spread = elementary.exp((elementary.log(GRID.ravel()) * elementary.softmax(log_likelihood)).sum(-1))
        before = members.of_runs(chosen * n + np.arange(n))
        c, tasks, m = spread[:, None, None], before.effective_tasks, before.transitions_per_task
        return MixtureMemory(
            members=members.update(_ascribe(batch, chosen, K)),
            log_likelihood=log_likelihood,
            prior=before.predicted,
            concentration=predictive_concentration(c, tasks, m),
            spread=spread,
        )


def _ascribe(batch: Batch, chosen: Int[np.ndarray, " n"], K: int) -> Batch:
    """Return a batch for each component, empty except for the chosen one."""
    n = len(chosen)
    repeated = batch.of_runs(np.tile(np.arange(n), K))
    empty = np.repeat(np.arange(K), n) != np.tile(chosen, K)
    counts, visits, counted = (array.copy() for array in (repeated.counts, repeated.visits, repeated.counted))
    counts[empty], visits[empty], counted[empty] = 0, 0.0, False
    return Batch(counts, repeated.P_bar, visits, counted, batch.m)


class Mixture(Estimator[MixtureMemory]):
    """The posterior mean of P_t under a Dirichlet prior around the average of the task's component.

    The likelihood of batches determines the concentration c; the mixing rate is c / (c + N) for N transitions.
    """

    components: Annotated[int, Field(ge=1, le=64)] = 4
    """Largest number of mean models."""

    def initial_memory(self, n: int, S: int, A: int) -> MixtureMemory:
        return MixtureMemory(
            members=Memory.initial(self.components * n, S, A),
            log_likelihood=np.zeros((n, len(GRID))),
            prior=np.full((n, S, A, S), 1.0 / S),
            concentration=np.ones((n, 1, 1)),
            spread=np.ones(n),
        )

    def learn(self, memory: MixtureMemory, batch: Batch) -> MixtureMemory:
        return memory.update(batch)

    def assess(self, t: int, batch: Batch, before: MixtureMemory, after: MixtureMemory, truth: Truth) -> Estimate:
        """Return the average of the task's component before its batch."""
        h, c = after.prior, after.concentration
        deviation = np.sqrt((h * (1.0 - h)).max((1, 2, 3)) / (after.spread + 1.0))
        return Estimate(h, lambda N: c / (c + N), deviation[:, None, None])
