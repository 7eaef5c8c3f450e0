"""How often 95 % intervals contain the truth, by simulation."""

from typing import Any

import numpy as np
from scipy import stats
from tables_of_tests import heavy_tailed

from verdicts.estimates import ERROR, mean, mean_difference
from verdicts.minima import ratio


def misses(truth: float, estimates: list[Any]) -> int:
    """Count intervals without the truth, by p-values.

    They are half of the error at the ends of an interval (test_estimates.py).
    """
    return sum(min(estimate.p_values(truth)) <= ERROR / 2 for estimate in estimates)


REPLICATIONS = 400
NOMINAL = stats.binom(REPLICATIONS, 0.05)
NEARLY = stats.binom(REPLICATIONS, 0.075)
"""The distribution of the number of misses that is accepted for skewed numbers, with 7.5 % instead of 5 %."""


class TestCoverage:
    def test_normal_differences_have_nominal_coverage(self):
        rng = np.random.default_rng(0)
        estimates = [mean_difference(rng.normal(0.3, 1.0, 20), np.zeros(20)) for _ in range(REPLICATIONS)]
        assert NOMINAL.ppf(0.001) <= misses(0.3, estimates) <= NOMINAL.ppf(0.999)

    def test_of_heavy_tailed_pairs(self):
        rng = np.random.default_rng(1)
        estimates = [mean(heavy_tailed(rng, 100) - 0.5 * heavy_tailed(rng, 100)) for _ in range(REPLICATIONS)]
        assert NOMINAL.ppf(0.001) <= misses(0.5, estimates) <= NEARLY.ppf(0.999)

    def test_of_a_ratio_of_heavy_tailed_losses(self):
        rng = np.random.default_rng(3)
        estimates = []
        for _ in range(REPLICATIONS):
            common = heavy_tailed(rng, 100)
            estimates.append(ratio(common + heavy_tailed(rng, 100), common + 0.5 * heavy_tailed(rng, 100)))
        assert NOMINAL.ppf(0.001) <= misses(2.0 / 1.5 - 1.0, estimates) <= NEARLY.ppf(0.999)
