"""Tables that `python -m src.claims` has written: each is checked against the digest in its sidecar when it is read."""

from collections.abc import Collection
from io import BytesIO
from pathlib import Path

import pandas as pd
from pandas.api.types import is_numeric_dtype

from pomrl.report import ReportError
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles


def read_table(path: Path, remedy: str, words: Collection[str] = ()) -> pd.DataFrame | None:
    """Return the table in NAME.csv, or None if there is no sidecar NAME.json, so that the table counts as not made.

    An empty cell is NaN in a column of numbers, and an empty text in a column of texts, where "NA" is a text as well.

    Args:
        path: The path of NAME.csv.
        remedy: The command that makes it again, for the message of the error.
        words: The columns that are texts even if all their cells are empty.

    Raises:
        ReportError: The table or the sidecar is damaged, or the table is no CSV.
    """
    files = DerivedFiles(path.with_suffix(".json"))
    if not files.is_made:
        return None
    try:
        content = files.content(path.name)
        numbers, texts = pd.read_csv(BytesIO(content)), pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False)
    except StoreError as error:
        raise ReportError(f"{error}; {remedy} renews it") from error
    except ValueError as error:
        raise ReportError(f"{path}: of another version ({error}); {remedy} renews it") from error
    names = [name for name in texts if name in words or not _are_numbers(numbers[name], texts[name])]
    return numbers.assign(**{str(name): texts[name] for name in names})


def _are_numbers(column: pd.Series, texts: pd.Series) -> bool:
    """Return whether a column that pandas has read is one of numbers, whose only other cells are empty."""
    return is_numeric_dtype(column) and bool((column.notna() | (texts == "")).all())
