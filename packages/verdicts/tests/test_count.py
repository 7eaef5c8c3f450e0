"""How many of several statements are true, by Holm's correction."""

import numpy as np
import pytest

from verdicts.comparisons import in_more_than
from verdicts.estimates import Count, mean
from verdicts.parts import Part, Verdict, judge_part


def count(p_true: list[float]) -> Count:
    return Count(value=0.0, units=100, p_true=tuple(p_true), p_false=tuple(1.0 - p for p in p_true))


def test_the_interval_counts_what_holm_rejects() -> None:
    # at 0.025: 0.001 x 4 and 0.008 x 3 are rejected, 0.02 x 2 is not, and nothing after it
    assert count([0.02, 0.001, 0.9, 0.008]).interval(0.05) == (2.0, 4.0)
    assert count([0.9999, 0.5, 0.001, 0.999]).interval(0.05) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("p_true", "above", "verdict"),
    [
        ([0.001, 0.001, 0.001], 2.5, Verdict.HOLDS),
        ([0.001, 0.001, 0.999], 2.5, Verdict.DOES_NOT_HOLD),
        ([0.001, 0.001, 0.2], 2.5, Verdict.UNDECIDED),
        ([0.001, 0.9999, 0.9999], 0.5, Verdict.HOLDS),
        ([0.01, 0.9, 0.9], 0.5, Verdict.UNDECIDED),
        ([0.9999, 0.9999, 0.9999], 0.5, Verdict.DOES_NOT_HOLD),
        ([0.001, 0.001, 0.5], 1.5, Verdict.HOLDS),
        ([0.001, 0.9999, 0.9999], 1.5, Verdict.DOES_NOT_HOLD),
    ],
)
def test_claims_on_every_one_and_most(p_true: list[float], above: float, verdict: Verdict) -> None:
    assert Part("", count(p_true), above=above).verdict(0.05) is verdict


def test_too_few_units_name_the_sufficient_number() -> None:
    few = Count(3.0, 5, (0.1,) * 3, (0.9,) * 3, smallest=1 / 252, each="5 against 5 runs")
    reason = judge_part(Part("", few, above=2.5), 0.02).reason
    assert reason.startswith("5 against 5 runs in each of 3 statements (Holm): the smallest possible p is 0.012")
    assert reason.endswith("at least 6 in each would be needed")


def test_groups_are_refuted_with_doubled_p() -> None:
    estimates = [Part("", mean(np.random.default_rng(seed).normal(0.3, size=50)), below=0.0) for seed in range(2)]
    (claimed, *_) = in_more_than(0.5, [estimates], "")
    assert claimed.p_refute == 2 * min(estimate.p_refute for estimate in estimates)
    assert claimed.p_hold == max(estimate.p_hold for estimate in estimates)


def test_true_statements_are_rarely_counted_as_false() -> None:
    """If p-values of false statements are uniform, the count is too large in at most 2.5 % of cases."""
    rng = np.random.default_rng(0)
    wrong = sum(count([0.0, 0.0, *rng.random(5)]).interval(0.05)[0] > 2 for _ in range(2000))
    assert wrong / 2000 < 0.025 + 3 * np.sqrt(0.025 / 2000)
