"""The excess loss over the told learner in each setting, in blocks of tasks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from pomrl.components import elementary
from pomrl.study import ScalarEstimate, SweepResults, smooth

Excess = Float[np.ndarray, "n tasks"]
"""The loss less that of the told learner, in tasks 2 to T of each run."""

MIN_EARLIER = 2
"""The number t - 1 of earlier tasks from which slopes are fitted; with one batch, frequencies are mostly 0."""

LATE = 16
"""The number t - 1 of earlier tasks from which excess times t - 1 is averaged."""


Place = tuple[str, dict[str, Any]]
"""A sweep, and the values of its varied keys."""


def _pair(sweep: str, **keys: float) -> tuple[Place, Place]:
    return (sweep, {**keys, "prior": "exclusive"}), (sweep, {**keys, "prior": "known"})


PAIRS: dict[str, tuple[Place, Place]] = {
    "S = 5": _pair("chain_sizes", S=5),
    "S = 10": _pair("chain_sizes", S=10),
    "S = 20": _pair("chain_20_states"),
    "m = 2": _pair("few_or_many_transitions", m=2),
    "m = 20": _pair("few_or_many_transitions", m=20),
    "σ = 0.025": _pair("less_similar_tasks", sigma=0.025),
    "σ = 0.047": _pair("less_similar_tasks", sigma=0.047),
    "uniform in a ball": _pair("ball_tasks"),
    "tied rows, not told": _pair("ring_tasks"),
    "tied rows, told": (("ring_tied", {"prior": "exclusive"}), ("ring_tasks", {"prior": "known"})),
    "Gaussian, told E P_t": _pair("gaussian_mean"),
    "rewards of states": _pair("rewards_of_states"),
    "tied actions": _pair("equal_actions"),
    "one instance": _pair("one_instance", sigma=0.01),
    "one instance, equal tasks": _pair("one_instance", sigma=0.0),
}
"""The places of the learner and of the told learner in each setting."""

PAIRED_SWEEPS = tuple(dict.fromkeys(sweep for pair in PAIRS.values() for sweep, _ in pair))
"""The sweeps of these settings."""


def excess_in(sweeps: Mapping[str, SweepResults], setting: str) -> Excess:
    """Return the excess of the learner over the told learner in a setting."""
    learner_losses, told_losses = (sweeps[sweep].at(**keys).at_eval[:, 1:] for sweep, keys in PAIRS[setting])
    return learner_losses - told_losses


def blocks(tasks: int) -> list[slice]:
    """Return blocks of doubling length of t - 1 = 1 ... tasks: 1, 2 to 3, 4 to 7, ..."""
    return [slice(2**k - 1, min(2 ** (k + 1) - 1, tasks)) for k in range(int(tasks).bit_length())]


def by_block(numbers: Float[np.ndarray, "n tasks"]) -> Float[np.ndarray, "n blocks"]:
    """Average over the tasks of each block."""
    return np.stack([numbers[:, block].mean(1) for block in blocks(numbers.shape[1])], axis=1)


def inverses(tasks: int) -> Float[np.ndarray, " blocks"]:
    """Return the mean of 1 / (t - 1) in each block."""
    return by_block(1.0 / np.arange(1.0, tasks + 1.0)[None])[0]


def exponent(numbers: Excess) -> ScalarEstimate:
    """Estimate the slope of log mean numbers on log(t - 1).

    A block has the weight 1 / (t - 1), fixed before there are losses. NaN if the mean of a block is not positive.
    """
    tasks = numbers.shape[1]
    weight = inverses(tasks)[MIN_EARLIER - 1 :]
    x = -elementary.log(weight)
    centred = x - (weight * x).sum() / weight.sum()
    factors = weight * centred / (weight * centred**2).sum()

    def slope(means: Float[np.ndarray, "B blocks"]) -> Float[np.ndarray, " B"]:
        logarithms = elementary.log(np.where(means > 0.0, means, 1.0))
        return np.where((means > 0.0).all(1), (factors * logarithms).sum(1), np.nan)

    return smooth(slope, by_block(numbers)[:, MIN_EARLIER - 1 :])


def constants(numbers: Excess, first: int = LATE, last: int | None = None) -> Float[np.ndarray, " n"]:
    """Return the constant c of c / (t - 1) with the same sum in tasks t - 1 = first ... last, by run."""
    tasks = slice(first - 1, last)
    return numbers[:, tasks].sum(1) / (1.0 / np.arange(1.0, numbers.shape[1] + 1.0)[tasks]).sum()


def spread(numbers: Float[np.ndarray, " n"]) -> ScalarEstimate:
    """Estimate the standard deviation over runs."""
    centred = numbers - numbers.mean()
    return smooth(lambda means: np.sqrt(means[:, 1] - means[:, 0] ** 2), np.stack([centred, centred**2], axis=1))
