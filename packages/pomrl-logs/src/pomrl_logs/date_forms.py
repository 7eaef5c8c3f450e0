"""Read dates in a given form, or find the order of day and month."""

import re
from numbers import Number

import pandas as pd

DAY_OR_MONTH_FIRST = re.compile(r"\s*(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[ T](\d{1,2}:\d{2}(:\d{2})?))?\s*")


class AmbiguousDateError(ValueError):
    """An error for dates with two readings; its argument is an example."""


def check_form(form: str) -> None:
    """Raise a ValueError unless a form has codes of dates."""
    try:
        pd.to_datetime(pd.Series([""]), errors="coerce", format=form)
        has_codes = "%" in form
    except ValueError:
        has_codes = False
    if not has_codes:
        raise ValueError(f"--dates must be a form such as %d/%m/%Y or %Y-%m-%d, got {form!r}")


def to_times(values: "pd.Series", form: str | None = None) -> "pd.Series":
    """Convert dates of a form (default 2025-12-31) to times; NaT for others."""
    texts = values.map(lambda value: str(value) if isinstance(value, Number) else value)  # numbers are no epochs
    return pd.to_datetime(texts, errors="coerce", format=form or "ISO8601", utc=True)


def find_form(values: "pd.Series") -> str | None:
    """Return the form of dates such as 31/12/2025; None if they have another one.

    AmbiguousDateError: neither a day after the 12th nor a point says whether days or months stand first.
    """
    texts = [value for value in values if isinstance(value, str) and value]
    matches = [match for text in texts if (match := DAY_OR_MONTH_FIRST.fullmatch(text))]
    if not matches or len(matches) < len(texts) / 2:
        return None
    numbers = [(int(match[1]), int(match[3])) for match in matches]
    has_day = [max(column) > 12 for column in zip(*numbers, strict=True)]
    if all(has_day):
        return None
    mark, year, clock = matches[0][2], "%Y" if len(matches[0][4]) == 4 else "%y", _clock(matches[0])
    if not any(has_day) and mark != ".":
        raise AmbiguousDateError(matches[0][0])
    return mark.join(["%m", "%d", year] if has_day[1] else ["%d", "%m", year]) + clock


def _clock(match: re.Match[str]) -> str:
    if not match[5]:
        return ""
    return match[0].strip()[-len(match[5]) - 1] + ("%H:%M:%S" if match[6] else "%H:%M")
