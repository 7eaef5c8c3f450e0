"""What the best fixed discount factor gains over gamma_eval, and comparisons that tell a horizon from a prior.

The discount factor is chosen on one half of the runs and judged on the other (`Losses.in_hindsight`): one that is
judged on the runs that chose it looks better than it is. All losses are averages over tasks.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from pomrl.results.losses import Losses, LossPerRun
from pomrl.results.statistics import Interval, difference

LONG = 0.94
"""Discount factors from here on count as long horizons: about those whose weight on ignorance is at most 5 %."""


def at_best_fixed(losses: Losses) -> LossPerRun:
    """Return the loss of each run at the discount factor that is the best for the other half of the runs."""
    return losses.in_hindsight("all_tasks", "population").regret


def gain_of_best_gamma(losses: Losses) -> Interval:
    """Return by how much the best fixed discount factor lowers the loss at gamma_eval, with its 95 % interval."""
    return difference(at_best_fixed(losses), losses.regret, paired=True)


def largest_relative_gain(losses: Losses) -> float:
    """Return the upper limit of the one-sided 95 % interval of that gain, divided by the loss at gamma_eval.

    It is that of the ratio r of the two means by the delta method: Student's interval of gain - r loss over runs.
    """
    loss, gain = losses.regret, losses.regret - at_best_fixed(losses)
    ratio = gain.mean() / loss.mean()
    residual = (gain - ratio * loss).std(ddof=1) / np.sqrt(len(loss))
    return float(ratio + stdtrit(len(loss) - 1, 0.95) * residual / loss.mean())


@dataclass(frozen=True)
class OfTask:
    """The comparison, in one task, of the best long horizon with the best shorter one, by their mean losses."""

    excess: Interval
    """The loss at the best long horizon less that at the best shorter one, with its 95 % interval over runs."""
    loss: float
    """The mean loss at the best shorter one."""


def long_against_short(losses: Losses) -> list[OfTask]:
    """Compare in each task the best discount factor from `LONG` on with the best below, in pairs of runs."""
    long = losses.gammas >= LONG
    tasks = []
    for t in range(losses.loss.shape[1]):
        curve = losses.curve(t + 1)
        one, other = (_best(curve[:, part]) for part in (long, ~long))
        tasks.append(OfTask(difference(other, one, paired=True), float(other.mean())))
    return tasks


def _best(curve: Float[np.ndarray, "n G"]) -> LossPerRun:
    """Return the losses of each run at the discount factor with the smallest mean."""
    return curve[:, curve.mean(0).argmin()]
