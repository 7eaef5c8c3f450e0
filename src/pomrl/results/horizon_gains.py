"""What the best fixed discount factor gains over gamma_eval, and comparisons that tell a horizon from a prior.

The discount factor is chosen on one half of the runs and judged on the other (`Losses.in_hindsight`): one that is
judged on the runs that chose it looks better than it is. All losses are averages over tasks.
"""

from pomrl.results.intervals import Interval
from pomrl.results.losses import Losses, LossPerRun
from pomrl.results.statistics import difference

LONG = 0.94
"""Discount factors from here on count as long horizons: about those whose weight on ignorance is at most 5 %."""


def at_best_fixed(losses: Losses) -> LossPerRun:
    """Return the loss of each run at the discount factor that is the best for the other half of the runs."""
    return losses.in_hindsight("all_tasks", "population").regret


def gain_of_best_gamma(losses: Losses) -> Interval:
    """Return by how much the best fixed discount factor lowers the loss at gamma_eval, with its 95 % interval."""
    return difference(at_best_fixed(losses), losses.regret, paired=True)
