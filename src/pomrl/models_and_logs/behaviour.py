"""What recommended policies gain over the policy that made a log, which is estimated from it."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Float

from pomrl.models_and_logs.logs import Log
from pomrl.science.solvers.evaluation import chain_value

OF_FURTHER_DRAW: Final = "weibull"
"""The quantile of n draws at the order statistic p (n + 1), which a further draw is below with probability p. NumPy's
default is too narrow: what holds 95 % of 80 draws holds a further one with a probability of 92.7 %."""


@dataclass(frozen=True, eq=False)
class Improvement:
    """What the recommended policies gain at gamma_eval over the policy that made the log."""

    draws: Float[np.ndarray, " n"]
    """Draws of the difference of values, a mean over tasks and states."""

    @property
    def mean(self) -> float:
        """The mean of the draws, in units of rewards."""
        return float(self.draws.mean())

    @property
    def lower(self) -> float:
        """The 5 % quantile of the draws, in units of rewards.

        It is no confidence limit: the plan was chosen by the model that the draws are from, and where few transitions
        support a decision, the draws repeat the prior. `docs/advice_on_logs.md` says in which logs it held.
        """
        return float(np.quantile(self.draws, 0.05, method=OF_FURTHER_DRAW))

    @property
    def words(self) -> str:
        """What the model says of the gain, and why that is no reason to leave a policy that works."""
        return (
            f"That is no reason to leave decisions that work: by the model the plan gains {self.mean:.3g} over those "
            f"in the log (5 % quantile of its draws: {self.lower:.3g}), but this quantile is no confidence limit, and "
            "in trials with logs of good policies such plans often lost. Test the plan before you follow it."
        )


def behaviour_values(
    log: Log,
    task: int,
    P: Float[np.ndarray, "n S A S"],
    R: Float[np.ndarray, "n S A"],
    gamma: float,
    rng: np.random.Generator,
) -> Float[np.ndarray, "n S"]:
    """Return the value in each model of a draw of the policy that made the log in a task.

    The chances of actions are Dirichlet: the task's own numbers of actions, and one more, which is shared out as all
    tasks together have chosen. In a state that no task has left, every action is as likely.
    """
    pooled = log.counts.sum((0, 3)).astype(float)
    share = np.where(pooled.sum(-1, keepdims=True) > 0, pooled, 1.0)
    alpha = log.counts[task].sum(-1) + share / share.sum(-1, keepdims=True)
    chance = np.where(alpha > 0, rng.standard_gamma(alpha, (len(P), *alpha.shape)), 0.0) + 1e-300 * (alpha > 0)
    chance /= chance.sum(-1, keepdims=True)
    R_behaviour = (chance * np.where(chance > 0, R, 0.0)).sum(-1)
    return chain_value(np.einsum("nsa,nsat->nst", chance, P, optimize=True), R_behaviour, gamma)
