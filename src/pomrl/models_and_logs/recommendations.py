"""The one recommendation of a report: what to plan each task with, what it should lose, and how sure that is."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from pomrl.models_and_logs.behaviour import OF_FURTHER_DRAW
from pomrl.science.gamma_star import best_index

PlanOn = Literal["prior", "frequencies"]
"""What the model of a task is estimated by: its transitions and the prior that all tasks give, or its own alone."""

PLANS: tuple[PlanOn, ...] = ("prior", "frequencies")
"""Both, in the order of the arrays of a report."""

NO_DIFFERENCE = 0.02
"""A saving of less than this share of the loss is none."""

IN_WORDS = {
    "prior": "a model of each task that draws on the data of all tasks (a prior)",
    "frequencies": "a model of each task that comes from its own data alone (frequencies)",
}
"""What plans are made on, for people."""


@dataclass(frozen=True, eq=False)
class Recommendation:
    """What to plan with."""

    gamma: float
    """The discount factor to plan with."""
    plan_on: PlanOn
    """What the model of each task is estimated by."""
    policies: Int[np.ndarray, "K S"]
    """The action in each state of each task, as its position in `Log.actions`."""
    loss: float
    """What the policies are expected to lose at gamma_eval against the best ones, a mean over tasks and states."""
    lower: float
    upper: float
    """The 95 % interval of this loss."""
    words: str
    """The recommendation as a sentence or two."""


@dataclass(frozen=True)
class Choice:
    """The plans that are recommended among all, by draws of their losses."""

    plan_on: PlanOn
    gamma: float
    losses: Float[np.ndarray, " n"]
    """Draws of the loss, a mean over tasks and states."""
    saved: Float[np.ndarray, " n"]
    """Draws of the loss of plans on frequencies at gamma_eval, less this loss."""

    def recommendation(self, policies: Int[np.ndarray, "K S"]) -> Recommendation:
        """Return the choice as the recommendation of these policies."""
        lower, upper = map(float, interval(self.losses))
        return Recommendation(self.gamma, self.plan_on, policies, float(self.losses.mean()), lower, upper, self.words)

    @property
    def words(self) -> str:
        """The choice as a sentence or two."""
        what = f"the discount factor {self.gamma:g} and {IN_WORDS[self.plan_on]}"
        loss = f"The expected loss against the best policy is {with_interval(self.losses)}"
        usual = "the usual plan, with γ_eval and the data of each task alone"
        if not self.saved.any() or abs(self.saved.mean()) <= NO_DIFFERENCE * (self.losses + self.saved).mean():
            return f"No difference: plan with {what}; nothing else that was compared is better. {loss}."
        if np.quantile(self.saved, 0.025, method=OF_FURTHER_DRAW) > 0:
            return f"Plan with {what}. {loss}, which is {with_interval(self.saved)} less than that of {usual}."
        return (
            f"Not enough data to say what is best; the best guess is to plan with {what}. {loss}, which is "
            f"{with_interval(self.saved)} less than that of {usual}, and so may be no less."
        )


def choose(losses: Float[np.ndarray, "2 G n"], gammas: Float[np.ndarray, " G"]) -> Choice:
    """Choose the plans with the smallest expected loss; plans on frequencies at gamma_eval if that saves too little.

    Args:
        losses: Draws of the losses of plans on each of `PLANS` at each discount factor.
        gammas: The discount factors, ascending; the last one is gamma_eval.
    """
    mean = losses.mean(-1)
    at = best_index(mean)
    which = int(mean[np.arange(2), at].argmin())
    usual = losses[1, -1]
    if mean[which, at[which]] >= (1.0 - NO_DIFFERENCE) * usual.mean():
        return Choice("frequencies", float(gammas[-1]), usual, np.zeros_like(usual))
    chosen = losses[which, at[which]]
    return Choice(PLANS[which], float(gammas[at[which]]), chosen, usual - chosen)


def interval(draws: Float[np.ndarray, "*m n"]) -> tuple[Float[np.ndarray, "*m"], Float[np.ndarray, "*m"]]:
    """Return the ends of the 95 % interval of draws, which is made to contain their mean."""
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=-1, method=OF_FURTHER_DRAW)
    mean = draws.mean(-1)
    return np.asarray(np.minimum(lower, mean)), np.asarray(np.maximum(upper, mean))


def with_interval(draws: Float[np.ndarray, " n"]) -> str:
    """Return the mean of draws and its 95 % interval in three digits."""
    lower, upper = interval(draws)
    return f"{draws.mean():.3g} ({lower:.3g} to {upper:.3g})"
