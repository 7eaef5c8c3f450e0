"""The audit of a log: what makes advice void, what weakens it, and how the table was read.

Each function looks for one kind of fault and returns findings. `KINDS` lists them; the documentation shows that table.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from pomrl.models_and_logs.association import Association, associate
from pomrl.models_and_logs.findings import Finding

KINDS = {
    "chain": "next states are the states of other rows: stops",
    "coding": "no next state is a state: stops",
    "cost": "costs are given as rewards: stops",
    "dates": "rewards are dates: stops",
    "breaks": "many next states are not the states of the next rows of their episodes: weakens",
    "ends": "states are never left, and `--ends` does not declare them: weakens where rewards are negative",
    "column": "a column that is not named goes with the action and with what follows: weakens",
    "repeats": "whole rows repeat in runs, and are counted once: weakens",
    "offset": "rewards differ by little beside what they have in common: weakens",
    "names": "names have blanks around them, and are joined without them: note",
    "order": "next states are those of the next rows of episodes, and last rows are left out: note",
    "task": "there is no column of tasks, and all rows are of one task: note",
    "decimals": "rewards have decimal commas: note",
}
"""What is looked for, by the name that `accept` takes where somebody says that it is meant."""

CERTAIN = 1e-3
"""How probable a chance association may be, over all columns."""

LEAST_EFFECT = 0.05
"""The least Cramér's V of an association that counts, with the action and with what follows."""

AUDITED_ROWS = 200_000
"""Of more rows, so many are drawn for the tests of columns."""

MOST_LEVELS = 8
"""Numbers with more different values are put into so many bins of equal size for a test."""

BINS = 4
"""The number of those bins."""

ALIGNMENTS = {
    0: "the state of its own row",
    2: "the state two rows on",
    3: "the state three rows on",
    -1: "the state one row before",
}
"""Other rows whose state a next state may be by mistake."""

FEWEST_ROWS = 200
"""Of fewer rows nobody can say that next states have nothing to do with states."""

CLEAR = 4.0
"""How many standard errors another alignment of rows fits better, before it stops."""

COST = re.compile(r"(?i)(?<![a-z])(cost|price|expense|penalt|loss|fee|charge|burden|kosten|spend|bill|damage)")
"""Names of columns that have costs."""

WINDOW = 48
"""The number of rows in a run that repeats."""

LEAST_DIFFERENT = 8
"""A run of fewer different rows may repeat by chance."""

MOST_COPIES = 4
"""A run that is there more often repeats by itself, as in a world without chance."""

FEWEST_DIFFERENT = 20
"""Fewer different rows may all be there several times by chance."""

FEWEST_TRIPLES = 8.0
"""If chance made fewer rows the same three times, nobody can say that rows are copies."""

LARGE_OFFSET = 1e6
"""Rewards whose common part is so many times their spread lose the digits in which they differ."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The transitions of a table as numbers, in the order of episodes, with the names for messages."""

    task: Int[np.ndarray, " n"]
    state: Int[np.ndarray, " n"]
    action: Int[np.ndarray, " n"]
    following: Int[np.ndarray, " n"]
    reward: Float[np.ndarray, " n"]
    ended: Bool[np.ndarray, " n"]
    """Whether an episode ends with the transition."""
    group: Int[np.ndarray, " n"]
    """The episode, or the task where no episodes are named."""
    has_episodes: bool
    has_time: bool
    states: tuple
    columns: Mapping[str, str]
    """The names of columns, by role."""
    is_state: Bool[np.ndarray, " S"]
    """Whether each state is that of a row, rows without a next state included."""
    place: Callable[[int], str]
    """What a message calls a row."""


def check_chain(rows: Rows) -> Iterator[Finding]:
    """Find rows whose next state is the state of another row than the next one, or their own."""
    first = _fits(rows, 1)
    for lag, what in ALIGNMENTS.items():
        other = _fits(rows, lag)
        both = (first >= 0) & (other >= 0)
        better, worse = ((sign & both) for sign in (other > first, other < first))
        whole = lag != 0 or (other == 1).mean() > 0.999
        if whole and _is_clear(better.sum(), worse.sum(), CLEAR):
            yield _about_chain(rows, what, both, better, (first, other))
            return
        tasks = int(rows.task.max(initial=0)) + 1
        of_tasks = _is_clear(np.bincount(rows.task, better, tasks), np.bincount(rows.task, worse, tasks), CLEAR + 1.0)
        if lag != 0 and of_tasks.any():
            inside = of_tasks[rows.task]
            yield _about_chain(
                rows, f"{what} in {of_tasks.sum()} tasks,", both & inside, better & inside, (first, other)
            )
            return
    yield from _check_own(rows, first)
    breaks = (first == 0) & (rows.group == np.roll(rows.group, -1))
    share = breaks.sum() / max(int((first >= 0).sum()), 1)
    if share > (0.05 if rows.has_episodes else 0.1) and (rows.has_time or _is_ordered(rows, first)):
        hint = (
            "sort the rows of episodes, or name --time" if rows.has_episodes else "name --episode if one begins there"
        )
        yield Finding(
            "breaks",
            "weakens",
            f"{rows.columns['next_state']!r} is not the state of the next row in {share:.0%} of rows "
            f"({rows.place(int(breaks.argmax()))}): {hint}",
        )
    elif not _is_ordered(rows, first):
        yield from _check_dependence(rows)


def _is_clear(better: Any, worse: Any, errors: float) -> Any:
    """Return whether so many rows fit better, and so many worse, that this is no chance (McNemar's test)."""
    return (better > 2 * worse) & (better - worse > errors * np.sqrt(better + worse))


def _is_ordered(rows: Rows, first: Int[np.ndarray, " n"]) -> bool:
    """Return whether next rows fit better than rows further away, and than the row itself.

    Where rows are sorted by state, next rows fit as well as the row itself.
    """
    for other in (_fits(rows, 0), _fits(rows, 3)):
        both = (first >= 0) & (other >= 0)
        if not _is_clear(int(((first > other) & both).sum()), int(((first < other) & both).sum()), CLEAR):
            return False
    return True


def _about_chain(rows: Rows, what: str, both: Any, better: Any, fits: tuple[Any, Any]) -> Finding:
    first, other = ((each == 1)[both].mean() for each in fits)
    return Finding(
        "chain",
        "stops",
        f"{rows.columns['next_state']!r} is {what} in {other:.0%} of rows, and that of the next row in {first:.0%} "
        f"({rows.place(int(better.argmax()))}): write the state that follows, or leave the column out and name "
        "--episode and --time",
    )


def _check_dependence(rows: Rows) -> Iterator[Finding]:
    """Find next states that have nothing to do with states and actions."""
    n = min(len(rows.state), AUDITED_ROWS)
    state, following, action, task = (each[:n] for each in (rows.state, rows.following, rows.action, rows.task))
    of_state = task * (int(state.max(initial=0)) + 1) + state
    found = associate(state, following, task), associate(action, following, of_state)
    if (
        n >= FEWEST_ROWS
        and len(np.unique(state)) > 1 < len(np.unique(following))
        and min(each.p for each in found) > 0.01
    ):
        yield Finding(
            "breaks",
            "weakens",
            f"{rows.columns['next_state']!r} has nothing to do with states and actions in {n:,} rows ({rows.place(0)} "
            f"leads from {rows.states[int(state[0])]!r} to {rows.states[int(following[0])]!r}): name another "
            "column, or leave it out and name --episode and --time",
        )


def _check_own(rows: Rows, first: Int[np.ndarray, " n"]) -> Iterator[Finding]:
    """Find a task whose next states are all its own, although its states change from row to row."""
    own, tasks = _fits(rows, 0), int(rows.task.max(initial=0)) + 1
    n = np.bincount(rows.task, own >= 0, tasks)
    still = np.bincount(rows.task, own == 1, tasks) == n
    moving = np.bincount(rows.task, (own == 1) & (first == 0), tasks)
    if (bad := still & (n >= 30) & (moving >= 10) & (moving > 0.1 * n)).any():
        row = int((bad[rows.task] & (first == 0)).argmax())
        yield Finding(
            "chain",
            "stops",
            f"{rows.columns['next_state']!r} is the state of its own row in all rows of {int(bad.sum())} tasks "
            f"({rows.place(row)}), although states change: write the state that follows",
        )


def _fits(rows: Rows, lag: int) -> Int[np.ndarray, " n"]:
    """Return whether each next state is the state so many rows on, 1 or 0; -1 where its episode has no such row."""
    n = len(rows.state)
    other = np.arange(n) + lag
    inside = (other >= 0) & (other < n) & ~rows.ended
    other = np.where(inside, other, 0)
    inside &= rows.group[other] == rows.group
    return np.where(inside, rows.following == rows.state[other], -1)


def check_coding(rows: Rows, declared: Bool[np.ndarray, " S"]) -> Iterator[Finding]:
    """Find next states none of which is a state."""
    follow = rows.following[~rows.ended]
    follow = follow[~declared[follow]]
    if len(follow) and not rows.is_state[follow].any():
        yield Finding(
            "coding",
            "stops",
            f"no next state is a state: {rows.columns['next_state']!r} has {rows.states[int(follow[0])]!r}, and "
            f"{rows.columns['state']!r} has {rows.states[int(rows.state[0])]!r} ({rows.place(0)}); write both "
            "alike, or name the ends of episodes with --ends",
        )


def check_ends(rows: Rows, declared: Bool[np.ndarray, " S"]) -> Iterator[Finding]:
    """Find states that are never left, although nobody says that episodes end there."""
    is_left = np.isin(np.arange(len(declared)), rows.state)
    open_ends = np.flatnonzero(~is_left & ~declared & np.isin(np.arange(len(declared)), rows.following))
    if not len(open_ends):
        return
    names = ", ".join(repr(rows.states[state]) for state in open_ends[:3]) + ", ..." * (len(open_ends) > 3)
    there = np.isin(rows.following, open_ends)
    worst = min(float(rows.reward.min(initial=0.0)), 0.0)
    example = f"{int(there.sum())} transitions, {rows.place(int(there.argmax()))}"
    yield Finding(
        "ends",
        "weakens" if worst < 0.0 else "note",
        f"{len(open_ends)} states are never left: {names} ({example}); advice holds whether nothing is paid there or "
        f"{worst:.3g} in each step; --ends declares where nothing is",
    )


def check_rewards(rows: Rows, *, is_cost: bool) -> Iterator[Finding]:
    """Find costs that are given as rewards, dates, and rewards that differ by little beside their size."""
    reward, column = rows.reward, rows.columns["reward"]
    given = -reward if is_cost else reward
    if COST.search(column) and not is_cost and (given >= 0.0).all() and (given > 0.0).any():
        yield Finding(
            "cost",
            "stops",
            f"the rewards {column!r} are all positive, {given.min():g} to {given.max():g}, and look like costs, which "
            f"would be maximised ({rows.place(int(given.argmax()))} has {given.max():g}): write --cost {column}",
        )
    if is_cost and (given <= 0.0).all() and (given < 0.0).any():
        yield Finding(
            "cost",
            "stops",
            f"the costs {column!r} are all negative, {given.min():g} to {given.max():g}, as if they were rewards "
            f"({rows.place(int(given.argmin()))} has {given.min():g}): write --reward {column}",
        )
    if _are_dates(given):
        yield Finding(
            "dates",
            "stops",
            f"the rewards {column!r} look like dates ({rows.place(0)} has {given[0]:.0f}): name another column",
        )
    spread = float(np.ptp(reward))
    if spread > 0.0 and np.abs(reward).max() > LARGE_OFFSET * spread:
        yield Finding(
            "offset",
            "weakens",
            f"rewards {column!r} are {reward.mean():.4g} and differ by {spread:.3g} at most ({rows.place(0)} has "
            f"{given[0]:.12g}): subtract what they have in common, unless episodes end",
        )


def _are_dates(values: Float[np.ndarray, " n"]) -> bool:
    """Return whether all numbers are days of the form 20251231, or times in seconds since 1970 of some years."""
    whole = np.unique(values[:10_000])
    if len(whole) < 2 or (whole % 1 != 0).any() or whole[0] < 19_000_101 or whole[-1] > 21_001_231:
        return False
    day = pd.to_datetime(pd.Series(whole.astype(int).astype(str)), format="%Y%m%d", errors="coerce")
    return bool(day.notna().all())


def check_columns(rows: Rows, others: Mapping[str, "pd.Series"]) -> Iterator[Finding]:
    """Find columns that are not named and go with the action and with what follows.

    An action is looked at within each task and state, and what follows, the next state or the reward, within each task,
    state and action. Columns that say the same as a named one are left out.
    """
    n = len(rows.state)
    chosen = (
        np.arange(n) if n <= AUDITED_ROWS else np.sort(np.random.default_rng(0).choice(n, AUDITED_ROWS, replace=False))
    )
    task, state, action, following = (each[chosen] for each in (rows.task, rows.state, rows.action, rows.following))
    of_state = task * (int(state.max(initial=0)) + 1) + state
    of_pair = of_state * (int(action.max(initial=0)) + 1) + action
    paid = bins_of(rows.reward[chosen], BINS - 1)
    named = [task, state, action, following, np.unique(rows.reward[chosen], return_inverse=True)[1], of_pair]
    levels = {name: found for name, column in others.items() if (found := _levels(column, chosen)) is not None}
    levels = {name: each for name, each in levels.items() if not any(_says_the_same(each, other) for other in named)}
    for name, each in levels.items():
        with_action = associate(each, action, of_state)
        if not _counts(with_action, len(levels)):
            continue
        course = max(
            (associate(each, following, of_pair), associate(each, paid, of_pair)),
            key=lambda found: (_counts(found, 2 * len(levels)), found.effect),
        )
        if _counts(course, 2 * len(levels)):
            yield _about_column(rows, name, others[name], with_action, course)


def _counts(found: Association, tests: int) -> bool:
    return found.p * tests < CERTAIN and found.effect >= LEAST_EFFECT


def _about_column(rows: Rows, name: str, column: "pd.Series", action: Association, course: Association) -> Finding:
    many = column.nunique() > MOST_LEVELS
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
    """Return the categories of a column in some rows, numbers in bins; None where there are none to speak of."""
    try:
        codes, found = pd.factorize(column.iloc[chosen])
    except TypeError:
        return None
    if len(found) < 2:
        return None
    if len(found) <= MOST_LEVELS:
        return codes + 1
    numbers = numbers_of(pd.Series(np.asarray(found, object)))
    if numbers is None:
        return codes + 1 if len(found) <= len(chosen) / 20 else None
    values = np.append(numbers, np.nan)[codes]
    return np.where(np.isnan(values), 0, 1 + bins_of(np.nan_to_num(values), BINS))


def numbers_of(values: "pd.Series") -> Float[np.ndarray, " n"] | None:
    """Return numbers or times as numbers, NaN where one is missing; None where they are others."""
    values = values.astype(object).where(values.astype(object) != "", None)
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() & values.notna()).any():
        numbers = pd.to_datetime(values, errors="coerce", format="ISO8601", utc=True)
        if (numbers.isna() & values.notna()).any():
            return None
        return np.where(numbers.isna(), np.nan, numbers.astype("int64").to_numpy(float))
    return numbers.to_numpy(float, na_value=np.nan)


def bins_of(values: Float[np.ndarray, " n"], count: int) -> Int[np.ndarray, " n"]:
    """Return the bin of each number, of bins of about equal size; equal numbers are in one bin."""
    return np.searchsorted(edges_of(values, count), values, side="right")


def edges_of(values: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, " k"]:
    """Return the numbers between bins of about equal size."""
    return np.unique(np.quantile(values, np.arange(1, count) / count, method="higher")) if len(values) else np.empty(0)


def _says_the_same(column: Int[np.ndarray, " n"], named: Int[np.ndarray, " n"]) -> bool:
    """Return whether a named column determines another one."""
    pairs = np.unique(named.astype(np.int64) * (int(column.max()) + 1) + column)
    different = len(np.unique(named))
    return len(pairs) == different < len(named) / 2 or len(pairs) <= 1.01 * different < len(named) / 4


def find_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows repeat others in runs: each row several times, the whole table, or a part of it.

    Args:
        row: A number for each row, the same for rows that are the same in all columns.
    """
    repeated = _each_row_repeats(row)
    if not repeated.any():
        repeated = _table_repeats(row)
    return repeated if repeated.any() else _runs_repeat(row)


def _each_row_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are further copies where each row stands k times below itself."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    lengths = np.diff(np.append(starts, len(row)))
    times = int(np.gcd.reduce(lengths)) if len(lengths) else 1
    if times < 2 or len(lengths) < FEWEST_DIFFERENT:
        return np.zeros(len(row), bool)
    return (np.arange(len(row)) - np.repeat(starts, lengths)) % times > 0


def _table_repeats(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are further copies where each different row is there a multiple of k times."""
    counts = np.bincount(row)
    times = int(np.gcd.reduce(counts)) if len(counts) else 1
    if times < 2 or len(counts) < FEWEST_DIFFERENT:
        return np.zeros(len(row), bool)
    return number_of_copy(row) >= counts[row] // times


def are_copies(row: Int[np.ndarray, " n"]) -> bool:
    """Return whether rows are there twice that chance would make the same three times too.

    If rows are the same by chance, those that are there once, twice and three times have Poisson's proportions, n_3 =
    2 n_2² / (3 n_1), and more triples if rows differ in their chance.
    """
    once, twice, thrice = np.bincount(np.bincount(row), minlength=4)[1:4]
    by_chance = 2.0 * float(twice) ** 2 / (3.0 * max(float(once), 1.0))
    return bool(by_chance >= FEWEST_TRIPLES and thrice < 0.3 * by_chance)


def number_of_copy(row: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Return how many of the same rows are above each row."""
    order = np.argsort(row, kind="stable")
    starts = np.flatnonzero(np.append(True, row[order][1:] != row[order][:-1]))
    copies = np.empty(len(row), int)
    copies[order] = np.arange(len(row)) - np.repeat(starts, np.diff(np.append(starts, len(row))))
    return copies


def _runs_repeat(row: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Return which rows are in a run of `WINDOW` rows, many of them different, that stands above too."""
    n = len(row) - WINDOW + 1
    if n < 2:
        return np.zeros(len(row), bool)
    key = np.zeros(n, np.uint64)
    for offset in range(WINDOW):
        key = key * np.uint64(6364136223846793005) + row[offset : offset + n].astype(np.uint64) + np.uint64(1)
    code = pd.factorize(key)[0]
    further = np.flatnonzero((number_of_copy(code) > 0) & (np.bincount(code)[code] <= MOST_COPIES))
    different = [len(np.unique(row[start : start + WINDOW])) for start in further[::WINDOW]]
    further = further[np.repeat(np.array(different, int), WINDOW)[: len(further)] >= LEAST_DIFFERENT]
    marks = np.zeros(len(row) + 1, int)
    np.add.at(marks, further, 1)
    np.add.at(marks, further + WINDOW, -1)
    return marks.cumsum()[:-1] > 0
