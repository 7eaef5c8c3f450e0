"""Tables of results as NAME.csv, each with a sidecar NAME.json that has its digest and says how it is made again."""

from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from pomrl.store.derived import DerivedFiles
from pomrl.store.layout import StoreError
from pomrl.store.provenance import commit


def csv_bytes(frame: "pd.DataFrame") -> bytes:
    """Return a table as CSV, numbers with six digits."""
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


def write_table(frame: "pd.DataFrame", path: Path, command: str, said: Mapping[str, Any] | None = None) -> None:
    """Write a table as NAME.csv, and its digest to NAME.json.

    Args:
        frame: The table.
        path: The path of NAME.csv.
        command: The command that makes the table again.
        said: What else the sidecar says.
    """
    said = {"command": command, **commit(), **(said or {})}
    DerivedFiles(path.with_suffix(".json")).write({path.name: csv_bytes(frame)}, said)


def read_table(path: Path, words: Collection[str] = ()) -> "pd.DataFrame | None":
    """Return the table in NAME.csv, or None if there is no sidecar NAME.json, so that the table counts as not made.

    An empty cell is NaN in a column of numbers, and an empty text in a column of texts, where "NA" is a text as well.

    Args:
        path: The path of NAME.csv.
        words: The columns that are texts even if all their cells are empty.

    Raises:
        StoreError: The table or the sidecar is damaged, or the table is no CSV.
    """
    files = DerivedFiles(path.with_suffix(".json"))
    if not files.is_made:
        return None
    try:
        content = files.content(path.name)
    except StoreError as error:
        raise StoreError(f"{error}; {files.remedy()}") from error
    try:
        numbers, texts = pd.read_csv(BytesIO(content)), pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False)
    except ValueError as error:
        raise StoreError(f"{path}: of another version ({error})") from error
    names = [name for name in texts if name in words or not _are_numbers(numbers[name], texts[name])]
    return numbers.assign(**{str(name): texts[name] for name in names})


def _are_numbers(column: "pd.Series", texts: "pd.Series") -> bool:
    """Return whether a column that pandas has read is one of numbers, whose only other cells are empty."""
    return is_numeric_dtype(column) and bool((column.notna() | (texts == "")).all())
