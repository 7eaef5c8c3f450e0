"""Writing a drawing to files, and the sidecar file that says where it comes from."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from pomrl.configuration.sources import Replacement
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.style import context
from pomrl.results.stored_sweeps import Source

SUFFIXES = ("pdf", "png", "csv", "json")
"""The files of a figure, in the order in which `save` writes them: two pictures, the table, and the sidecar."""


_OPTIONAL = ("replacement", "simulations")
"""The keys of a sidecar file that are left out if there is nothing to say."""


@dataclass(frozen=True)
class Sidecar:
    """The content of NAME.json, which says where the files of a figure come from."""

    figure: str
    commit: str | None = None
    """The git commit of the code; None outside of a repository."""
    dirty: bool | None = None
    """Whether the code was changed since that commit; None outside of a repository."""
    replacement: Replacement | None = None
    """The option that replaced one of ours; absent from the file if there is none."""
    sweeps: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """The stored experiments of each sweep that the figure shows."""
    simulations: Mapping[str, Sequence[Source]] = field(default_factory=dict)
    """What is stored of each simulation that the figure shows; absent from the file if there is none."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 digest of each other file of the figure, by its name."""

    def write(self, path: Path) -> None:
        """Write the sidecar as JSON."""
        content = {key: value for key, value in asdict(self).items() if value or key not in _OPTIONAL}
        path.write_text(json.dumps(content, indent=2) + "\n")

    @classmethod
    def read(cls, path: Path) -> "Sidecar":
        """Read a sidecar that `write` has written.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If the file is damaged, or another version wrote it.
        """
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes())
        except ValidationError as error:
            raise ValueError(f"{path}: it is damaged, or another version wrote it") from error


def save(drawing: Drawing, folder: Path, name: str, sidecar: Sidecar) -> list[Path]:
    """Write NAME.pdf, NAME.png, NAME.csv and NAME.json, and create the folder if there is none.

    In one environment the bytes of the first three depend on the drawing alone: they contain neither a date nor the
    name of a program. NAME.json is the sidecar, to which the digests of the other three are added.

    Returns:
        The paths of the four files, in the order of `SUFFIXES`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for suffix in SUFFIXES]
    pdf, png, csv, json_file = paths
    with context():
        drawing.figure.savefig(pdf, metadata={"CreationDate": None, "Creator": None, "Producer": None})
        drawing.figure.savefig(png, metadata={"Software": None})
    drawing.data.to_csv(csv, index=False, lineterminator="\n")
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (pdf, png, csv)}
    replace(sidecar, files=digests).write(json_file)
    return paths


def save_small(drawing: Drawing, folder: Path, name: str) -> list[Path]:
    """Write a small NAME.png for a web page, and create the folder if there is none; return its path in a list."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    with context():
        drawing.figure.savefig(path, dpi=120, metadata={"Software": None})
    return [path]
