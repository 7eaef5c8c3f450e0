"""Probabilities that Theorem 3 as printed fails, for tasks whose pairs are coins.

Each pair leads to one of two states. In each task its probability is 1/2 + sigma or 1/2 - sigma, independently and with
equal chance, so that |P_t - P_o| = sigma. Priors are averages of earlier batches, as in Eq. 5.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.special import bdtr, bdtrc

from pomrl.study import model_error_bound


@dataclass(frozen=True)
class CoinTasks:
    """A sequence of T tasks with S states, A actions and m transitions from each pair.

    Attributes:
        sigma: The distance of each probability from 1/2.
        delta: The probability that a bound may fail.
    """

    m: int
    sigma: float
    S: int
    A: int
    T: int
    delta: float

    def bound(self, version: str = "as_printed", t: int = 1) -> float:
        """Return the bound of Theorem 3 on the model error in task t."""
        setting = {"m": self.m, "radius": self.sigma, "S": self.S, "A": self.A, "T": self.T, "delta": self.delta}
        return float(model_error_bound(t=t, version=version, prior="exclusive", **setting))

    def some_pair(self, one: Float[np.ndarray, "..."] | float, tasks: int = 1) -> Float[np.ndarray, "..."] | np.float64:
        """Return the probability of an event in some of independent pairs and tasks."""
        return -np.expm1(tasks * self.S * self.A * np.log1p(-np.asarray(one)))


def failure_in_first_task(coins: CoinTasks) -> float:
    """Return the exact probability of an error above the bound in task 1.

    The estimate is the frequencies of the batch.
    """
    return float(coins.some_pair(_beyond(coins.m, 0.5 + coins.sigma, coins.bound())))


def least_failure_in_later_tasks(coins: CoinTasks) -> float:
    """Return a lower bound on the probability of failure in tasks 2 to T.

    The prior has a weight of at most alpha = 1/(sigma^2 m + 1), and an error of at most 1. So the estimate is beyond
    the bound if the batch is beyond (bound + alpha)/(1 - alpha). Batches are independent.
    """
    alpha = 1.0 / (coins.sigma**2 * coins.m + 1.0)
    one = _beyond(coins.m, 0.5 + coins.sigma, (coins.bound() + alpha) / (1.0 - alpha))
    return float(coins.some_pair(one, coins.T - 1))


def failure_by_task(coins: CoinTasks) -> Float[np.ndarray, " later_tasks"]:
    """Return the exact probability of failure in each of tasks 2 to T.

    Tasks must be equal (sigma = 0), so that the estimate in task t is the mean of (t - 1) m coins.

    Raises:
        ValueError: sigma is not 0.
    """
    if coins.sigma:
        raise ValueError(f"sigma must be 0, got {coins.sigma}")
    tosses = coins.m * np.arange(1, coins.T)
    return np.asarray(coins.some_pair(_beyond(tosses, 0.5, coins.bound())))


def first_task_of_validity(coins: CoinTasks) -> int:
    """Return the first task with a valid printed bound, for equal tasks.

    From there on, the bound holds in all tasks up to T with probability 1 - delta, by the union over tasks.
    """
    failure_from_here_on = np.cumsum(failure_by_task(coins)[::-1])[::-1]
    return 2 + int((failure_from_here_on > coins.delta).sum())


def first_task_by_theorem_a(coins: CoinTasks) -> int:
    """Return the first task with Theorem A's bound at most the printed one."""
    return next(t for t in range(1, coins.T + 1) if coins.bound("corrected", t) <= coins.bound())


def _beyond(tosses: Int[np.ndarray, "..."] | int, p: float, error: float) -> Float[np.ndarray, "..."] | np.float64:
    """Return the probability of a coin's frequency beyond p by an error."""
    n = np.asarray(tosses)
    return bdtr(np.ceil(n * (p - error)) - 1, n, p) + bdtrc(np.floor(n * (p + error)), n, p)
