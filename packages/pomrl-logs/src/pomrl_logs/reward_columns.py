"""Check the column of rewards."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl_logs.findings import Finding, Rows

COST = re.compile(
    r"(?i)(?<![a-z])(cost|price|expense|penalt|loss|fees?(?!d|l)|charge|burden|kosten|spen[dt]|bill(?!b|i)|damage|regret)"
)
"""A pattern for names that suggest costs."""

SIGN_SHARE = 0.9
"""The share of one sign from which nonzero numbers look like costs or rewards."""

DIGITS_OF_DATES = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""The formats of dates written as whole numbers, by number of digits."""

DAY_SECONDS = 86_400
"""Seconds of a day."""

EPOCH_SECONDS_RANGE = 946_684_800, 2_051_222_400
"""The Unix times of 2000 and 2035; rewards between them may be times."""

MAX_OFFSET_RATIO = 1e6
"""The ratio of offset to spread above which rewards lose too many digits."""


def check_rewards(rows: Rows, *, is_cost: bool) -> Iterator[Finding]:
    """Find swapped costs and rewards, dates, and rewards with a large offset."""
    reward, column = rows.reward, rows.columns["reward"]
    values = -reward if is_cost else reward
    positive, negative = int((values > 0.0).sum()), int((values < 0.0).sum())
    if COST.search(column) and not is_cost and positive > SIGN_SHARE * (positive + negative):
        yield Finding(
            "cost",
            f"the rewards {column!r} are {_share(negative, 'positive')}, {values.min():g} to {values.max():g}, and "
            f"look like costs, but are maximised ({rows.label(int(values.argmax()))} has {values.max():g}): "
            f"write --cost {column}",
        )
    if is_cost and negative > SIGN_SHARE * (positive + negative):
        yield Finding(
            "cost",
            f"the costs {column!r} are {_share(positive, 'negative')}, {values.min():g} to {values.max():g}, and "
            f"look like rewards ({rows.label(int(values.argmin()))} has {values.min():g}): write --reward {column}",
        )
    if _are_dates(values):
        yield Finding(
            "dates",
            f"the rewards {column!r} look like dates ({rows.label(0)} has {values[0]:.0f}): choose another column",
        )
    spread = float(np.ptp(reward))
    if spread > 0.0 and np.abs(reward).max() > MAX_OFFSET_RATIO * spread:
        yield Finding(
            "offset",
            f"the rewards {column!r} average {reward.mean():.4g}, but differ by at most {spread:.3g} ({rows.label(0)} "
            f"has {values[0]:.12g}): subtract the common offset, unless episodes end",
        )


def _share(n_others: int, sign: str) -> str:
    return f"mostly {sign}" if n_others else f"all {sign}"


def describe_rewards(rows: Rows, *, is_cost: bool) -> str:
    """Describe the maximised quantity, for the user to check."""
    column, values = rows.columns["reward"], -rows.reward if is_cost else rows.reward
    what, aim = ("costs", "minimised") if is_cost else ("rewards", "maximised; if lower is better, write --cost")
    return f"The {what} {column!r} ({values.min():g} to {values.max():g}, {values.mean():.4g} on average) are {aim}."


def _are_dates(values: Float[np.ndarray, " n"]) -> bool:
    whole = np.unique(values[:10_000])
    if len(whole) < 2 or (whole % 1 != 0).any() or whole[0] <= 0 or whole[-1] >= 1e19:
        return False
    digits, texts = len(f"{whole[0]:.0f}"), pd.Series([f"{value:.0f}" for value in whole])
    form, (low, high) = DIGITS_OF_DATES.get(digits), EPOCH_SECONDS_RANGE
    if form is not None and whole[0] >= 19 * 10 ** (digits - 2):
        return bool(pd.to_datetime(texts, format=form, errors="coerce").notna().all())
    return any(
        low * unit <= whole[0] and whole[-1] <= high * unit and whole[-1] - whole[0] >= DAY_SECONDS * unit
        for unit in (1, 10**3, 10**6, 10**9)
    )
