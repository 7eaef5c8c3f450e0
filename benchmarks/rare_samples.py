"""Samples with very small p-values where a truth lies exactly on the threshold, by importance sampling.

The runs of a population are tilted towards large t statistics (Shao 1997, "Self-normalized large deviations", Annals of
Probability 25): for each influence that can make p-values small, for each of `AIMS`, and on either side. Samples are
weighted by their likelihood ratio to the mixture of all these and of the population itself. So rates are unbiased, and
no weight exceeds the number of components.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import brentq
from scipy.special import stdtrit

from verdicts.skewness import Skewness, conservative_quantile

LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""The errors in one tail for which rates are measured."""

AIMS = (1e-2, 1e-4, 1e-6)
"""The tail probabilities of the t statistics towards which populations are tilted."""

CARDS = 2**18
"""The number of cards from which runs are drawn, or four for each run if these are more."""

AT_A_TIME = 100
"""The number of samples that are in memory together."""

TILTS, STRONGEST = 8, 5.0
"""The steps in which a tilt is found, and its largest strength for each standard deviation of the influence."""

TAILS = ("shown above", "shown below")
"""What a small p-value shows, in the order of an estimate's p-values: on which side of the threshold the number is."""

Rows = Float[np.ndarray, "n ..."]
"""What is known of each of n runs: a number, or several."""

PValues = tuple[float, float]
"""The p-values of two hypotheses: a number is at most a threshold, and it is at least that."""


@dataclass(frozen=True)
class Case:
    """A comparison whose truth, in a population of N runs, is exactly the threshold."""

    kind: str
    population: str
    runs: tuple[int, ...]
    """The numbers of runs of samples."""
    rows: Float[np.ndarray, "N ..."]
    influences: Float[np.ndarray, "P N"]
    """Numbers for each run with means of 0: p-values are small where the t statistic of one of them is large."""
    p_values: Callable[[Rows], PValues]
    """The function that is checked, of a sample."""
    divisor: float = 1.0
    """By how much corrections for several tests divide a level. Samples are aimed by it; it changes no rate."""


def rates(case: Case, runs: int, samples: int, seed: int = 0) -> list[dict[str, Any]]:
    """Return for each tail and level how often p-values are at most the level, divided by the level.

    Args:
        case: The comparison.
        runs: The number of runs of a sample.
        samples: The number of samples, or slightly more: equally many from each component of the mixture.
        seed: That of the samples.
    """
    weights, p = weighted_p_values(case, runs, samples, seed)
    rows = list[dict[str, Any]]()
    for tail, level in product((0, 1), LEVELS):
        errors = weights * (p[:, tail] <= level) / level
        of = {"kind": case.kind, "population": case.population, "runs": runs, "tail": TAILS[tail], "level": level}
        rows.append({**of, "ratio": errors.mean(), "error": errors.std() / np.sqrt(len(errors))})
    return rows


def weighted_p_values(
    case: Case, runs: int, samples: int, seed: int
) -> tuple[Float[np.ndarray, " B"], Float[np.ndarray, "B 2"]]:
    """Return the weights and the p-values of so many samples, equally many from each component of the mixture."""
    cards = cards_of(components(case, runs))
    log_ratios = np.log(cards / cards.sum(1, keepdims=True) * cards.shape[1])
    rng, of_each = np.random.default_rng(seed), -(-samples // len(cards))
    weights, p = list[np.ndarray](), list[PValues]()
    for deck in (np.repeat(np.arange(len(number), dtype=np.int32), number) for number in cards):
        for start in range(0, of_each, AT_A_TIME):
            size = min(AT_A_TIME, of_each - start), runs
            places = deck[rng.integers(len(deck), size=size, dtype=np.uint32)]
            of_components = np.array([of_runs[places].sum(1) for of_runs in log_ratios])
            weights.append(1.0 / np.exp(of_components).mean(0))
            p += [case.p_values(case.rows[sample]) for sample in places]
    return np.concatenate(weights), np.array(p)


def components(case: Case, runs: int) -> Float[np.ndarray, "C N"]:
    """Return the probabilities of runs in each component of the mixture; the first is the population itself."""
    sides = [sign * influence for influence in case.influences for sign in (1.0, -1.0)]
    tilts = [tilted(side, runs, aim / case.divisor) for side in sides for aim in AIMS]
    return np.array([np.full(len(case.rows), 1.0 / len(case.rows)), *tilts])


def cards_of(probabilities: Float[np.ndarray, "C N"]) -> Int[np.ndarray, "C N"]:
    """Return on how many cards each run is, so that a card has a run about with its probability; at least on one."""
    return np.maximum(1, np.rint(probabilities * max(CARDS, 4 * probabilities.shape[1]))).astype(int)


def tilted(influence: Float[np.ndarray, " N"], runs: int, aim: float) -> Float[np.ndarray, " N"]:
    """Return the probabilities of runs under which the t statistic is about as large as has this tail probability.

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
    for _ in range(TILTS):
        strength = brentq(excess, 0.0, STRONGEST, (c,)) if excess(STRONGEST, c) > 0.0 else STRONGEST
        chances = probabilities(strength, c)  # pyright: ignore[reportArgumentType]
        c = float(np.sqrt(chances @ x**2))
    return chances
