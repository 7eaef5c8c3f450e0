"""Blocks of runs: a Parquet file for each block, and the list of the blocks that are complete.

The file of a block names, in its metadata, the experiment and the runs that it belongs to.

The list, `blocks.jsonl`, has one line for each block, in the order in which they were stored, with the digest of the
block's file and a checksum of the line. Of several lines for the same first run the last one holds.
"""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pomrl.science.loss_tables import SCHEMA
from pomrl.store import files
from pomrl.store.layout import BLOCK, BLOCK_LIST, MOST_LIST_BYTES, StoreError, block_name
from pomrl.store.table_checks import Shape, fault_of_file


@dataclass(frozen=True)
class StoredBlock:
    """A complete block of runs, as a line of the list of blocks describes it."""

    runs: range
    size: int
    """Size of the block's file in bytes."""
    sha256: str

    @property
    def name(self) -> str:
        """The name of the block's file."""
        return block_name(self.runs)


def encode(table: "pd.DataFrame", signature: str, runs: range) -> bytes:
    """Return the content of the file of a block: its table as Parquet, with the signature and the runs as metadata."""
    arrays = {str(name): column.to_numpy(SCHEMA.get(str(name))) for name, column in table.items()}
    # as Table.from_pandas does it, which takes three times as long
    encoded = pa.table({name: pa.array(each, from_pandas=True) for name, each in arrays.items()})
    buffer = pa.BufferOutputStream()
    pq.write_table(encoded.replace_schema_metadata(_owner(signature, runs)), buffer, compression="zstd")
    return buffer.getvalue().to_pybytes()


def _owner(signature: str, runs: range) -> dict[bytes, bytes]:
    return {b"pomrl.signature": signature.encode(), b"pomrl.runs": f"{runs.start}-{runs.stop - 1}".encode()}


def described(runs: range, content: bytes) -> StoredBlock:
    """Return the entry of the list for a block whose file has this content."""
    return StoredBlock(runs, len(content), hashlib.sha256(content).hexdigest())


@files.remembered
def fault(path: Path, block: StoredBlock, shape: Shape | None) -> str | None:
    """Return what is wrong with the file of a block (`verified`), or None if it is as it was written."""
    try:
        verified(path.parent, block, shape)
    except StoreError as error:
        return str(error)
    return None


def verified(folder: Path, block: StoredBlock, shape: Shape | None) -> pq.ParquetFile:
    """Return the file of a block, read into memory, after checking that it is the file that was written.

    Args:
        folder: The folder of the experiment, whose name is the signature.
        block: The block, as the list describes it.
        shape: What the settings say of its table; None if they cannot be used.

    Raises:
        StoreError: The file is missing, is not the one in the list, belongs to another experiment or to other runs, or
            cannot hold their table. The message does not name the file.
    """
    try:
        content = files.read(folder / block.name, block.size)
    except FileNotFoundError as error:
        raise StoreError("the file is missing") from error
    except (OSError, StoreError) as error:
        raise StoreError("it cannot be read, or is larger than what was written") from error
    if described(block.runs, content) != block:
        raise StoreError("its digest is not the one in the list of blocks")
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
    except pa.ArrowException as error:
        raise StoreError("it is no Parquet file") from error
    if (file.schema_arrow.metadata or {}) != _owner(folder.name, block.runs):
        raise StoreError("it holds other runs, or those of another experiment")
    if shape and (reason := fault_of_file(file, block.runs, shape)):
        raise StoreError(reason)
    return file


def listed(folder: Path) -> tuple[list[StoredBlock], list[str]]:
    """Return the blocks in the list of a folder, in order of their runs, and a message for each fault of the list.

    A damaged last line is not reported as a fault: the process that wrote it was killed, and its block counts as
    missing.
    """
    path = folder / BLOCK_LIST
    try:
        blocks, damaged = _read_list(path)
    except FileNotFoundError:
        return [], []
    except (OSError, StoreError) as error:
        return [], [str(error)]
    return list(blocks), [f"{path}: line {number} is damaged" for number in damaged]


@files.remembered
def _read_list(path: Path) -> tuple[tuple[StoredBlock, ...], tuple[int, ...]]:
    """Return the blocks in a list, in order of their runs, and the numbers of its damaged lines but for the last."""
    content = files.read(path, MOST_LIST_BYTES)
    read = [_parsed(line) for line in content.split(b"\n") if line]
    damaged = tuple(number for number, block in enumerate(read[:-1], 1) if block is None)
    latest = {block.runs.start: block for block in read if block is not None}
    return tuple(latest[start] for start in sorted(latest)), damaged


def append(folder: Path, blocks: Iterable[StoredBlock]) -> None:
    """Append blocks to the list of a folder. The caller holds the lock of the folder."""
    files.append_lines(folder / BLOCK_LIST, b"".join(map(_line, blocks)))


def rewrite(folder: Path, blocks: Sequence[StoredBlock]) -> None:
    """Make the list of a folder consist of one line for each of these blocks, unless it already does.

    The caller holds the lock of the folder.
    """
    content = b"".join(map(_line, blocks))
    try:
        as_is = files.read(folder / BLOCK_LIST, MOST_LIST_BYTES)
    except (OSError, StoreError):
        as_is = None
    if content != as_is:
        files.write(folder / BLOCK_LIST, content)


_SAID = re.compile(rb'\{"runs": \[(\d{1,18}), (\d{1,18})\], "size": (\d{1,18}), "sha256": "([0-9a-f]{64})"')
"""The beginning of a line; what follows is its checksum."""


def _line(block: StoredBlock) -> bytes:
    said = f'"runs": [{block.runs.start}, {block.runs.stop}], "size": {block.size}, "sha256": "{block.sha256}"'
    check = hashlib.sha256(f"{{{said}}}".encode()).hexdigest()[:16]
    return f'{{{said}, "check": "{check}"}}\n'.encode()


def _parsed(line: bytes) -> StoredBlock | None:
    """Return the block that a line of the list describes, or None if the line is damaged.

    A line is damaged if it differs in any byte from the line that `_line` writes for the block.
    """
    said = _SAID.match(line)
    if said is None:
        return None
    start, stop, size, sha256 = said.groups()
    block = StoredBlock(range(int(start), int(stop)), int(size), sha256.decode())
    sensible = block.runs and block.runs.stop <= block.runs.start // BLOCK * BLOCK + BLOCK
    return block if sensible and _line(block) == line + b"\n" else None
