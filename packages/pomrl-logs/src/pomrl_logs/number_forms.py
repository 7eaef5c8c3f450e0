"""Read numbers written with decimal commas or grouped thousands."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float

Mark = Literal[".", ","]

NUMBER = re.compile(r"[+-]?[\d.,]*\d[.,]?([eE][+-]?\d+)?")

GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(\{mark}\d{{3}})+") for mark in ".,"}
"""The form of whole numbers with grouped thousands, by the mark of groups."""

MIXED = {",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d*"), ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d*")}
"""The form of numbers with groups and decimals, by the decimal mark."""


class AmbiguousNumberError(ValueError):
    """An error for a column with two readings; it has an example of each."""


def decimal_mark(values: Sequence[str]) -> Mark:
    """Return the decimal mark of the numbers among these texts.

    A number such as 2,5 or 0.125 decides for all. AmbiguousNumberError: 1.000 may be one or one thousand, or both marks
    are decimal.
    """
    texts = [text for text in values if NUMBER.fullmatch(text)]
    commas, points = ([text for text in texts if mark in text] for mark in ",.")
    with_commas, with_points = _decimals(commas, ","), _decimals(points, ".")
    if with_commas and with_points:
        raise AmbiguousNumberError(with_points[0], with_commas[0])
    if with_commas or with_points or not (commas or points):
        return "," if with_commas else "."
    mark: Mark = "," if commas else "."
    grouped = commas or points
    if any(text.count(mark) > 1 for text in grouped):
        return "." if commas else ","
    if len(grouped) < len(texts):  # 1.000 beside 250, which has no decimals
        raise AmbiguousNumberError(grouped[0], next(text for text in texts if text not in grouped))
    return mark


def _decimals(texts: Sequence[str], mark: Mark) -> list[str]:
    """Return texts with this mark, without a reading as thousands."""
    return [
        text
        for text in texts
        if MIXED[mark].fullmatch(text) or (text.count(mark) == 1 == sum(map(text.count, ".,")) and not _groups(text))
    ]


def _groups(text: str) -> bool:
    return any(form.fullmatch(text) for form in GROUPED.values())


def to_numbers(texts: Sequence[str], decimal: Mark) -> Float[np.ndarray, " n"]:
    """Convert texts with this decimal mark; NaN for others."""
    group: Mark = "." if decimal == "," else ","
    plain = [
        text.replace(group, "").replace(decimal, ".")
        if group not in text or GROUPED[group].fullmatch(text) or MIXED[decimal].fullmatch(text)
        else ""
        for text in texts
    ]
    return pd.to_numeric(pd.Series(plain, dtype=object), errors="coerce").to_numpy(float, na_value=np.nan)
