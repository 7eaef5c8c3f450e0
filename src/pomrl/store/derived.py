"""What is made of stored experiments: sets of files, each with a sidecar NAME.json that has their digests."""

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pomrl.store import files
from pomrl.store.layout import StoreError
from pomrl.store.provenance import commit

if TYPE_CHECKING:  # because it takes long to load
    import pandas as pd


@dataclass(frozen=True)
class DerivedFiles:
    """A set of derived files, which may be damaged or not exist yet."""

    sidecar: Path

    @property
    def is_made(self) -> bool:
        """Return whether there is a sidecar."""
        return self.sidecar.exists()

    def read_sidecar(self) -> dict[str, Any]:
        """Return what the sidecar says; its entry `files` has the digest of each other file by name.

        Raises:
            StoreError: It is missing or damaged; the message says what renews it.
        """
        try:
            return json.loads(files.read_json(self.sidecar))
        except StoreError as error:
            raise StoreError(f"{error}; the command that made it renews it") from error

    def content(self, name: str) -> bytes:
        """Return the content of one of the files; StoreError, with what renews it, if it is not what was written."""
        path, said = self.sidecar.with_name(name), self.read_sidecar()
        if _digest(content := files.content(path)) != said["files"].get(name):
            remedy = f"{said.get('command') or 'the command that made it'} renews it"
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

    def write(self, contents: Mapping[str, bytes], said: Mapping[str, Any]) -> None:
        """Write the files of the set, and then the sidecar with their digests."""
        digests = {name: _digest(content) for name, content in contents.items()}
        for name, content in contents.items():
            files.write(self.sidecar.with_name(name), content)
        files.write(self.sidecar, files.json_with_checksum({**said, "files": digests}))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_file(path: Path, content: bytes, command: str, said: Mapping[str, Any] | None = None) -> None:
    """Write a file, and a sidecar beside it that says which command makes it again, and what is given further."""
    said = {"command": command, **commit(), **(said or {})}
    DerivedFiles(path.with_suffix(".json")).write({path.name: content}, said)


def write_table(
    frame: "pd.DataFrame", path: Path, command: str, said: Mapping[str, Any] | None = None, digits: int = 6
) -> None:
    """Write a table as NAME.csv, numbers with so many digits, with a sidecar as `write_file` does."""
    write_file(path, encode_table(frame, digits), command, said)


def encode_table(frame: "pd.DataFrame", digits: int) -> bytes:
    """Return a table as CSV, numbers with so many significant digits."""
    return frame.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n").encode()


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of the table in NAME.csv as text, without empty cells; none if there is no sidecar NAME.json.

    Raises:
        StoreError: The table or the sidecar is damaged.
    """
    files = DerivedFiles(path.with_suffix(".json"))
    if not files.is_made:
        return []
    return parse_rows(files.content(path.name))


def parse_rows(content: bytes) -> list[dict[str, str]]:
    """Return the rows of a table as text, without empty cells."""
    return [
        {name: cell for name, cell in row.items() if cell}
        for row in csv.DictReader(StringIO(content.decode(), newline=""))
    ]
