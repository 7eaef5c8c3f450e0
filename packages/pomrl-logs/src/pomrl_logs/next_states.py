"""Find wrong or missing next states."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from pomrl_logs.association import MAX_TESTED_ROWS, MIN_ROWS, associate
from pomrl_logs.findings import Finding, Rows

ALIGNMENTS = {
    0: "the state of its own row",
    2: "the state two rows later",
    3: "the state three rows later",
    -1: "the state one row earlier",
}
"""The wrong rows from which next states may be taken, by lag."""

MAX_UNBALANCED_SHARE = 0.02
"""The largest accepted share of rows missing within episodes."""

MAX_NEXT_EPISODE_SHARE = 0.95
"""The largest accepted share of last rows leading to the next episode's first state."""

CLEAR_ERRORS = 4.0
"""The number of standard errors by which a reported alignment must fit better."""


def check_chain(rows: Rows) -> Iterator[Finding]:
    """Find next states taken from wrong rows, and gaps in episodes."""
    first = _fits(rows, 1)
    for lag, what in ALIGNMENTS.items():
        other = _fits(rows, lag)
        comparable = (first >= 0) & (other >= 0)
        better, worse = ((sign & comparable) for sign in (other > first, other < first))
        whole = lag != 0 or (other == 1).mean() > 0.999
        if whole and _is_clear(better.sum(), worse.sum(), CLEAR_ERRORS):
            yield _chain_finding(rows, what, comparable, better, (first, other))
            return
        tasks = int(rows.task.max(initial=0)) + 1
        bad_tasks = _is_clear(
            np.bincount(rows.task, better, tasks), np.bincount(rows.task, worse, tasks), CLEAR_ERRORS + 1.0
        )
        if lag != 0 and bad_tasks.any():
            inside = bad_tasks[rows.task]
            yield _chain_finding(
                rows, f"{what} in {bad_tasks.sum()} tasks,", comparable & inside, better & inside, (first, other)
            )
            return
    yield from _check_own(rows, first)
    breaks = (first == 0) & (rows.group == np.roll(rows.group, -1))
    share = breaks.sum() / max(int((first >= 0).sum()), 1)
    yield from _check_last_rows(rows)
    if share > (0.05 if rows.has_episodes else 0.1) and (rows.time is not None or _is_ordered(rows, first)):
        hint = (
            "sort the rows of episodes, or add --time" if rows.has_episodes else "add --episode if episodes begin there"
        )
        yield Finding(
            "breaks",
            f"{rows.columns['next_state']!r} is not the state of the next row in {share:.0%} of rows "
            f"({rows.label(int(breaks.argmax()))}): {hint}",
        )
    elif not _is_ordered(rows, first):
        yield from _check_balance(rows) if rows.has_episodes else _check_dependence(rows)


def _is_clear(better: Any, worse: Any, errors: float) -> Any:
    """Return whether better fits clearly outnumber worse fits (McNemar's test)."""
    return (better > 2 * worse) & (better - worse > errors * np.sqrt(better + worse))


def _is_ordered(rows: Rows, first: Int[np.ndarray, " n"]) -> bool:
    for other in (_fits(rows, 0), _fits(rows, 3)):
        comparable = (first >= 0) & (other >= 0)
        if not _is_clear(
            int(((first > other) & comparable).sum()), int(((first < other) & comparable).sum()), CLEAR_ERRORS
        ):
            return False
    return True


def _chain_finding(rows: Rows, what: str, comparable: Any, better: Any, fits: tuple[Any, Any]) -> Finding:
    first, other = ((fit == 1)[comparable].mean() for fit in fits)
    return Finding(
        "chain",
        f"{rows.columns['next_state']!r} is {what} in {other:.0%} of rows, and of the next row in {first:.0%} "
        f"({rows.label(int(better.argmax()))}): write the next state, or leave the column out and add "
        "--episode and --time",
    )


def _check_balance(rows: Rows) -> Iterator[Finding]:
    """Check that rows of episodes form a chain in some order.

    A chain enters each state as often as it leaves it, except the first state, and the last one unless it is an end.
    """
    n, S = len(rows.state), len(rows.states)
    ends = np.concatenate([rows.group * S + rows.state, rows.group * S + rows.following])
    pair, pair_index = np.unique(ends, return_inverse=True)
    balance = np.bincount(pair_index, np.concatenate([np.ones(n), np.where(rows.ended, 0.0, -1.0)]))
    episode = np.unique(pair // S, return_inverse=True)[1]
    free = np.where(np.bincount(episode, balance) > 0.0, 1.0, 2.0)
    wrong = np.maximum(np.bincount(episode, np.abs(balance)) - free, 0.0) / 2.0
    if wrong.sum() <= MAX_UNBALANCED_SHARE * n:
        yield from _check_dependence(rows)
        return
    row = int((np.unique(rows.group, return_inverse=True)[1] == wrong.argmax()).argmax())
    yield Finding(
        "breaks",
        f"{rows.columns['next_state']!r} is not the state of the next row in any order of the rows of episodes: "
        f"{wrong.sum() / n:.0%} of rows do not fit (see the episode of {rows.label(row)}); write the next state, or "
        "leave the column out and add --time",
    )


def _check_last_rows(rows: Rows) -> Iterator[Finding]:
    order = np.lexsort((rows.position, rows.group))
    starts = np.flatnonzero(np.append(True, rows.group[order][1:] != rows.group[order][:-1]))
    first, last = order[starts], order[np.append(starts[1:], len(order)) - 1]
    in_table = rows.position[first].argsort()
    first, last = first[in_table], last[in_table]
    counts = ~rows.ended[last[:-2]]
    after, second_next = (rows.following[last[:-2]] == rows.state[starts] for starts in (first[1:-1], first[2:]))
    share = after[counts].mean() if counts.any() else 0.0
    if share > MAX_NEXT_EPISODE_SHARE and _is_clear(
        (after & ~second_next & counts).sum(), (second_next & ~after & counts).sum(), CLEAR_ERRORS
    ):
        row = int(last[:-2][after & counts][0])
        yield Finding(
            "breaks",
            f"{rows.columns['next_state']!r} of the last row of an episode is the first state of the next episode in "
            f"{share:.0%} of episodes ({rows.label(row)}): this is right only if episodes are continued; otherwise "
            "leave out the column, or these rows",
        )


def _check_dependence(rows: Rows) -> Iterator[Finding]:
    n = min(len(rows.state), MAX_TESTED_ROWS)
    state, following, action, task = (values[:n] for values in (rows.state, rows.following, rows.action, rows.task))
    state_stratum = task * (int(state.max(initial=0)) + 1) + state
    associations = associate(state, following, task), associate(action, following, state_stratum)
    if (
        n >= MIN_ROWS
        and len(np.unique(state)) > 1 < len(np.unique(following))
        and min(values.p for values in associations) > 0.01
    ):
        yield Finding(
            "independent",
            f"{rows.columns['next_state']!r} is independent of states and actions in {n:,} rows "
            f"({rows.label(0)} leads from {rows.states[int(state[0])]!r} to {rows.states[int(following[0])]!r}): "
            "choose another column, or leave it out and add --episode and --time",
        )


def _check_own(rows: Rows, first: Int[np.ndarray, " n"]) -> Iterator[Finding]:
    own, tasks = _fits(rows, 0), int(rows.task.max(initial=0)) + 1
    n = np.bincount(rows.task, own >= 0, tasks)
    still = np.bincount(rows.task, own == 1, tasks) == n
    moving = np.bincount(rows.task, (own == 1) & (first == 0), tasks)
    if (bad := still & (n >= 30) & (moving >= 10) & (moving > 0.1 * n)).any():
        row = int((bad[rows.task] & (first == 0)).argmax())
        yield Finding(
            "chain",
            f"{rows.columns['next_state']!r} is the state of its own row in all rows of {int(bad.sum())} tasks "
            f"({rows.label(row)}), although states change: write the next state",
        )


def _fits(rows: Rows, lag: int) -> Int[np.ndarray, " n"]:
    """Return 1 where next states equal the states `lag` rows later, else 0.

    -1 after ends, and without such a row in the episode.
    """
    n = len(rows.state)
    other = np.arange(n) + lag
    inside = (other >= 0) & (other < n) & ~rows.ended
    other = np.where(inside, other, 0)
    inside &= rows.group[other] == rows.group
    return np.where(inside, rows.following == rows.state[other], -1)


def check_coding(rows: Rows, declared: Bool[np.ndarray, " S"]) -> Iterator[Finding]:
    """Check that some next states occur as states."""
    follow = rows.following[~rows.ended]
    follow = follow[~declared[follow]]
    if len(follow) and not rows.is_state[follow].any():
        yield Finding(
            "coding",
            f"no next state occurs as a state: {rows.columns['next_state']!r} has {rows.states[int(follow[0])]!r}, and "
            f"{rows.columns['state']!r} has {rows.states[int(rows.state[0])]!r} ({rows.label(0)}); use the same "
            "names, or declare the ends of episodes with --ends",
        )


def check_ends(rows: Rows, declared: Bool[np.ndarray, " S"]) -> Iterator[Finding]:
    """Find states entered but never left, and not declared as ends."""
    is_left = np.isin(np.arange(len(declared)), rows.state)
    open_ends = np.flatnonzero(~is_left & ~declared & np.isin(np.arange(len(declared)), rows.following))
    if not len(open_ends):
        return
    names = ", ".join(repr(rows.states[state]) for state in open_ends[:3]) + ", ..." * (len(open_ends) > 3)
    entering = np.isin(rows.following, open_ends)
    worst = min(float(rows.reward.min(initial=0.0)), 0.0)
    example = f"entered by {int(entering.sum())} transitions, first in {rows.label(int(entering.argmax()))}"
    yield Finding(
        "ends",
        f"{len(open_ends)} {'state is' if len(open_ends) == 1 else 'states are'} never left: {names} ({example}); "
        f"advice allows for a reward of {'0 or ' * (worst < 0.0)}{worst:.3g} there in each step; declare states "
        "without rewards with --ends",
    )
