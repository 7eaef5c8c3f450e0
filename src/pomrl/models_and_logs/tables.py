"""Tables of transitions from files."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def read_table(path: Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return a table from a file, with these columns alone, as far as a CSV file has them, or with all.

    Raises:
        ValueError: The file is of another kind, is damaged, or has the same column twice; the message names the file.
    """
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise ValueError(f"{path}: a table of transitions is a file that ends with .parquet or .csv")
    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path, columns=None if columns is None else list(columns))
        names = pd.read_csv(path, header=None, nrows=1, dtype=str).iloc[0].tolist()
        # Given names, because pandas renames a column that is there twice, and refuses two given names that are equal.
        return pd.read_csv(path, header=0, names=names, usecols=lambda name: columns is None or name in columns)
    except Exception as error:  # pandas and pyarrow raise errors of many kinds where a file is damaged
        raise ValueError(f"{path}: it cannot be read ({' '.join(str(error).split())})") from error
