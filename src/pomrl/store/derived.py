"""What is made of stored experiments: sets of files, each with a sidecar that holds the digests of the others.

    studies/STUDY/claims.csv                            claims.json
    studies/STUDY/figures/NAME.pdf NAME.png NAME.csv    NAME.json
    studies/STUDY/pages/NAME.md                         NAME.json
    studies/STUDY/report/index.html                     index.json
    plots/NAME.pdf NAME.png NAME.csv                    NAME.json

Each file is written whole or not at all, and the sidecar is written last. So a set without a sidecar counts as not
made. A set whose files do not have the digests in its sidecar is damaged, or the process that renewed it was killed; it
is refused until it is made again. The sidecar says which command does that (`command`).
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pomrl.store import files
from pomrl.store.layout import StoreError

LARGEST = 2**28
"""Size in bytes of the largest file that is read; larger files are refused without reading them."""

SUFFIXES = (".csv", ".html", ".md", ".pdf", ".png")
"""The kinds of derived files beside the sidecar."""

MADE_BY = {"claims": "claims", "differences": "claims", "figures": "figures", "pages": "documents", "report": "report"}
"""The command that makes what is in a folder, or a file, of a study's outputs."""


@dataclass(frozen=True)
class DerivedFiles:
    """A set of derived files, which may be damaged or not exist yet."""

    sidecar: Path
    """The path of NAME.json; the other files of the set are in the same folder."""

    @property
    def is_made(self) -> bool:
        """Return whether there is a sidecar. It may be damaged, and so may the other files."""
        return os.path.lexists(self.sidecar)

    def said(self) -> dict[str, Any]:
        """Return what the sidecar says; its entry `files` has the digest of each other file by name.

        Raises:
            StoreError: The sidecar is missing or damaged.
        """
        said, is_sound = files.read_json(self.sidecar, LARGEST)
        digests = said.get("files")
        names = cast(dict[str, str], digests) if isinstance(digests, dict) else {}
        if not is_sound or names is not digests or not all(Path(name).name == name != ".." for name in names):
            raise StoreError(f"{self.sidecar}: it is damaged, or another version wrote it")
        if not all(map(self.is_own, names)):
            raise StoreError(f"{self.sidecar}: it is that of other files")
        return said

    def is_own(self, name: str) -> bool:
        """Return whether a file of this name can be one of the set: two exchanged sidecars have sound digests."""
        return Path(name).stem == self.sidecar.stem

    def paths(self) -> tuple[Path, ...]:
        """Return the paths of all files of the set; the sidecar alone if it is damaged, and none if it is missing."""
        if not self.is_made:
            return ()
        try:
            return (self.sidecar, *map(self.sidecar.with_name, self.said()["files"]))
        except StoreError:
            return (self.sidecar,)

    def remedy(self) -> str:
        """Return what renews the files, as the end of a line: the command that the sidecar names, if it can be read."""
        try:
            command = self.said().get("command")
        except StoreError:
            command = None
        return f"{command or self._made_by()} renews it"

    def _made_by(self) -> str:
        """Return the command that makes the set by its place, for a sidecar that does not say it."""
        place = self.sidecar.with_suffix("").parts
        *_, study, kind = place[: place.index("studies") + 3] if "studies" in place[:-2] else ("", "")
        return f"pomrl {MADE_BY[kind]} {study}" if kind in MADE_BY else f"what has made {self.sidecar.stem}"

    def content(self, name: str) -> bytes:
        """Return the content of one of the other files, after checking that it is what was written.

        Raises:
            StoreError: The file or the sidecar is missing or damaged.
        """
        path = self.sidecar.with_name(name)
        digest = self.said()["files"].get(name)
        try:
            content = files.read(path, LARGEST)
        except OSError as error:
            raise StoreError(f"{path}: it is missing or cannot be read") from error
        if _digest(content) != digest:
            raise StoreError(f"{path}: its digest is not the one in {self.sidecar.name}")
        return content

    def fault(self) -> str | None:
        """Return what is wrong with the set, in one line; None if it is as it was written, or not made at all."""
        if not self.is_made:
            beside = sorted(path.name for path in self.sidecar.parent.glob(f"{self.sidecar.stem}.*"))
            return f"{self.sidecar}: it is missing beside {', '.join(beside)}" if beside else None
        try:
            for name in self.said()["files"]:
                self.content(name)
        except StoreError as error:
            return str(error)
        return None

    def write(self, contents: Mapping[str, bytes], said: Mapping[str, Any]) -> None:
        """Write the files of the set, and then the sidecar with their digests; create the folder if there is none.

        Args:
            contents: The contents of the files by name.
            said: What else the sidecar says, as data that JSON can express.

        Raises:
            OSError: A file cannot be written. The set is as it was before, or counts as damaged.
        """
        folder = self.sidecar.parent
        folder.mkdir(parents=True, exist_ok=True)
        files.remove_abandoned(folder, lambda name: name in contents or name == self.sidecar.name)
        for name, content in contents.items():
            files.write(folder / name, content)
        digests = {name: _digest(content) for name, content in contents.items()}
        files.write(self.sidecar, files.json_with_checksum({**said, "files": digests}))


def derived(folder: Path) -> Iterator[DerivedFiles]:
    """Yield all sets of derived files in a folder of outputs, also those whose sidecar has been deleted.

    What is stored of experiments and simulations is not derived.
    """
    for parent in ("studies", "plots", "reports", "horizon"):
        found = [*(folder / parent).rglob("*")]
        sidecars = {path for path in found if path.suffix == ".json"}
        others = {path for path in found if path.suffix in SUFFIXES and not path.is_symlink()}
        yield from map(DerivedFiles, sorted(sidecars | {path.with_suffix(".json") for path in others}))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
