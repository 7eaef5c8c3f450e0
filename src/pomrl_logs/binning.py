"""Numbers and times in columns, and bins of about equal size."""

import numpy as np
import pandas as pd
from jaxtyping import Float, Int


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
