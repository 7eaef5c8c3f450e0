"""Find rewards that are costs or dates, or whose size hides how they differ."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl_logs.findings import Finding
from pomrl_logs.log_rows import Rows

COST = re.compile(
    r"(?i)(?<![a-z])(cost|price|expense|penalt|loss|fees?(?!d|l)|charge|burden|kosten|spen[dt]|bill(?!b|i)|damage|regret)"
)
"""Names of columns that have costs."""

MOSTLY = 0.9
"""So many numbers of one sign, of those that are not 0, say that all are costs, or rewards."""

DIGITS_OF_DATES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""How dates are written as whole numbers of so many digits."""

DAY = 86_400
"""The seconds of a day."""

YEARS_OF_TIMES = 946_684_800, 2_051_222_400
"""The seconds from 1970 to the years 2000 and 2035: numbers between them are taken for times."""

LARGE_OFFSET = 1e6
"""Rewards whose common part is so many times their spread lose the digits in which they differ."""


def check_rewards(rows: Rows, *, is_cost: bool) -> Iterator[Finding]:
    """Find costs that are given as rewards, dates, and rewards that differ by little beside their size."""
    reward, column = rows.reward, rows.columns["reward"]
    given = -reward if is_cost else reward
    positive, negative = int((given > 0.0).sum()), int((given < 0.0).sum())
    if COST.search(column) and not is_cost and positive > MOSTLY * (positive + negative):
        yield Finding(
            "cost",
            "stops",
            f"the rewards {column!r} are {_share(negative, 'positive')}, {given.min():g} to {given.max():g}, and look "
            f"like costs, which would be maximised ({rows.place(int(given.argmax()))} has {given.max():g}): write "
            f"--cost {column}",
        )
    if is_cost and negative > MOSTLY * (positive + negative):
        yield Finding(
            "cost",
            "stops",
            f"the costs {column!r} are {_share(positive, 'negative')}, {given.min():g} to {given.max():g}, as if they "
            f"were rewards ({rows.place(int(given.argmin()))} has {given.min():g}): write --reward {column}",
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


def _share(others: int, sign: str) -> str:
    return f"mostly {sign}" if others else f"all {sign}"


def describe_rewards(rows: Rows, *, is_cost: bool) -> str:
    """Return the sentence that says what is maximised, which nobody but the user can check."""
    column, given = rows.columns["reward"], -rows.reward if is_cost else rows.reward
    what, aim = ("costs", "minimised") if is_cost else ("rewards", "maximised; --cost if lower is better")
    return f"The {what} {column!r}, {given.min():g} to {given.max():g} and {given.mean():.4g} on average, are {aim}."


def _are_dates(values: Float[np.ndarray, " n"]) -> bool:
    """Return whether all numbers are days such as 20251231, also with hours, or times since 1970 of several days."""
    whole = np.unique(values[:10_000])
    if len(whole) < 2 or (whole % 1 != 0).any() or whole[0] <= 0 or whole[-1] >= 1e19:
        return False
    digits, texts = len(f"{whole[0]:.0f}"), pd.Series([f"{value:.0f}" for value in whole])
    form, (low, high) = DIGITS_OF_DATES.get(digits), YEARS_OF_TIMES
    if form is not None and whole[0] >= 19 * 10 ** (digits - 2):
        return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())
    return any(
        low * unit <= whole[0] and whole[-1] <= high * unit and whole[-1] - whole[0] >= DAY * unit
        for unit in (1, 10**3, 10**6, 10**9)
    )
