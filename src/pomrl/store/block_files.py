"""Encode and read blocks of runs as Parquet files."""

# pyarrow has no type annotations.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import hashlib
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.science.stored_columns import COLUMNS, SCHEMA
from pomrl.store import files
from pomrl.store.files import REPAIR, StoreError, UnreadableError
from pomrl.store.manifests import decisive_versions, describe_versions, releases

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd

_NAME = re.compile(r"runs-(\d{6,9})-(\d{6,9})-([0-9a-f]{16})\.parquet")
"""At most nine digits, as in a request: the range of a forged name stays small enough to divide into blocks."""

MAX_TABLE_BYTES = 2**31
"""The limit on the unpacked size of a block's table, in bytes; a reader needs little more memory."""

MAX_FOOTER_BYTES = 2**20
"""The limit on the footer of a block, in bytes: a thousand times the usual one."""

ROW_BYTES = sum(np.dtype(kind).itemsize for kind in SCHEMA.values())
"""The unpacked size of a row without a metric, in bytes."""

_VERSIONS = b"pomrl.versions"


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
    """Encode a table of runs as Parquet, without dictionaries or statistics.

    The metadata name the experiment, the runs and the present package versions.
    """
    arrays = {str(name): column.to_numpy(SCHEMA.get(str(name))) for name, column in table.items()}
    encoded = pa.table({name: pa.array(array, from_pandas=True) for name, array in arrays.items()})
    buffer = pa.BufferOutputStream()
    versions = ",".join(map("=".join, decisive_versions().items()))
    owned = encoded.replace_schema_metadata(_owner(signature, runs) | {_VERSIONS: versions.encode()})
    pq.write_table(owned, buffer, compression="zstd", use_dictionary=False, write_statistics=False)
    return buffer.getvalue().to_pybytes()


@dataclass(frozen=True)
class Shape:
    """The expected columns, size and versions of a block's table."""

    T: int
    gammas: Container[int]
    """The allowed numbers of discount factors per task."""
    names: Sequence[str]
    versions: Mapping[str, str]
    """The package versions of the experiment; a block may have other patch releases."""


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
    except StoreError as error:
        raise StoreError(f"{path}: {error}; {REPAIR}") from error
    except MemoryError:
        raise  # not damage, although a MemoryError of pyarrow is an ArrowException too
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise StoreError(f"{path}: its content does not match this experiment and these runs; {REPAIR}") from error


def decode(
    content: bytes, signature: str, runs: range, names: Sequence[str], shape: Shape | None
) -> dict[str, np.ndarray]:
    """Decode columns of encoded runs, a block or less.

    Without a `shape`, the present package versions are expected. ValueError if the content is invalid; StoreError if it
    is too large, or from other package versions.
    """
    file = _open(pa.BufferReader(content))
    if (size := _size(file.metadata)[0]) > MAX_TABLE_BYTES:
        raise StoreError(f"a block must have at most {MAX_TABLE_BYTES / 1e9:.1f} GB unpacked, got {size / 1e9:.1f} GB")
    schema = file.schema_arrow
    metadata = schema.metadata or {}
    if {key: value for key, value in metadata.items() if key != _VERSIONS} != _owner(signature, runs):
        raise ValueError("the metadata belong to another experiment or other runs")
    _check_versions(_versions(metadata), shape.versions if shape else decisive_versions())
    if shape:
        _check_shape(schema, file.metadata.num_rows, len(runs), shape)
    # One column at a time, because pyarrow's table and the arrays together take twice the memory.
    columns = {name: file.read([name], use_threads=False)[name].to_numpy() for name in dict.fromkeys(["run", *names])}
    if len(columns["run"]) % len(runs) or (np.array(runs) != columns["run"].reshape(len(runs), -1).T).any():
        raise ValueError("the column run does not match the runs of the block")
    finite = (name for name in names if name not in NON_FINITE_COLUMNS)
    if bad := [name for name in finite if not np.isfinite(columns[name]).all()]:
        raise ValueError(f"the column {bad[0]} has missing or infinite numbers")
    return {name: columns[name] for name in names}


def size(path: Path) -> tuple[int, int]:
    """Return the unpacked bytes and rows by a block's footer; zeros if unreadable."""
    try:
        with pa.memory_map(str(path)) as source:
            return _size(_open(source).metadata)
    except (pa.ArrowException, ValueError, OSError):
        return 0, 0


def versions(path: Path) -> dict[str, str]:
    """Read the package versions in a block's metadata; empty for blocks of version 2.0.0."""
    with pa.memory_map(str(path)) as source:
        return _versions(_open(source).schema_arrow.metadata or {})


def is_same(folder: Path, block: StoredBlock, content: bytes, shape: Shape | None) -> bool:
    """Return whether a block has the columns of encoded runs, bit for bit."""
    names = pq.read_schema(pa.BufferReader(content)).names
    try:
        before = columns(folder, block, names, shape)
    except UnreadableError:
        raise
    except StoreError:
        return False
    now = decode(content, folder.name, block.runs, names, shape=None)
    return all(now[name].tobytes() == before[name].tobytes() for name in names)


def _open(source: Any) -> Any:
    """Open a Parquet file; ValueError if its footer is too long to be read."""
    source.seek(max(0, source.size() - 8))
    if (length := int.from_bytes(source.read(4), "little")) > MAX_FOOTER_BYTES:
        raise ValueError(f"the footer must have at most {MAX_FOOTER_BYTES} bytes, got {length}")
    return pq.ParquetFile(source)


def _size(metadata: Any) -> tuple[int, int]:
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    return max(rows * ROW_BYTES, sum(group.total_byte_size for group in groups)), rows


def _versions(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    text = metadata.get(_VERSIONS, b"").decode()
    return dict(version.split("=", 1) for version in text.split(",")) if text else {}


def _check_versions(versions: Mapping[str, str], expected: Mapping[str, str]) -> None:
    if versions and releases(versions) != releases(expected):
        differing = describe_versions(versions, "not", expected)
        raise StoreError(f"its runs were computed with other package versions ({differing})")


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
