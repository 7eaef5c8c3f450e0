"""Files of blocks of runs: Parquet, under a name that says which runs they hold and what the digest of the file is."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.science.loss_tables import SCHEMA
from pomrl.store import files
from pomrl.store.layout import REPAIR, StoreError

_NAME = re.compile(r"runs-(\d{6,18})-(\d{6,18})-([0-9a-f]{16})\.parquet")


@dataclass(frozen=True)
class StoredBlock:
    """A block of runs, as the name of its file describes it."""

    runs: range
    sha256: str
    """The first 16 hex digits of the digest of the file."""

    @staticmethod
    def of(runs: range, content: bytes) -> "StoredBlock":
        """Return the block of these runs whose file has this content."""
        return StoredBlock(runs, hashlib.sha256(content).hexdigest()[:16])

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"runs-{self.runs.start:06d}-{self.runs.stop - 1:06d}-{self.sha256}.parquet"


def parse_name(name: str) -> StoredBlock | None:
    """Return the block that a file of this name holds, or None if it is no name of a block."""
    found = _NAME.fullmatch(name)
    block = StoredBlock(range(int(found[1]), int(found[2]) + 1), found[3]) if found else None
    return block if block and block.runs and block.name == name else None


def encode(table: "pd.DataFrame", signature: str, runs: range) -> bytes:
    """Return the content of the file of a block.

    Columns have no dictionaries and no statistics: tables are read whole, and are smaller and written faster without.
    """
    arrays = {str(name): column.to_numpy(SCHEMA.get(str(name))) for name, column in table.items()}
    encoded = pa.table({name: pa.array(array, from_pandas=True) for name, array in arrays.items()})
    buffer = pa.BufferOutputStream()
    owned = encoded.replace_schema_metadata(_owner(signature, runs))
    pq.write_table(owned, buffer, compression="zstd", use_dictionary=False, write_statistics=False)
    return buffer.getvalue().to_pybytes()


def columns(folder: Path, block: StoredBlock, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return columns of the table of a block in the folder of its experiment.

    Raises:
        StoreError: The file is missing or damaged, or that of another experiment.
    """
    path = folder / block.name
    try:
        content = files.content(path)
        if StoredBlock.of(block.runs, content) != block:
            raise StoreError(f"{path}: its digest is not the one in its name; {REPAIR}")
        return decode(content, folder.name, block.runs, names)
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise StoreError(f"{path}: it is no table of these runs of this experiment; {REPAIR}") from error


def decode(content: bytes, signature: str, runs: range, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Return columns of the table of a block, or of a part of one; ValueError if it is that of other runs."""
    file = pq.ParquetFile(pa.BufferReader(content))
    if (file.schema_arrow.metadata or {}) != _owner(signature, runs):
        raise ValueError("it is that of other runs, or of another experiment")
    read = cast(Any, file).read(columns=list(names), use_threads=False)
    return {name: read[name].to_numpy() for name in names}


def _owner(signature: str, runs: range) -> dict[bytes, bytes]:
    return {b"pomrl.signature": signature.encode(), b"pomrl.runs": f"{runs.start}-{runs.stop - 1}".encode()}
