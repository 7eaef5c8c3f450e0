"""Find rows without a decision, and truncated episodes marked as terminated."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool

from pomrl_logs.findings import Finding, Rows

MIN_EPISODES = 10
"""The smallest number of episodes for a check."""

CHANCE = 1e-6
"""The largest probability of a reported pattern by chance."""

MIN_SUMMED_SHARE = 0.95
"""The smallest share of episodes whose last reward is the sum of the earlier ones."""

MIN_PADDED_STATES = 3
"""The number of states from which constant endings with rewards are reported."""


def check_non_decisions(rows: Rows) -> Iterator[Finding]:
    """Find padding at the ends of episodes, and truncations marked as terminations."""
    if rows.has_episodes:
        change = rows.group[1:] != rows.group[:-1]
        yield from _check_padding(rows, np.append(change, True), "last")
        yield from _check_padding(rows, np.append(True, change), "first")
        yield from _check_truncation(rows)
        yield from _check_sums(rows)
    elif rows.ended.any():
        yield from _check_padding(rows, rows.ended, "terminated")


def _check_padding(rows: Rows, edge: Bool[np.ndarray, " n"], which: str) -> Iterator[Finding]:
    is_ended = which == "terminated" or (which == "last" and bool(rows.ended[edge].all()))
    if edge.sum() < MIN_EPISODES or edge.mean() > 0.5:
        return
    action, reward = rows.action[edge], rows.reward[edge]
    if np.ptp(action) or np.ptp(reward) or not np.ptp(rows.action[~edge]) or not np.ptp(rows.reward[~edge]):
        return
    is_meant = _is_meant(rows, edge, has_reward=bool(reward[0])) if is_ended else _is_usual(rows, edge)
    if is_meant:
        return
    row, value = int(edge.argmax()), float(reward[0]) + 0.0
    remedy = "leave out these rows" + (", or --terminated where it marks no ends" if is_ended else "")
    yield Finding(
        "padding",
        f"all {int(edge.sum())} {which} rows of episodes have the same action and the reward {value:g} "
        f"({rows.label(row)}), and seem to be no decisions: {remedy}",
    )


def _is_meant(rows: Rows, edge: Bool[np.ndarray, " n"], *, has_reward: bool) -> bool:
    """Return whether one action and reward may end all episodes.

    An action with a reward may end them, if other rows with this state and action are few.
    """
    A = int(rows.action.max()) + 1
    pair = rows.state * A + rows.action
    goes_on = np.isin(pair[edge], pair[~edge])
    return has_reward and len(np.unique(pair[edge][goes_on])) < MIN_PADDED_STATES


def _is_usual(rows: Rows, edge: Bool[np.ndarray, " n"]) -> bool:
    """Return whether the action of edge rows is likely in their states, or occurs there alone."""
    state, inner = rows.state[edge], rows.state[~edge]
    is_same = rows.action[~edge] == rows.action[edge][0]
    if not is_same.any():
        return True
    tried, same = (np.bincount(inner, weights, len(rows.states)) for weights in (None, is_same.astype(float)))
    chance = (same + 1.0) / (tried + 1.0)
    return float(np.log(chance[state]).sum()) > float(np.log(CHANCE))


def _check_truncation(rows: Rows) -> Iterator[Finding]:
    """Find a largest length of all episodes marked as terminated.

    Ends determined by state and action are right.
    """
    starts = np.flatnonzero(np.append(True, rows.group[1:] != rows.group[:-1]))
    length = np.diff(np.append(starts, len(rows.group)))
    step = np.arange(len(rows.group)) - np.repeat(starts, length)
    at_limit = step == length.max() - 1
    if length.max() < 2 or at_limit.sum() < MIN_EPISODES or not rows.ended[at_limit].all():
        return
    hazard = (rows.ended[~at_limit].sum() + 1.0) / ((~at_limit).sum() + 2.0)
    if hazard ** float(at_limit.sum()) > CHANCE or _are_determined(rows, at_limit):
        return
    yield Finding(
        "truncation",
        f"all {int(at_limit.sum())} episodes of the largest length, {int(length.max())} rows, are marked as terminated "
        f"({rows.label(int(at_limit.argmax()))}): if they were only cut off, leave these marks out",
    )


def _check_sums(rows: Rows) -> Iterator[Finding]:
    """Find last rows with the sum of an episode's rewards, as in exports with totals."""
    starts = np.flatnonzero(np.append(True, rows.group[1:] != rows.group[:-1]))
    length, last = np.diff(np.append(starts, len(rows.group))), np.append(starts[1:], len(rows.group)) - 1
    total, final = np.add.reduceat(rows.reward, starts), rows.reward[last]
    tested = (length > 2) & (total != final)
    is_sum = np.isclose(total[tested], 2.0 * final[tested])
    if tested.sum() >= MIN_EPISODES and is_sum.mean() >= MIN_SUMMED_SHARE:
        row = int(last[tested][is_sum.argmax()])
        yield Finding(
            "padding",
            f"the reward of the last row is the sum of the earlier ones in {is_sum.mean():.0%} of episodes "
            f"({rows.label(row)}): leave out rows of totals",
        )


def _are_determined(rows: Rows, at_limit: Bool[np.ndarray, " n"]) -> bool:
    pair = rows.state * (int(rows.action.max()) + 1) + rows.action
    return bool(np.isin(pair[at_limit], pair[~rows.ended]).mean() < 0.1)
