"""Derived files, and tables of simulations: sets of files with a sidecar NAME.json that has their digests."""

import csv
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomrl.outputs import outputs
from pomrl.store import files
from pomrl.store.code_digest import module_digest
from pomrl.store.files import StoreError
from pomrl.store.manifests import commit, provenance

TABLE = "table.parquet"
"""The file of a simulation's table."""

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd


@dataclass(frozen=True)
class DerivedFiles:
    """A set of files, which may be damaged or not exist yet."""

    sidecar: Path

    @property
    def is_made(self) -> bool:
        """Return whether there is a sidecar."""
        return self.sidecar.exists()

    def read_sidecar(self) -> dict[str, Any]:
        """Return the sidecar; `files` has the digests by name. StoreError, with what renews it, if it is damaged."""
        try:
            return json.loads(files.read_json(self.sidecar))
        except StoreError as error:
            raise StoreError(f"{error}; the command that made it renews it") from error

    def content(self, name: str) -> bytes:
        """Return the content of a file; StoreError, with what renews it, if it is damaged."""
        path, sidecar = self.sidecar.with_name(name), self.read_sidecar()
        if _digest(content := files.content(path)) != sidecar["files"].get(name):
            remedy = f"{sidecar.get('command') or 'the command that made it'} renews it"
            raise StoreError(f"{path}: its digest is not the one in {self.sidecar.name}; {remedy}")
        return content

    def fault(self) -> str | None:
        """Return what is wrong with the set, or None."""
        try:
            for name in self.read_sidecar()["files"]:
                self.content(name)
        except StoreError as error:
            return str(error)
        return None

    def write(self, contents: Mapping[str, bytes], entries: Mapping[str, Any]) -> None:
        """Write the files, and then the sidecar with their digests."""
        digests = {name: _digest(content) for name, content in contents.items()}
        for name, content in contents.items():
            files.write(self.sidecar.with_name(name), content)
        files.write(self.sidecar, files.json_with_checksum({**entries, "files": digests}))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_file(path: Path, content: bytes, command: str, entries: Mapping[str, Any] | None = None) -> None:
    """Write a file, and a sidecar with the command that makes it again, and further entries."""
    entries = {"command": command, **commit(), **(entries or {})}
    DerivedFiles(path.with_suffix(".json")).write({path.name: content}, entries)


def write_table(
    frame: "pd.DataFrame", path: Path, command: str, entries: Mapping[str, Any] | None = None, digits: int = 6
) -> None:
    """Write a table as NAME.csv with a sidecar (`write_file`)."""
    write_file(path, encode_table(frame, digits), command, entries)


def encode_table(frame: "pd.DataFrame", digits: int) -> bytes:
    """Return a table as CSV, numbers with so many significant digits."""
    return frame.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n").encode()


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of NAME.csv (`parse_rows`), none without a sidecar; StoreError if one of them is damaged."""
    files = DerivedFiles(path.with_suffix(".json"))
    return parse_rows(files.content(path.name)) if files.is_made else []


def parse_rows(content: bytes) -> list[dict[str, str]]:
    """Return the rows of a table as text, without empty cells."""
    return [
        {name: cell for name, cell in row.items() if cell}
        for row in csv.DictReader(StringIO(content.decode(), newline=""))
    ]


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated table, which figures and claims read, in outputs/simulations/<signature>/table.parquet.

    Attributes:
        function: Function of keyword arguments that returns the same table for the same arguments.
        arguments: Arguments besides the function's defaults: JSON, or frozen dataclasses.
    """

    function: Callable[..., "pd.DataFrame"]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name of the function, by which figures get the table."""
        return self.function.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """All arguments by name, the function's defaults included."""
        bound = inspect.signature(self.function).bind(**self.arguments)
        bound.apply_defaults()
        return dict(bound.arguments)

    @property
    def sequences(self) -> int:
        """The number of sequences that are simulated; 0 if the table has none."""
        return self.parameters.get("sequences", 0)

    @property
    def signature(self) -> str:
        """A digest of the parameters and of the code that the simulation runs."""
        module = self.function.__module__
        identity = [module, self.function.__qualname__, self.parameters, module_digest((module,))]
        return hashlib.sha256(json.dumps(identity, sort_keys=True, default=asdict).encode()).hexdigest()[:12]

    @property
    def files(self) -> DerivedFiles:
        """The stored files, which may be missing."""
        return DerivedFiles(outputs() / "simulations" / self.signature / "table.json")

    @property
    def is_stored(self) -> bool:
        """Return whether the table is stored and not damaged."""
        return self.files.is_made and not self.files.fault()

    def save(self, table: "pd.DataFrame") -> None:
        """Store the table."""
        content = table.to_parquet(index=False, compression="zstd")
        self.files.write({TABLE: content}, {"name": self.name, "provenance": asdict(provenance())})

    def load(self) -> "pd.DataFrame":
        """Return the stored table; StoreError if it is not stored or damaged."""
        import pandas as pd

        if not self.is_stored:
            raise StoreError(f"{self.name} is not stored, or damaged; pomrl reproduce simulates it")
        return pd.read_parquet(BytesIO(self.files.content(TABLE)))
