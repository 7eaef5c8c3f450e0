"""Plan the number of units from a pilot table."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtrc, bdtrik, ndtri

from verdicts.estimates import ERROR, Largest, Rate, ScalarEstimate
from verdicts.groups import Linear, Lowest, Ratio
from verdicts.judging import Claims, check_shares, named_parts
from verdicts.language import read_claims
from verdicts.parts import INTEREST_SHARE, Part
from verdicts.tables import find_roles, read_table

POWER = 0.8
"""The probability to decide a claim with the planned number of units."""

MAX_PLANNED_UNITS = 1_000_000
"""The limit of planned numbers of units; larger ones are unknown."""


def plan(
    table: pd.DataFrame | str | Path, claims: Claims, error: float = ERROR, *, power: float = POWER, **roles: Any
) -> pd.DataFrame:
    """Tell how many units in each group decide each claim, if the estimates are the truth.

    Args:
        table: A pilot table, as of `judge`.
        claims: As of `judge`.
        error: The error of all verdicts together.
        power: The probability to decide a claim.
        roles: The roles of columns, as of `judge`.

    Returns:
        A row for each claim with the present and the needed number; it is infinite if unknown.
    """
    check_shares(error=error, power=power)
    data, listed = find_roles(read_table(table), **roles), read_claims(claims)
    rows = []
    for claim in listed:
        comparisons = named_parts(data, claim, INTEREST_SHARE)
        level = error / len(listed) / len(comparisons) / 2
        needed = [planned_units(comparison, level, power) for comparison in comparisons]
        estimate = comparisons[int(np.argmax(needed))].estimate
        rows.append((claim.id, claim.text, estimate.value, estimate.units, max(needed)))
    return pd.DataFrame(rows, columns=["id", "claim", "estimate", "n", "needed"])


def planned_units(comparison: Part, level: float, power: float) -> float:
    """Return the units to show an estimate inside its range, or outside."""
    needed = [_units(comparison.estimate, end, level, power) for end in comparison.thresholds]
    return max(needed) if comparison.above < comparison.estimate.value < comparison.below else min(needed)


def _units(estimate: ScalarEstimate, end: float, level: float, power: float) -> float:
    """Return the units to tell an estimate from a threshold; infinite if unknown."""
    if isinstance(estimate, Linear | Ratio):
        units = estimate.units_for_power(end - estimate.value, level, power)
        return units if units < MAX_PLANNED_UNITS else inf
    if isinstance(estimate, Rate):
        return _rate_units(estimate, end, level, power)
    if isinstance(estimate, Largest):
        deciding = [candidate for candidate in estimate.estimates if estimate.value < end or candidate.value > end]
        needed = [_units(candidate, end, level, power) for candidate in deciding]
        return max(needed) if estimate.value < end else min(needed, default=inf)
    if isinstance(estimate, Lowest):
        rows = np.array([[_units(pair, end, level, power) for pair in row] for row in estimate.pairs])
        return float(rows.max(1).min() if estimate.value < end else rows.max(0).min())
    return inf


def _rate_units(rate: Rate, threshold: float, level: float, power: float) -> float:
    """Return the units of a binomial test of a share; ties count against it."""
    share = rate.successes / rate.units
    if rate.value < threshold:  # then the share of failures is above 1 - threshold
        share, threshold = 1.0 - share - rate.ties / rate.units, 1.0 - threshold
    if share <= threshold:
        return inf
    deviations = np.sqrt([threshold * (1.0 - threshold), share * (1.0 - share)])
    normal = float((deviations @ ndtri([1.0 - level, power]) / (share - threshold)) ** 2)
    if normal > MAX_PLANNED_UNITS:
        return inf
    units = np.arange(1, 2 * int(normal) + 100)
    critical = np.ceil(bdtrik(1.0 - level, units, threshold))
    critical += bdtrc(critical, units, threshold) > level
    is_enough = (critical < units) & (bdtrc(critical, units, share) >= power)
    return float(units[is_enough.argmax()]) if is_enough.any() else inf
