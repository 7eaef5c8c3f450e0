"""The one recommendation of a report: what to plan each task with, what it should lose, and how sure that is."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.gamma_star import best_index

PlanOn = Literal["prior", "frequencies"]
"""What the model of a task is estimated by: its transitions and the prior that all tasks give, or its own alone."""

PLANS: dict[PlanOn, str] = {
    "prior": "a model of each task that draws on the data of all tasks (a prior)",
    "frequencies": "a model of each task that comes from its own data alone (frequencies)",
}
"""Both in words, in the order of the arrays of a report."""

NO_DIFFERENCE = 0.02
"""A saving of less than this share of the loss is none."""

OF_FURTHER_DRAW: Final = "weibull"
"""The quantile of n draws at the order statistic p (n + 1), which a further draw is below with probability p. NumPy's
default is too narrow: what holds 95 % of 80 draws holds a further one with a probability of 92.7 %."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What to plan with."""

    gamma: float
    """The discount factor to plan with."""
    plan_on: PlanOn
    """What the model of each task is estimated by."""
    policies: Int[np.ndarray, "K S"]
    """The action in each state of each task, as its position in `Log.actions`."""
    draws: Float[np.ndarray, " n"]
    """Draws of what the policies lose at gamma_eval against the best ones, a mean over tasks and states."""
    saved: Float[np.ndarray, " n"]
    """Draws of the loss of plans on frequencies at gamma_eval, less this loss."""

    @property
    def loss(self) -> float:
        """The expected loss."""
        return float(self.draws.mean())

    @property
    def lower(self) -> float:
        """The lower end of the 95 % interval of the loss."""
        return float(interval(self.draws)[0])

    @property
    def upper(self) -> float:
        """The upper end of the 95 % interval of the loss."""
        return float(interval(self.draws)[1])

    @property
    def words(self) -> str:
        """The recommendation as a sentence or two."""
        what = f"the discount factor {self.gamma:g} and {PLANS[self.plan_on]}"
        loss = f"The expected loss against the best policy is {with_interval(self.draws)}"
        usual = "the usual plan, with γ_eval and the data of each task alone"
        if not self.saved.any() or abs(self.saved.mean()) <= NO_DIFFERENCE * (self.draws + self.saved).mean():
            return f"No difference: plan with {what}; nothing else that was compared is better. {loss}."
        if np.quantile(self.saved, 0.025, method=OF_FURTHER_DRAW) > 0:
            return f"Plan with {what}. {loss}, which is {with_interval(self.saved)} less than that of {usual}."
        return (
            f"Not enough data to say what is best; the best guess is to plan with {what}. {loss}, which is "
            f"{with_interval(self.saved)} less than that of {usual}, and so may be no less."
        )


def recommended(
    losses: Float[np.ndarray, "2 G n"], gammas: Float[np.ndarray, " G"], plans: Int[np.ndarray, "K 2 G S"]
) -> Recommendation:
    """Recommend the plans with the smallest expected loss; those on frequencies at gamma_eval if that saves too little.

    Args:
        losses: Draws of the losses of plans on each of `PLANS` at each discount factor, means over tasks.
        gammas: The discount factors, ascending; the last one is gamma_eval.
        plans: The plans of each task.
    """
    mean = losses.mean(-1)
    at = best_index(mean)
    which = int(mean[np.arange(2), at].argmin())
    g = int(at[which])
    if mean[which, g] >= (1.0 - NO_DIFFERENCE) * mean[1, -1]:
        which, g = 1, len(gammas) - 1
    chosen = losses[which, g]
    return Recommendation(float(gammas[g]), tuple(PLANS)[which], plans[:, which, g], chosen, losses[1, -1] - chosen)


@dataclass(frozen=True, eq=False)
class Improvement:
    """What the recommended policies gain at gamma_eval over the policy of the log, which is estimated from it."""

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


def interval(draws: Float[np.ndarray, "*m n"]) -> tuple[Float[np.ndarray, "*m"], Float[np.ndarray, "*m"]]:
    """Return the ends of the 95 % interval of draws, which is made to contain their mean."""
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=-1, method=OF_FURTHER_DRAW)
    mean = draws.mean(-1)
    return np.asarray(np.minimum(lower, mean)), np.asarray(np.maximum(upper, mean))


def with_interval(draws: Float[np.ndarray, " n"]) -> str:
    """Return the mean of draws and its 95 % interval in three digits."""
    lower, upper = interval(draws)
    return f"{draws.mean():.3g} ({lower:.3g} to {upper:.3g})"
