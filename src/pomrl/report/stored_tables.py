"""Tables that `python -m src.claims` has written: each is checked against the digest in its sidecar when it is read."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.report import ReportError
from pomrl.store import StoreError
from pomrl.store.derived import DerivedFiles


def read_table(path: Path, remedy: str, **options: Any) -> pd.DataFrame | None:
    """Return the table in NAME.csv, or None if there is no sidecar NAME.json, so that the table counts as not made.

    Args:
        path: The path of NAME.csv.
        remedy: The command that makes it again, for the message of the error.
        **options: Further arguments of `pandas.read_csv`.

    Raises:
        ReportError: The table or the sidecar is damaged, or the table is no CSV.
    """
    files = DerivedFiles(path.with_suffix(".json"))
    if not files.is_made:
        return None
    try:
        return pd.read_csv(BytesIO(files.content(path.name)), **options)
    except StoreError as error:
        raise ReportError(f"{error}; {remedy} renews it") from error
    except ValueError as error:
        raise ReportError(f"{path}: of another version ({error}); {remedy} renews it") from error
