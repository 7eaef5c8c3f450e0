"""Tables of results in the folder of outputs, as CSV with a sidecar that holds their digests."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from pomrl.configuration.sources import Replacement
from pomrl.store.derived import DerivedFiles
from pomrl.store.provenance import commit


def write_table(frame: pd.DataFrame, path: Path, replacement: Replacement | None = None) -> None:
    """Write a table as NAME.csv, and its digest to NAME.json."""
    DerivedFiles(path.with_suffix(".json")).write({path.name: csv_bytes(frame)}, origin(replacement))


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV, numbers with six digits."""
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode()


def origin(replacement: Replacement | None) -> dict[str, Any]:
    """Return what the sidecar of a table says of where it comes from."""
    return commit() | ({"replacement": asdict(replacement)} if replacement else {})
