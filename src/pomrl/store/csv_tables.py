"""Tables of results as NAME.csv, each with a sidecar NAME.json that has its digest and says how it is made again."""

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit


def write_table(frame: "pd.DataFrame", path: Path, command: str, said: Mapping[str, Any] | None = None) -> None:
    """Write a table as NAME.csv, numbers with six digits, and its digest to NAME.json.

    Args:
        frame: The table.
        path: The path of NAME.csv.
        command: The command that makes the table again.
        said: What else the sidecar says.
    """
    content = frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()
    said = {"command": command, **commit(), **(said or {})}
    DerivedFiles(path.with_suffix(".json")).write({path.name: content}, said)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table in NAME.csv as text, without empty cells; none if there is no sidecar NAME.json.

    Raises:
        StoreError: The table or the sidecar is damaged.
    """
    files = DerivedFiles(path.with_suffix(".json"))
    if not files.is_made:
        return []
    content = StringIO(files.content(path.name).decode(), newline="")
    return [{name: cell for name, cell in row.items() if cell} for row in csv.DictReader(content)]
