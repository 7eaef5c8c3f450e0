"""Find columns and earlier rows associated with actions and outcomes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl_logs.association import MAX_TESTED_ROWS, Association, associate
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.table_columns import as_numbers, assign_bins

MAX_CHANCE_P = 1e-3
"""The largest p-value of an association, corrected for all columns."""

MIN_CRAMERS_V = 0.05
"""The smallest effect of an association, with actions and with outcomes."""

MAX_LEVELS = 8
"""The most distinct numbers of a column that is tested without bins."""

BINS = 4
"""The number of bins of other numbers."""


@dataclass(frozen=True, eq=False)
class _Strata:
    """Rows and the strata within which they are compared."""

    chosen: Int[np.ndarray, " k"]
    state: Int[np.ndarray, " k"]
    """The stratum by task and state."""
    pair: Int[np.ndarray, " k"]
    """The stratum by task, state and action."""
    action: Int[np.ndarray, " k"]
    following: Int[np.ndarray, " k"]
    paid: Int[np.ndarray, " k"]
    """The bin of the reward."""

    def course(self, column: Int[np.ndarray, " k"], tests: int) -> Association:
        """Return a column's stronger association, with next states or rewards."""
        associations = associate(column, self.following, self.pair), associate(column, self.paid, self.pair)
        return max(associations, key=lambda course: (_counts(course, 2 * tests), course.effect))


def _strata(rows: Rows, among: Int[np.ndarray, " m"]) -> _Strata:
    """Return the strata of rows, at most `MAX_TESTED_ROWS` drawn at random."""
    if len(among) > MAX_TESTED_ROWS:
        among = np.sort(np.random.default_rng(0).choice(among, MAX_TESTED_ROWS, replace=False))
    task, state, action, following = (values[among] for values in (rows.task, rows.state, rows.action, rows.following))
    state_stratum = task * (int(state.max(initial=0)) + 1) + state
    pair_stratum = state_stratum * (int(action.max(initial=0)) + 1) + action
    return _Strata(among, state_stratum, pair_stratum, action, following, assign_bins(rows.reward[among], BINS - 1))


def check_columns(rows: Rows, columns: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find columns without a role associated with actions and with outcomes.

    Actions are compared within tasks and states, outcomes also within actions. Determined columns are left out.
    """
    strata = _strata(rows, np.arange(len(rows.state)))
    chosen = strata.chosen
    named = [rows.task[chosen], rows.state[chosen], strata.action, strata.following, strata.pair]
    named.append(np.unique(rows.reward[chosen], return_inverse=True)[1])
    levels = {
        name: categories for name, column in columns.items() if (categories := _levels(column, chosen)) is not None
    }
    levels = {name: codes for name, codes in levels.items() if not any(_says_the_same(codes, other) for other in named)}
    for name, codes in levels.items():
        with_action = associate(codes, strata.action, strata.state)
        if not _counts(with_action, len(levels)):
            continue
        course = strata.course(codes, len(levels))
        if _counts(course, 2 * len(levels)):
            yield _about_column(rows, name, columns[name], with_action, course)


def check_history(rows: Rows) -> Iterator[Finding]:
    """Find outcomes associated with neighbouring rows, given state and action.

    In a Markov process the previous row predicts no outcome, and rewards are independent of the next action. Only
    linked rows are compared.
    """
    n = len(rows.state)
    follows = (rows.group[1:] == rows.group[:-1]) & ~rows.ended[:-1] & (rows.following[:-1] == rows.state[1:])
    later = np.flatnonzero(follows) + 1
    if len(later) < n / 4:
        return
    strata = _strata(rows, later)
    before = strata.chosen - 1
    for what, codes in (("action", rows.action[before]), ("state", rows.state[before])):
        course = strata.course(codes, 3)
        if _counts(course, 6):
            yield _about_history(
                rows, f"the {what} of the row before goes with what follows", course, int(strata.chosen[0])
            )
            return
    earlier = _strata(rows, later - 1)
    transition = earlier.pair * (int(earlier.following.max(initial=0)) + 1) + earlier.following
    course = associate(rows.action[earlier.chosen + 1], earlier.paid, transition)
    if _counts(course, 6):
        column = rows.columns["reward"]
        yield _about_history(rows, f"{column!r} goes with the action of the next row", course, int(earlier.chosen[0]))


def _about_history(rows: Rows, what: str, course: Association, row: int) -> Finding:
    return Finding(
        "history",
        "weakens",
        f"{what} (V = {course.effect:.2f}) where state and action are the same ({rows.label(row)}): check that "
        f"actions and rewards stand in their own rows, or add what else matters to --state {rows.columns['state']}",
    )


def _counts(association: Association, tests: int) -> bool:
    return association.p * tests < MAX_CHANCE_P and association.effect >= MIN_CRAMERS_V


def _about_column(rows: Rows, name: str, column: "pd.Series", action: Association, course: Association) -> Finding:
    many = column.nunique() > MAX_LEVELS and as_numbers(column) is not None
    return Finding(
        "column",
        "weakens",
        f"the column {name!r} goes with the action (V = {action.effect:.2f}) and with what follows (V = "
        f"{course.effect:.2f}) where states are the same ({rows.label(0)} has {column.iloc[0]}): gains may be those "
        f"of {name!r}, and not of actions; if it is known before the action, write "
        f"--state {rows.columns['state']},{name}" + f" --bins {name}={BINS}" * many,
    )


def _levels(column: "pd.Series", chosen: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"] | None:
    """Return the categories of a column; None without usable ones.

    Missing values are a category.
    """
    try:
        codes, values_found = pd.factorize(column.iloc[chosen])
    except TypeError:
        return None
    if len(values_found) + bool((codes < 0).any()) < 2:
        return None
    if len(values_found) <= MAX_LEVELS:
        return codes + 1
    numbers = as_numbers(pd.Series(np.asarray(values_found, object)))
    if numbers is None:
        return codes + 1 if len(values_found) <= len(chosen) / 20 else None
    values = np.append(numbers, np.nan)[codes]
    return np.where(np.isnan(values), 0, 1 + assign_bins(np.nan_to_num(values), BINS))


def _says_the_same(column: Int[np.ndarray, " n"], named: Int[np.ndarray, " n"]) -> bool:
    """Return whether a named column determines another one."""
    pairs = np.unique(named.astype(np.int64) * (int(column.max()) + 1) + column)
    different = len(np.unique(named))
    return len(pairs) == different < len(named) / 2 or len(pairs) <= 1.01 * different < len(named) / 4
