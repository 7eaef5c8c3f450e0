"""Columns that are not named, and rows before, that go with the action and with what follows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl_logs.association import AUDITED_ROWS, Association, associate
from pomrl_logs.binning import bins_of, numbers_of
from pomrl_logs.findings import Finding
from pomrl_logs.log_rows import Rows

CERTAIN = 1e-3
"""How probable a chance association may be, over all columns."""

LEAST_EFFECT = 0.05
"""The least Cramér's V of an association that counts, with the action and with what follows."""

MOST_LEVELS = 8
"""Numbers with more different values are put into so many bins of equal size for a test."""

BINS = 4
"""The number of those bins."""


@dataclass(frozen=True, eq=False)
class _Strata:
    """Some of the rows, and the strata within which they are compared."""

    chosen: Int[np.ndarray, " k"]
    state: Int[np.ndarray, " k"]
    """The stratum of each row by task and state."""
    pair: Int[np.ndarray, " k"]
    """The same by task, state and action."""
    action: Int[np.ndarray, " k"]
    following: Int[np.ndarray, " k"]
    paid: Int[np.ndarray, " k"]
    """The bin of the reward."""

    def course(self, each: Int[np.ndarray, " k"], tests: int) -> Association:
        """Return how a column goes with the next state, or with the reward, whichever says more."""
        found = associate(each, self.following, self.pair), associate(each, self.paid, self.pair)
        return max(found, key=lambda course: (_counts(course, 2 * tests), course.effect))


def _strata(rows: Rows, among: Int[np.ndarray, " m"]) -> _Strata:
    """Return the strata of rows, or of `AUDITED_ROWS` of them, drawn at random."""
    if len(among) > AUDITED_ROWS:
        among = np.sort(np.random.default_rng(0).choice(among, AUDITED_ROWS, replace=False))
    task, state, action, following = (each[among] for each in (rows.task, rows.state, rows.action, rows.following))
    of_state = task * (int(state.max(initial=0)) + 1) + state
    of_pair = of_state * (int(action.max(initial=0)) + 1) + action
    return _Strata(among, of_state, of_pair, action, following, bins_of(rows.reward[among], BINS - 1))


def check_columns(rows: Rows, others: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find columns that are not named and go with the action and with what follows.

    An action is looked at within each task and state, and what follows, the next state or the reward, within each task,
    state and action. Columns that say the same as a named one are left out.
    """
    strata = _strata(rows, np.arange(len(rows.state)))
    chosen = strata.chosen
    named = [rows.task[chosen], rows.state[chosen], strata.action, strata.following, strata.pair]
    named.append(np.unique(rows.reward[chosen], return_inverse=True)[1])
    levels = {name: found for name, column in others.items() if (found := _levels(column, chosen)) is not None}
    levels = {name: each for name, each in levels.items() if not any(_says_the_same(each, other) for other in named)}
    for name, each in levels.items():
        with_action = associate(each, strata.action, strata.state)
        if not _counts(with_action, len(levels)):
            continue
        course = strata.course(each, len(levels))
        if _counts(course, 2 * len(levels)):
            yield _about_column(rows, name, others[name], with_action, course)


def check_history(rows: Rows) -> Iterator[Finding]:
    """Find that rows before or after go with what follows, although state and action are the same.

    Where states say all that matters, what was before goes with nothing that follows, and rewards do not go with what
    is done later. Only rows count that follow each other in a chain. Columns that are one row off are found so, too.
    """
    n = len(rows.state)
    follows = (rows.group[1:] == rows.group[:-1]) & ~rows.ended[:-1] & (rows.following[:-1] == rows.state[1:])
    later = np.flatnonzero(follows) + 1
    if len(later) < n / 4:
        return
    strata = _strata(rows, later)
    before = strata.chosen - 1
    for what, each in (("action", rows.action[before]), ("state", rows.state[before])):
        course = strata.course(each, 3)
        if _counts(course, 6):
            yield _about_history(
                rows, f"the {what} of the row before goes with what follows", course, int(strata.chosen[0])
            )
            return
    earlier = _strata(rows, later - 1)
    of_transition = earlier.pair * (int(earlier.following.max(initial=0)) + 1) + earlier.following
    course = associate(rows.action[earlier.chosen + 1], earlier.paid, of_transition)
    if _counts(course, 6):
        column = rows.columns["reward"]
        yield _about_history(rows, f"{column!r} goes with the action of the next row", course, int(earlier.chosen[0]))


def _about_history(rows: Rows, what: str, course: Association, row: int) -> Finding:
    return Finding(
        "history",
        "weakens",
        f"{what} (V = {course.effect:.2f}) where state and action are the same ({rows.place(row)}): check that "
        f"actions and rewards stand in their own rows, or add what else matters to --state {rows.columns['state']}",
    )


def _counts(found: Association, tests: int) -> bool:
    return found.p * tests < CERTAIN and found.effect >= LEAST_EFFECT


def _about_column(rows: Rows, name: str, column: "pd.Series", action: Association, course: Association) -> Finding:
    many = column.nunique() > MOST_LEVELS and numbers_of(column) is not None
    return Finding(
        "column",
        "weakens",
        f"the column {name!r} goes with the action (V = {action.effect:.2f}) and with what follows (V = "
        f"{course.effect:.2f}) where states are the same ({rows.place(0)} has {column.iloc[0]}): gains may be those of "
        f"{name!r}, and not of actions; if it is known before the action, write --state {rows.columns['state']},{name}"
        + f" --bins {name}={BINS}"
        * many,
    )


def _levels(column: "pd.Series", chosen: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"] | None:
    """Return the categories of a column in some rows, numbers in bins; None where there are none to speak of.

    Whether a value is missing is a category too.
    """
    try:
        codes, found = pd.factorize(column.iloc[chosen])
    except TypeError:
        return None
    if len(found) + bool((codes < 0).any()) < 2:
        return None
    if len(found) <= MOST_LEVELS:
        return codes + 1
    numbers = numbers_of(pd.Series(np.asarray(found, object)))
    if numbers is None:
        return codes + 1 if len(found) <= len(chosen) / 20 else None
    values = np.append(numbers, np.nan)[codes]
    return np.where(np.isnan(values), 0, 1 + bins_of(np.nan_to_num(values), BINS))


def _says_the_same(column: Int[np.ndarray, " n"], named: Int[np.ndarray, " n"]) -> bool:
    """Return whether a named column determines another one."""
    pairs = np.unique(named.astype(np.int64) * (int(column.max()) + 1) + column)
    different = len(np.unique(named))
    return len(pairs) == different < len(named) / 2 or len(pairs) <= 1.01 * different < len(named) / 4
