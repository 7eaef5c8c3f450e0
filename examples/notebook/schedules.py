"""The notebook's schedules of gamma, and the curves of its figures about them (cells 40, 41 and 48 to 50).

The curves are made from losses of *ada-POMRL* at concentration 1.5, where the text says POMRL. A schedule plans nothing
by itself: its curve is read from the losses on the grid, which are averaged over runs before.
"""

import numpy as np
from examples.notebook.draws import TASKS, TRAJECTORIES
from examples.notebook.losses import GAMMAS
from jaxtyping import Float, Int

GAMMA_0 = (0.25, 0.35, 0.45, 0.5)
"""The values of gamma_0 in the figures; the main one has 0.35."""

SIMILARITY = 0.0129
"""The similarity of tasks that the schedules assume. It is a variance, and is squared in both of them."""


def dong_rates() -> Float[np.ndarray, " T-1"]:
    """Return the mixing rates in the notebook's version of Dong's schedule, for tasks 2 to T.

    They are not those of the learner. In task r + 1 the rate is 1 / (x² (1 + 1/r) m + 1), where x falls along a fixed
    line from 0.25 by 0.018 with each task, as long as it is above 0.0129: it stays at 0.016 in the last two tasks. The
    text takes the rate of the learner, in which the similarity is not squared if it is a variance. The printed output
    of cells 48 and 50 shows these rates.
    """
    line = np.arange(0.25, SIMILARITY, -0.018)
    past = np.arange(1, TASKS)
    x = line[np.minimum(past, len(line) - 1)]
    return 1 / (x**2 * (1 + 1 / past) * TRAJECTORIES + 1)


def dong() -> Float[np.ndarray, " T"]:
    """Return the notebook's version of Dong's schedule, gamma = 1 - horizon^(-1/5).

    Task 1 has the horizon 2 m, and task r + 1 has 2 ((1 - a_r) m + a_r m (r - 1)), where a_r are the rates of
    `dong_rates`. The factor 2 is S A / L with L = 10. In the text, T_0 = m does not have this factor, and in task r + 1
    the past counts as r tasks. Here it counts as r - 1, and so gamma falls from 0.37 in task 1 to 0.22 in task 2.
    """
    rates, past = dong_rates(), np.arange(1, TASKS)
    samples = (1 - rates) * TRAJECTORIES + rates * TRAJECTORIES * (past - 1)
    return 1 - (2 * np.append(TRAJECTORIES, samples)) ** (-1 / 5)


def upper_bound(gamma_0: float) -> Float[np.ndarray, " T"]:
    """Return the notebook's version of the schedule min(1, gamma_0 + gamma_tilde), which minimises an upper bound.

    gamma_tilde is (1 - C_t) / (1 + C_t), but 1 where C_t < 1/2 and 0 where C_t >= 1, as the text prints it. Neither of
    these two cases ever occurs, because C_t falls from 0.91 to 0.57. With x = sigma² m,

        C_t = (sigma + 1/sqrt(m)) / (sqrt(t) (x + 1)) + 1/sqrt(m).

    The second term is x / (sqrt(m) (x + 1)) in the text. The notebook has x + 1 in the place of the numerator, so that
    the fraction cancels and a constant remains. With the formula of the text and the same sigma, C_t would be below 1/2
    in every task, and gamma would be 1, which is cut to the largest one of the grid.
    """
    m, t = TRAJECTORIES, np.arange(1, TASKS + 1)
    C = (SIMILARITY + np.sqrt(1 / m)) / (np.sqrt(t) * (SIMILARITY**2 * m + 1)) + np.sqrt(1 / m)
    tilde = np.select([C >= 1, C < 1 / 2], [0.0, 1.0], (1 - C) / (1 + C))
    return np.minimum(1, gamma_0 + tilde)


def nearest(gammas: Float[np.ndarray, " T"]) -> Int[np.ndarray, " T"]:
    """Return the index of the discount factor of the grid that is nearest to each of `gammas`, the smaller on ties."""
    return np.abs(gammas[:, None] - GAMMAS).argmin(-1)


def curves(loss: Float[np.ndarray, "T G"]) -> dict[str, Float[np.ndarray, " T"]]:
    """Return the curve of each schedule: the loss averaged over tasks 1 to t, for each t.

    Args:
        loss: The mean over runs of the loss, by task and discount factor of the grid.

    Returns:
        The curves, by the names that `stored.digitised` has. `best_fixed` takes at each t the discount factor with the
        least average loss in tasks 1 to t, and `dynamic_best` the best one in each task. Both choose on the runs on
        which they are judged.
    """
    tasks = np.arange(TASKS)
    schedules = {"gamma_eval": np.full(TASKS, GAMMAS[-1]), "dong": dong()}
    schedules |= {f"upper_bound_{gamma_0:.2f}": upper_bound(gamma_0) for gamma_0 in GAMMA_0}
    averages = {name: running_average(loss[tasks, nearest(gammas)]) for name, gammas in schedules.items()}
    best = {"best_fixed": running_average(loss).min(-1), "dynamic_best": running_average(loss.min(-1))}
    return averages | best


def running_average(loss: Float[np.ndarray, "T ..."]) -> Float[np.ndarray, "T ..."]:
    """Return the mean of the first t entries along the first axis, for each t."""
    count = np.arange(1, len(loss) + 1).reshape(-1, *[1] * (loss.ndim - 1))
    return loss.cumsum(0) / count
