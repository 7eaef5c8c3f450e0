"""Find columns and earlier rows associated with actions and outcomes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Int

from pomrl_logs.association import MAX_TESTED_ROWS, Association, associate, is_relevant
from pomrl_logs.findings import Finding, Rows
from pomrl_logs.numeric_columns import as_numbers, assign_bins

MAX_LEVELS = 8
"""The largest number of distinct values of a numeric column tested without bins."""

MIN_SHIFTED_V = 0.3
"""Cramér's V from which earlier rows void advice; hidden causes were below 0.2, columns a row late above 0.5."""

MIN_EARLIER_ROWS = 3
"""The smallest number of earlier rows in a test of the earlier actions of an episode."""

BINS = 4
"""The number of bins of other numeric columns."""


@dataclass(frozen=True, eq=False)
class _Strata:
    chosen: Int[np.ndarray, " k"]
    state: Int[np.ndarray, " k"]
    """The stratum by task and state."""
    pair: Int[np.ndarray, " k"]
    """The stratum by task, state and action."""
    action: Int[np.ndarray, " k"]
    following: Int[np.ndarray, " k"]
    paid: Int[np.ndarray, " k"]
    """The bin of the reward."""

    def outcome(self, column: Int[np.ndarray, " k"], tests: int) -> Association:
        associations = associate(column, self.following, self.pair), associate(column, self.paid, self.pair)
        return max(associations, key=lambda outcome: (is_relevant(outcome, 2 * tests), outcome.effect))


def _strata(rows: Rows, among: Int[np.ndarray, " m"]) -> _Strata:
    if len(among) > MAX_TESTED_ROWS:
        among = np.sort(np.random.default_rng(0).choice(among, MAX_TESTED_ROWS, replace=False))
    task, state, action, following = (values[among] for values in (rows.task, rows.state, rows.action, rows.following))
    state_stratum = task * (int(state.max(initial=0)) + 1) + state
    pair_stratum = state_stratum * (int(action.max(initial=0)) + 1) + action
    return _Strata(among, state_stratum, pair_stratum, action, following, assign_bins(rows.reward[among], BINS - 1))


def check_columns(rows: Rows, columns: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find associations of columns without a role with actions and outcomes.

    Actions are compared within tasks and states, outcomes also within actions. Columns determined by columns with a
    role are left out.
    """
    strata = _strata(rows, np.arange(len(rows.state)))
    selected_rows = strata.chosen
    named = [rows.task[selected_rows], rows.state[selected_rows], strata.action, strata.following, strata.pair]
    named.append(np.unique(rows.reward[selected_rows], return_inverse=True)[1])
    levels = {
        name: categories
        for name, column in columns.items()
        if (categories := _levels(column, selected_rows)) is not None
    }
    levels = {name: codes for name, codes in levels.items() if not any(_is_determined(codes, other) for other in named)}
    for name, codes in levels.items():
        with_action = associate(codes, strata.action, strata.state)
        if not is_relevant(with_action, len(levels)):
            continue
        outcome = strata.outcome(codes, len(levels))
        if is_relevant(outcome, 2 * len(levels)):
            yield _column_finding(rows, name, columns[name], with_action, outcome)


def check_history(rows: Rows) -> Iterator[Finding]:
    """Find outcomes associated with neighbouring rows, given state and action.

    In a Markov process the previous row predicts no outcome, and rewards are independent of the next action. Only
    consecutive transitions are compared.
    """
    n = len(rows.state)
    follows = (rows.group[1:] == rows.group[:-1]) & ~rows.ended[:-1] & (rows.following[:-1] == rows.state[1:])
    later = np.flatnonzero(follows) + 1
    if len(later) < n / 4:
        return
    strata = _strata(rows, later)
    before = strata.chosen - 1
    for what, codes in (("action", rows.action[before]), ("state", rows.state[before])):
        outcome = strata.outcome(codes, 3)
        if is_relevant(outcome, 6):
            yield _history_finding(
                rows, f"the {what} of the previous row is associated with the outcome", outcome, int(strata.chosen[0])
            )
            return
    earlier = _strata(rows, later - 1)
    transition = earlier.pair * (int(earlier.following.max(initial=0)) + 1) + earlier.following
    outcome = associate(rows.action[earlier.chosen + 1], earlier.paid, transition)
    if is_relevant(outcome, 6):
        column = rows.columns["reward"]
        yield _history_finding(
            rows, f"{column!r} is associated with the action of the next row", outcome, int(earlier.chosen[0])
        )
        return
    yield from _check_earlier_actions(rows)


def _check_earlier_actions(rows: Rows) -> Iterator[Finding]:
    """Find hidden types: the actions so far in the episode predict the next state."""
    starts = np.flatnonzero(np.append(True, rows.group[1:] != rows.group[:-1]))
    first = np.repeat(starts, np.diff(np.append(starts, len(rows.group))))
    before = np.arange(len(rows.group)) - first
    if not rows.has_episodes or not (before >= MIN_EARLIER_ROWS).any():
        return
    strata = _strata(rows, np.flatnonzero(before >= MIN_EARLIER_ROWS))
    actions = np.bincount(rows.action).argsort()[::-1][:MAX_LEVELS]
    for action in actions:
        count = np.cumsum(np.append(0, rows.action == action))
        share = ((count[:-1] - count[first]) / np.maximum(before, 1))[strata.chosen]
        outcome = associate(assign_bins(share, 3), strata.following, strata.pair)
        if is_relevant(outcome, len(actions)):
            what = "the share of an action so far in the episode is associated with the outcome"
            yield _history_finding(rows, what, outcome, int(strata.chosen[0]))
            return


def _history_finding(rows: Rows, what: str, outcome: Association, row: int) -> Finding:
    return Finding(
        "shifted" if outcome.effect >= MIN_SHIFTED_V else "history",
        f"{what} (Cramér's V = {outcome.effect:.2f}) where state and action are equal ({rows.label(row)}): check that "
        f"actions and rewards are in the right rows, or add another column to --state {rows.columns['state']}",
    )


def _column_finding(rows: Rows, name: str, column: "pd.Series", action: Association, outcome: Association) -> Finding:
    many = column.nunique() > MAX_LEVELS and as_numbers(column) is not None
    return Finding(
        "column",
        f"the column {name!r} is associated with the action (Cramér's V = {action.effect:.2f}) and with the outcome (V "
        f"= {outcome.effect:.2f}) where states are equal ({rows.label(0)} has {column.iloc[0]}): gains may be effects "
        f"of {name!r} instead of actions; if it is known before the action, write "
        f"--state {rows.columns['state']},{name}" + f" --bins {name}={BINS}" * many,
    )


def _levels(column: "pd.Series", selected_rows: Int[np.ndarray, " k"]) -> Int[np.ndarray, " k"] | None:
    """Return the category of each row, 0 if missing; None without usable categories."""
    try:
        codes, values_found = pd.factorize(column.iloc[selected_rows])
    except TypeError:
        return None
    if len(values_found) + bool((codes < 0).any()) < 2:
        return None
    if len(values_found) <= MAX_LEVELS:
        return codes + 1
    numbers = as_numbers(pd.Series(np.asarray(values_found, object)))
    if numbers is None:
        return codes + 1 if len(values_found) <= len(selected_rows) / 20 else None
    values = np.append(numbers, np.nan)[codes]
    return np.where(np.isnan(values), 0, 1 + assign_bins(np.nan_to_num(values), BINS))


def _is_determined(column: Int[np.ndarray, " n"], named: Int[np.ndarray, " n"]) -> bool:
    pairs = np.unique(named.astype(np.int64) * (int(column.max()) + 1) + column)
    different = len(np.unique(named))
    return len(pairs) == different < len(named) / 2 or len(pairs) <= 1.01 * different < len(named) / 4
