"""Convert columns to numbers, and numbers to bins."""

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl_logs.date_forms import to_times


def as_numbers(values: "pd.Series", date_form: str | None = None) -> Float[np.ndarray, " n"] | None:
    """Convert numbers or times to floats; None if any value is neither."""
    values = values.astype(object).where(values.astype(object) != "", None)
    numbers = pd.to_numeric(values, errors="coerce")
    if (numbers.isna() & values.notna()).any():
        numbers = to_times(values, date_form)
        if (numbers.isna() & values.notna()).any():
            return None
        return np.where(numbers.isna(), np.nan, _microseconds(numbers))
    return numbers.to_numpy(float, na_value=np.nan)


def _microseconds(times: "pd.Series") -> Float[np.ndarray, " n"]:
    """Return times in the same unit for all columns; pandas takes the unit of each from its values."""
    counts, unit = times.astype("int64").to_numpy(), times.dt.unit
    if unit == "ns":  # whole microseconds stay exact
        return counts // 1_000 + counts % 1_000 / 1_000.0
    return counts * {"s": 1e6, "ms": 1e3, "us": 1.0}[unit]


def assign_bins(values: Float[np.ndarray, " n"], count: int) -> Int[np.ndarray, " n"]:
    """Return the bin of each number, with bins of about equal size."""
    return np.searchsorted(bin_edges(values, count), values, side="right")


def bin_edges(values: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, " k"]:
    """Return the inner edges of bins of about equal size."""
    return np.unique(np.quantile(values, np.arange(1, count) / count, method="higher")) if len(values) else np.empty(0)
