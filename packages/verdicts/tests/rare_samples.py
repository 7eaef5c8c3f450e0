"""Rates of very small p-values where a truth lies exactly on the threshold, by importance sampling.

The runs of a population are tilted towards large t statistics (Shao 1997, "Self-normalized large deviations", Annals of
Probability 25): for each influence that can make p-values small, for each of `AIMS`, and on either side. Samples are
weighted by their likelihood ratio to the mixture of all these and of the population itself. So rates are unbiased, and
no weight exceeds the number of components.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq
from scipy.special import stdtrit

from verdicts.skewness import Skewness, conservative_quantile

LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""The errors in one tail for which rates are measured."""

AIMS = (1e-2, 1e-4, 1e-6)
"""The tail probabilities of the t statistics towards which populations are tilted."""

N_CARDS = 2**18
"""The number of cards from which runs are drawn, or four for each run if these are more."""

BATCH_SIZE = 100
"""The number of samples in memory."""

N_TILT_STEPS, MAX_STRENGTH = 8, 5.0
"""Steps of the search for a tilt, and its largest strength for each standard deviation of the influence."""

Rows = Float[np.ndarray, "n ..."]
"""A number for each of n runs, or several."""

PValues = tuple[float, float]
"""The p-values of two hypotheses: a number is at most a threshold, and it is at least that."""


@dataclass(frozen=True)
class Case:
    """A comparison whose truth, in a population of N runs, is exactly the threshold."""

    rows: Float[np.ndarray, "N ..."]
    influences: Float[np.ndarray, "P N"]
    """Numbers for each run with means of 0: p-values are small where the t statistic of one of them is large."""
    p_values: Callable[[Rows], PValues]
    """The function under test, of a sample."""
    divisor: float = 1.0
    """By how much corrections for several tests divide a level. Samples are aimed by it; it changes no rate."""


def rates(
    case: Case, runs: int, samples: int, seed: int = 0
) -> tuple[Float[np.ndarray, "L 2"], Float[np.ndarray, "L 2"]]:
    """Measure how often p-values are at most a level, divided by the level.

    Returns:
        The rates at all `LEVELS` in both tails, and their standard errors.
    """
    weights, p = weighted_p_values(case, runs, samples, seed)
    levels = np.array(LEVELS)[:, None, None]
    errors = weights[:, None] * (p <= levels) / levels
    return errors.mean(1), errors.std(1) / np.sqrt(len(weights))


def weighted_p_values(
    case: Case, runs: int, samples: int, seed: int
) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B 2"]]:
    """Draw samples, equally many from each component of the mixture; return their weights and p-values."""
    cards = number_cards(components(case, runs))
    log_ratios = np.log(cards / cards.sum(1, keepdims=True) * cards.shape[1])
    rng, n_each = np.random.default_rng(seed), -(-samples // len(cards))
    weights, p = list[np.ndarray](), list[PValues]()
    for deck in (np.repeat(np.arange(len(number), dtype=np.int32), number) for number in cards):
        for start in range(0, n_each, BATCH_SIZE):
            size = min(BATCH_SIZE, n_each - start), runs
            indices = deck[rng.integers(len(deck), size=size, dtype=np.uint32)]
            sums = np.array([log_ratio[indices].sum(1) for log_ratio in log_ratios])
            weights.append(1.0 / np.exp(sums).mean(0))
            p += [case.p_values(case.rows[sample]) for sample in indices]
    return np.concatenate(weights), np.array(p)


def components(case: Case, runs: int) -> Float[np.ndarray, "C N"]:
    """Return the probabilities of runs in each component of the mixture; the first is the population itself."""
    sides = [sign * influence for influence in case.influences for sign in (1.0, -1.0)]
    tilts = [tilt(side, runs, aim / case.divisor) for side in sides for aim in AIMS]
    return np.array([np.full(len(case.rows), 1.0 / len(case.rows)), *tilts])


def number_cards(probabilities: Float[np.ndarray, "C N"]) -> Int[np.ndarray, "C N"]:
    """Return the number of cards of each run, at least one and about proportional to its probability."""
    return np.maximum(1, np.rint(probabilities * max(N_CARDS, 4 * probabilities.shape[1]))).astype(int)


def tilt(influence: Float[np.ndarray, " N"], runs: int, aim: float) -> Float[np.ndarray, " N"]:
    """Return probabilities of runs under which a typical t statistic has this tail probability.

    Those of numbers x are proportional to exp(s (x - k x^2 / 2 c)) where the mean is k c and the root mean square c.
    Of all probabilities with the t statistic sqrt(n) k / sqrt(1 - k^2) they are the closest to equal ones.
    """
    x = influence / influence.std()
    skewness = Skewness.from_moments(np.asarray(1.0), (x**3).mean(), (x**4).mean(), runs)
    t = float(conservative_quantile(-stdtrit(runs - 1, aim), skewness))
    k, c = t / np.sqrt(runs + t**2), 1.0

    def probabilities(s: float, c: float) -> Float[np.ndarray, " N"]:
        exponents = s * (x - k * x**2 / (2.0 * c))
        weights = np.exp(exponents - exponents.max())
        return weights / weights.sum()

    def excess(s: float, c: float) -> float:
        return float(probabilities(s, c) @ x) - k * c

    chances = probabilities(0.0, c)
    for _ in range(N_TILT_STEPS):
        strength = brentq(excess, 0.0, MAX_STRENGTH, (c,)) if excess(MAX_STRENGTH, c) > 0.0 else MAX_STRENGTH
        chances = probabilities(strength, c)  # pyright: ignore[reportArgumentType]
        c = float(np.sqrt(chances @ x**2))
    return chances
