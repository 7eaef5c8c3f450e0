"""Verdicts on single claims, without correction for the number of claims."""

from collections.abc import Sequence

from pomrl.results.intervals import ERROR_RATE
from verdicts.parts import Part, Verdict, combine_verdicts


def by_itself(estimates: Sequence[Part]) -> Verdict:
    """Return the verdict by simultaneous 95 % intervals of all parts (Bonferroni)."""
    return combine_verdicts([estimate.verdict(ERROR_RATE / len(estimates)) for estimate in estimates])
