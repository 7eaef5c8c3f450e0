"""Store derived files and simulated tables, with sidecars of digests."""

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

if TYPE_CHECKING:  # slow to import
    import pandas as pd


@dataclass(frozen=True)
class DerivedFiles:
    """A set of files with its sidecar NAME.json; it may be missing or damaged."""

    sidecar: Path

    @property
    def is_made(self) -> bool:
        return self.sidecar.exists()

    def read_sidecar(self) -> dict[str, Any]:
        try:
            return json.loads(files.read_json(self.sidecar))
        except StoreError as error:
            raise StoreError(f"{error}; repeat the command that made it") from error

    def content(self, name: str) -> bytes:
        """Read a file; StoreError if the file or sidecar is missing or damaged."""
        path, sidecar = self.sidecar.with_name(name), self.read_sidecar()
        if _digest(content := files.content(path)) != sidecar["files"].get(name):
            command = sidecar.get("command")
            remedy = f"run {command} again" if command else "repeat the command that made it"
            raise StoreError(f"{path}: its digest does not match {self.sidecar.name}; {remedy}")
        return content

    def fault(self) -> str | None:
        try:
            for name in self.read_sidecar()["files"]:
                self.content(name)
        except StoreError as error:
            return str(error)
        return None

    def write(self, contents: Mapping[str, bytes], entries: Mapping[str, Any]) -> None:
        digests = {name: _digest(content) for name, content in contents.items()}
        for name, content in contents.items():
            files.write(self.sidecar.with_name(name), content)
        files.write(self.sidecar, files.json_with_checksum({**entries, "files": digests}))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_file(path: Path, content: bytes, command: str, entries: Mapping[str, Any] | None = None) -> None:
    """Write a file, and a sidecar with its command."""
    entries = {"command": command, **commit(), **(entries or {})}
    DerivedFiles(path.with_suffix(".json")).write({path.name: content}, entries)


def write_table(
    frame: "pd.DataFrame", path: Path, command: str, entries: Mapping[str, Any] | None = None, digits: int = 6
) -> None:
    """Write a table as NAME.csv with a sidecar."""
    write_file(path, encode_table(frame, digits), command, entries)


def encode_table(frame: "pd.DataFrame", digits: int) -> bytes:
    """Encode a table as CSV with `digits` significant digits."""
    return frame.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n").encode()


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of NAME.csv; none without a sidecar. StoreError if damaged."""
    files = DerivedFiles(path.with_suffix(".json"))
    return parse_rows(files.content(path.name)) if files.is_made else []


def parse_rows(content: bytes) -> list[dict[str, str]]:
    """Parse CSV rows as text, without empty cells."""
    return [
        {name: cell for name, cell in row.items() if cell}
        for row in csv.DictReader(StringIO(content.decode(), newline=""))
    ]


@dataclass(frozen=True, eq=False)
class Simulation:
    """A table simulated by a deterministic function of keyword arguments.

    Arguments and defaults must be JSON values or frozen dataclasses.
    """

    function: Callable[..., "pd.DataFrame"]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        bound = inspect.signature(self.function).bind(**self.arguments)
        bound.apply_defaults()
        return dict(bound.arguments)

    @property
    def sequences(self) -> int:
        """The number of simulated sequences; 0 without a parameter `sequences`."""
        return self.parameters.get("sequences", 0)

    @property
    def signature(self) -> str:
        """A digest of the parameters and code, 12 hex digits."""
        module = self.function.__module__
        identity = [module, self.function.__qualname__, self.parameters, module_digest((module,))]
        return hashlib.sha256(json.dumps(identity, sort_keys=True, default=asdict).encode()).hexdigest()[:12]

    @property
    def files(self) -> DerivedFiles:
        return DerivedFiles(outputs() / "simulations" / self.signature / "table.json")

    @property
    def is_stored(self) -> bool:
        return self.files.is_made and not self.files.fault()

    def save(self, table: "pd.DataFrame") -> None:
        content = table.to_parquet(index=False, compression="zstd")
        self.files.write({TABLE: content}, {"name": self.name, "provenance": asdict(provenance())})

    def load(self) -> "pd.DataFrame":
        """Load the stored table; StoreError if it is missing or damaged."""
        if not self.is_stored:
            raise StoreError(f"the simulation {self.name} is missing or damaged; run pomrl reproduce STUDY")
        import pandas as pd

        return pd.read_parquet(BytesIO(self.files.content(TABLE)))
