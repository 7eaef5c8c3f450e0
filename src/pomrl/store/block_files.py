"""Encode and read blocks of runs as Parquet files."""

# pyarrow has no type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import hashlib
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.science.stored_columns import COLUMNS, SCHEMA
from pomrl.store import files
from pomrl.store.files import REPAIR, StoreError, UnreadableError

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

_NAME = re.compile(r"runs-(\d{6,9})-(\d{6,9})-([0-9a-f]{16})\.parquet")
"""At most nine digits, as in a request: the range of a forged name stays small enough to divide into blocks."""


@dataclass(frozen=True)
class StoredBlock:
    """A block of runs, described by its file name."""

    runs: range
    sha256: str
    """The first 16 hex digits of the file's digest."""

    @staticmethod
    def from_content(runs: range, content: bytes) -> "StoredBlock":
        return StoredBlock(runs, hashlib.sha256(content).hexdigest()[:16])

    @property
    def name(self) -> str:
        return f"runs-{self.runs.start:06d}-{self.runs.stop - 1:06d}-{self.sha256}.parquet"


def parse_name(name: str) -> StoredBlock | None:
    """Parse the file name of a block; return None for other names."""
    match = _NAME.fullmatch(name)
    block = StoredBlock(range(int(match[1]), int(match[2]) + 1), match[3]) if match else None
    return block if block and block.runs and block.name == name else None


def encode(table: "pd.DataFrame", signature: str, runs: range) -> bytes:
    """Encode a table of runs as Parquet, without dictionaries or statistics."""
    arrays = {str(name): column.to_numpy(SCHEMA.get(str(name))) for name, column in table.items()}
    encoded = pa.table({name: pa.array(array, from_pandas=True) for name, array in arrays.items()})
    buffer = pa.BufferOutputStream()
    owned = encoded.replace_schema_metadata(_owner(signature, runs))
    pq.write_table(owned, buffer, compression="zstd", use_dictionary=False, write_statistics=False)
    return buffer.getvalue().to_pybytes()


@dataclass(frozen=True)
class Shape:
    """The expected columns and size of a block's table."""

    T: int
    gammas: Container[int]
    """The allowed numbers of discount factors per task."""
    names: Sequence[str]


NON_FINITE_COLUMNS = frozenset(column.name for column in COLUMNS if not column.is_finite)
"""The columns with possibly missing or infinite values."""


def columns(folder: Path, block: StoredBlock, names: Sequence[str], shape: Shape | None) -> dict[str, np.ndarray]:
    """Read columns of a block from its experiment's folder.

    StoreError for a missing, damaged or wrong file; UnreadableError if the system cannot read it.
    """
    path = folder / block.name
    try:
        content = files.content(path)
    except FileNotFoundError:  # removed between two calls of the system, as by another process
        content = b""
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if StoredBlock.from_content(block.runs, content) != block:
        fault = "its digest does not match its name" if path.exists() else "missing"
        raise StoreError(f"{path}: {fault}; {REPAIR}")
    try:
        return decode(content, folder.name, block.runs, names, shape)
    except MemoryError:
        raise  # not damage, although a MemoryError of pyarrow is an ArrowException too
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise StoreError(f"{path}: its content does not match this experiment and these runs; {REPAIR}") from error


def decode(
    content: bytes, signature: str, runs: range, names: Sequence[str], shape: Shape | None
) -> dict[str, np.ndarray]:
    """Decode columns of encoded runs, a block or less; ValueError if invalid."""
    file = pq.ParquetFile(pa.BufferReader(content))
    schema = file.schema_arrow
    if (schema.metadata or {}) != _owner(signature, runs):
        raise ValueError("the metadata belong to another experiment or other runs")
    if shape:
        _check_shape(schema, file.metadata.num_rows, len(runs), shape)
    table = cast(Any, file).read(columns=[*dict.fromkeys(["run", *names])], use_threads=False)
    columns = {name: table[name].to_numpy() for name in ["run", *names]}
    if len(columns["run"]) % len(runs) or (np.array(runs) != columns["run"].reshape(len(runs), -1).T).any():
        raise ValueError("the column run does not match the runs of the block")
    finite = (name for name in names if name not in NON_FINITE_COLUMNS)
    if bad := [name for name in finite if not np.isfinite(columns[name]).all()]:
        raise ValueError(f"the column {bad[0]} has missing or infinite numbers")
    return {name: columns[name] for name in names}


def _check_shape(schema: Any, rows: int, runs: int, shape: Shape) -> None:
    # Checked before any column is read.
    types = {name: pa.from_numpy_dtype(SCHEMA.get(name, "float64")) for name in shape.names}
    if dict(zip(schema.names, schema.types, strict=True)) != types or len(schema.names) != len(types):
        expected = ", ".join(f"{name} ({kind})" for name, kind in types.items())
        got = ", ".join(f"{name} ({kind})" for name, kind in zip(schema.names, schema.types, strict=True))
        raise ValueError(f"the columns must be {expected}, got {got}")
    G, remainder = divmod(rows, runs * shape.T)
    if remainder or G not in shape.gammas:
        raise ValueError(
            f"the number of rows must be {runs * shape.T} (runs x tasks) times an allowed number of discount factors, "
            f"got {rows}"
        )


def _owner(signature: str, runs: range) -> dict[bytes, bytes]:
    return {b"pomrl.signature": signature.encode(), b"pomrl.runs": f"{runs.start}-{runs.stop - 1}".encode()}
