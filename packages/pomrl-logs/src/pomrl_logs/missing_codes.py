"""Find states with codes of missing values."""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from scipy.stats import chi2

from pomrl_logs.findings import Finding, Rows

TEXTS = ("na", "n/a", "nan", "null", "?", "missing")
"""Names of missing values, in lower case."""

NUMBERS = (-1, -9, -99, -999, -9999, 9, 99, 999, 9999)
"""Numbers that code missing values where others are far from them."""

COMMON = ("-1", "9")
"""Codes that are often names of states, too."""

MIN_ENTRIES = 5
"""The smallest number of entries of a code for a test."""

MIN_P = 0.01
"""The p-value above which a state counts as entered alike from all others."""


def check_codes(rows: Rows) -> Iterator[Finding]:
    """Report states with codes of missing values, such as NA or -1."""
    for index, code in _codes(rows.states):
        visits = np.flatnonzero(rows.state == index)
        is_odd = _is_number(code) and _is_entered_alike(rows, index)
        if not len(visits) or (not is_odd and code in COMMON):
            continue
        line = f"the state {rows.states[index]!s} stands in {len(visits)} rows ({rows.label(int(visits[0]))})"
        if is_odd:
            line += ", and is entered as often from all states and actions"
        remedy = f"if it is a code of missing values, add --missing {code}"
        yield (Finding("codes", f"{line}; {remedy}") if is_odd else Finding("missing", f"{line}; {remedy}"))


def _codes(states: Sequence[Hashable]) -> list[tuple[int, str]]:
    """Return indices of states with a code as name or part, and the code."""
    components = [list(map(str, state)) if isinstance(state, tuple) else [str(state)] for state in states]
    numbers = {
        position: _number_codes({names[position] for names in components if position < len(names)})
        for position in range(max(map(len, components)))
    }
    return [
        (index, name)
        for index, names in enumerate(components)
        for position, name in enumerate(names)
        if name.casefold() in TEXTS or name in numbers[position]
    ]


def _number_codes(names: set[str]) -> set[str]:
    """Return codes of missing values, far from all other numbers."""
    values = {name: float(name) for name in names if _is_number(name)}
    ordinary = [value for value in values.values() if value not in NUMBERS]
    if len(ordinary) < 2:
        return set()
    return {
        name
        for name, value in values.items()
        if value in NUMBERS and (value < 0.0 <= min(ordinary) or value > 2.0 * max(ordinary) > 0.0)
    }


def _is_number(name: str) -> bool:
    try:
        return bool(np.isfinite(float(name)))
    except ValueError:
        return False


def _is_entered_alike(rows: Rows, code: int) -> bool:
    """Return whether pairs of state and action lead to the state equally often (chi-square test)."""
    is_other = rows.state != code
    pair = np.unique(rows.state[is_other] * (rows.action.max() + 1) + rows.action[is_other], return_inverse=True)[1]
    entered = rows.following[is_other] == code
    share = entered.mean() if len(entered) else 0.0
    if entered.sum() < MIN_ENTRIES or share > 0.5:
        return False
    visits, entries = np.bincount(pair), np.bincount(pair, entered)
    statistic = ((entries - share * visits) ** 2 / (visits * share * (1.0 - share))).sum()
    return bool(chi2.sf(statistic, len(visits) - 1) > MIN_P)
