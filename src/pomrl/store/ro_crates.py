"""Experiments as an RO-Crate: a zip archive with a description in JSON-LD and the SHA-256 digest of each file.

    ro-crate-metadata.json                       what is in the crate, who computed it, when and with which code
    runs/<signature>/ simulations/<signature>/   what is stored, as in the folder of outputs
    figures/ report/ ...                         what is made of it, if everything is exported

The format is that of https://www.researchobject.org/ro-crate/, which archives such as Zenodo take as it is. The bytes
of a crate depend on what is exported alone.

Nothing in a crate is trusted. It is added to the store only if all of it has the digests that it states, and if each
experiment is one that this store would read, with tables that its settings can have. Whoever makes a crate also makes
its digests, though, so that what is imported is recorded as such (`pomrl.store.origins`) until `pomrl audit` has
recomputed it.
"""

import hashlib
import json
import lzma
import os
import stat
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast

from pomrl.outputs import outputs
from pomrl.store import files, manifest, stored_simulations
from pomrl.store.derived import LARGEST
from pomrl.store.everything import IMPORTS, everything
from pomrl.store.layout import BLOCK_LIST, CONFIG, LOG, MANIFEST, REPAIR, StoreError, is_our_name, is_signature, root
from pomrl.store.origins import record
from pomrl.store.provenance import commit
from pomrl.store.reading import StoredExperiment
from pomrl.store.stored_simulations import TABLE, StoredSimulation
from pomrl.theory.simulations import SIMULATIONS

METADATA = "ro-crate-metadata.json"

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]

PAPER = {
    "@id": "https://doi.org/10.48550/arXiv.2212.14530",
    "@type": "ScholarlyArticle",
    "name": "POMRL: No-Regret Learning-to-Plan with Increasing Horizons",
}

MOST_BYTES = 8 * 2**30
"""The most bytes that the files of a crate may have together, unless more is allowed."""

_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of all entries of the archive, so that its bytes do not depend on when it is written."""


Advance = Callable[[int, int], None]
"""A function that takes how many bytes are checked, of how many; each counts once as a file and once as a table."""

Described = dict[str, str]
"""The description of a file: its name, size and digest."""


@dataclass(frozen=True)
class Imported:
    """What became of the experiments and simulations of a crate."""

    added: tuple[Path, ...]
    """The folders that were added to the store."""
    kept: tuple[Path, ...]
    """The folders of the store that have as much as the crate, and were left as they are."""
    refused: tuple[str, ...]
    """A line for each experiment of which the crate has more runs than the store."""


def export(path: Path, stored: Sequence[StoredExperiment], *, everything: bool = False) -> int:
    """Write a crate, and return the number of its files without the description.

    Args:
        path: The archive, which is replaced if it exists.
        stored: The experiments.
        everything: Add all simulations, and all that is made of what is stored: figures, tables, the report.

    Raises:
        StoreError: There is nothing to export, or a file of an experiment is damaged.
        OSError: The archive cannot be written.
    """
    stored = [each for each in stored if each.blocks() or each.faults()]
    if not stored:
        raise StoreError(f"{root()}: nothing is stored to export")
    described: list[Described] = []
    with files.replacement(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in chain(*map(_of_experiment, stored), _beside_experiments(path) if everything else ()):
            _write_entry(archive, name, content)
            described.append(
                {"@id": name, "@type": "File", "contentSize": str(len(content)), "sha256": _digest(content)}
            )
        _write_entry(archive, METADATA, _metadata(stored, described))
    return len(described)


def _write_entry(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EARLIEST)
    entry.external_attr = 0o644 << 16
    is_compressed = name.endswith((".parquet", ".png", ".pdf"))
    archive.writestr(entry, content, zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED)


def _of_experiment(stored: StoredExperiment) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an experiment, as they are between two changes of it."""
    with files.locked(stored.folder):
        if faults := stored.faults():
            raise StoreError(f"{faults[0]}; {REPAIR}")
        names = [CONFIG, MANIFEST, BLOCK_LIST, *(block.name for block in stored.blocks()), LOG]
        for name in names:
            if (stored.folder / name).exists():
                yield f"runs/{stored.signature}/{name}", files.read(stored.folder / name, LARGEST)


def _beside_experiments(crate: Path) -> Iterator[tuple[str, bytes]]:
    """Yield all files of the outputs but those of experiments, temporary ones, and the crate itself.

    Raises:
        StoreError: A simulation or a derived file is damaged.
    """
    for kept in everything():
        if kept.path.parent == root() or kept.path.name.startswith("."):
            continue
        if faults := kept.faults():
            raise StoreError(faults[0])
        for path in kept.files:
            if path.resolve() != crate.resolve():
                yield path.relative_to(outputs()).as_posix(), files.read(path, LARGEST)


def _metadata(stored: Sequence[StoredExperiment], described: Sequence[Described]) -> bytes:
    """Return the description of a crate, given the descriptions of its files."""
    names = [each["@id"] for each in described]
    of_folder: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        of_folder[name.rpartition("/")[0]].append(name)
    manifests = [manifest.read(each.folder) for each in stored]
    ends = [each.provenance.end or each.provenance.start for each in manifests]
    code = commit()
    software = {"@id": "#pomrl", "@type": "SoftwareApplication", "name": "pomrl", "version": version("pomrl")}
    graph: list[dict[str, Any]] = [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{len(stored)} experiments with pomrl",
            "description": "Runs of meta-learning and planning in tabular MDPs; pomrl import checks and adds them.",
            "datePublished": max(ends)[:10],
            "license": {"@id": "https://spdx.org/licenses/MIT"},
            "citation": {"@id": PAPER["@id"]},
            "hasPart": [
                *({"@id": f"runs/{each.signature}/"} for each in stored),
                *({"@id": name} for name in names if not name.startswith("runs/")),
            ],
        },
        PAPER,
        software | ({"softwareRequirements": f"commit {code['commit']}"} if code["commit"] else {}),
    ]
    for each, said in zip(stored, manifests, strict=True):
        graph += _described(each, said, of_folder[f"runs/{each.signature}"])
    graph += described
    return (json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False) + "\n").encode()


def _described(stored: StoredExperiment, said: manifest.Manifest, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the data set of an experiment, and the action that computed it."""
    place = {"@id": f"runs/{stored.signature}/"}
    settings = ", ".join(f"{key}={value}" for key, value in stored.flat_settings().items())
    yield place | {
        "@type": "Dataset",
        "name": f"{stored.complete()} runs, signature {stored.signature}",
        "description": settings,
        "hasPart": [{"@id": name} for name in names],
    }
    made = said.provenance
    yield {
        "@id": f"#{stored.signature}",
        "@type": "CreateAction",
        "name": " ".join(made.command),
        "instrument": {"@id": "#pomrl"},
        "result": place,
        "startTime": made.start,
        **({"endTime": made.end} if made.end else {}),
    }


def import_(path: Path, most: float = MOST_BYTES, advance: Advance | None = None) -> Imported:
    """Check a crate, and add its experiments and simulations to the store.

    What the store has already is left as it is. What is made of experiments, such as figures, is checked but not added,
    because commands make it.

    Args:
        path: The archive.
        most: The most bytes that its files may have together.
        advance: Called after each file and each experiment that is checked.

    Raises:
        StoreError: It is no crate, it is too large, or a file of it is missing, damaged or unexpected. Nothing is added
            then.
    """
    try:
        with _ordinary_file(path) as file, zipfile.ZipFile(file) as archive:
            return _unpacked(path, archive, most, advance or (lambda _done, _total: None))
    except FileNotFoundError as error:
        raise StoreError(f"{path}: there is no such file") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError) as error:
        raise StoreError(f"{path}: it is damaged, or no zip archive") from error
    except (EOFError, NotImplementedError, RuntimeError, UnicodeError, ValueError) as error:  # of names and encryption
        raise StoreError(f"{path}: it is damaged, or no zip archive") from error


@contextmanager
def _ordinary_file(path: Path) -> Generator[BinaryIO, None, None]:
    """Yield the ordinary file to which a path leads, open for reading; a FIFO or a device is not waited for.

    Raises:
        StoreError: It is no ordinary file.
    """
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise StoreError(f"{path}: it is no ordinary file")
        yield file


def _unpacked(path: Path, archive: zipfile.ZipFile, most: float, advance: Advance) -> Imported:
    """Unpack a crate into a temporary folder, and move what is good from there to the store."""
    if not (total := sum(entry.file_size for entry in archive.infolist())) <= most:  # which may be NaN
        raise StoreError(f"{path}: its files have {total / 1e9:.1f} GB; --most {total / 1e9 + 0.1:.1f} allows so much")
    outputs().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=IMPORTS, dir=outputs()) as name_of_place, files.held(place := Path(name_of_place)):
        done = 0
        for name, content in _checked(path, archive):
            advance(done := done + len(content), 2 * total)
            if PurePosixPath(name).parts[0] in ("runs", "simulations"):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
        return _added(path, place, lambda done: advance(total + done, 2 * total))


def _checked(path: Path, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a crate that have the digests in its description.

    Raises:
        StoreError: A file is missing, damaged or not described, or a name leads out of the crate.
    """
    listed = _listed(path, archive)
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and entry.filename != METADATA]
    names = [entry.filename for entry in entries]
    if sorted(names) != sorted(listed):
        strange = sorted(set(names) ^ set(listed)) or ["a name"]
        raise StoreError(f"{path}: {strange[0]} is in the crate twice, or not both in it and in its description")
    for entry in entries:
        parts = PurePosixPath(entry.filename).parts
        if entry.filename.startswith("/") or ".." in parts or "\\" in entry.filename or entry.file_size > LARGEST:
            raise StoreError(f"{path}: {entry.filename} is refused, because of its name or its size")
        with archive.open(entry) as file:
            content = file.read(LARGEST + 1)
        if _digest(content) != listed[entry.filename]:
            raise StoreError(f"{path}: {entry.filename} is damaged: its digest is not the one in {METADATA}")
        yield entry.filename, content


def _listed(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the digest of each file that the description of a crate names."""
    try:
        with archive.open(METADATA) as file:
            content = file.read(LARGEST)
        graph = cast(list[dict[str, Any]], json.loads(content)["@graph"])
        return {str(each["@id"]): str(each["sha256"]) for each in graph if each.get("@type") == "File"}
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"{path}: it has no {METADATA} of pomrl export") from error


def _added(crate: Path, place: Path, advance: Callable[[int], None]) -> Imported:
    """Move what was unpacked to its places in the store, after all of it has been checked."""
    done, experiments = 0, [StoredExperiment(folder) for folder in sorted((place / "runs").glob("*"))]
    for each in experiments:
        names = [path.name for path in each.folder.iterdir()]
        if not is_signature(each.signature) or not all(map(is_our_name, names)):
            raise StoreError(f"{crate}: runs/{each.signature} is no experiment of a store")
        if faults := each.faults() or ([] if each.blocks() else [f"runs/{each.signature}: it has no runs"]):
            raise StoreError(f"{crate}: {faults[0].replace(f'{place}/', '')}")
        advance(done := done + sum(path.stat().st_size for path in each.folder.iterdir()))
    of_simulations = sorted((place / "simulations").glob("*"))
    for folder in of_simulations:
        fault = _fault_of_simulation(folder)
        if fault:
            raise StoreError(f"{crate}: {fault}".replace(f"{place}/", ""))
    added: list[Path] = []
    kept: list[Path] = []
    refused: list[str] = []
    for folder in (*(each.folder for each in experiments), *of_simulations):
        here = outputs() / folder.relative_to(place)
        stored, in_crate = StoredExperiment(here).complete(), StoredExperiment(folder).complete()  # 0 of a simulation
        if not here.exists():
            record(_digests_of_numbers(folder), recomputed=False)
            here.parent.mkdir(parents=True, exist_ok=True)
            folder.rename(here)
            added.append(here)
        elif stored >= in_crate:
            kept.append(here)
        else:
            refused.append(
                f"{here}: {stored} runs are stored here and {in_crate} are in the crate; remove the folder to import "
                "these"
            )
    return Imported(tuple(added), tuple(kept), tuple(refused))


def _fault_of_simulation(folder: Path) -> str | None:
    """Return why the folder of a simulation is refused: it is damaged, or no simulation of the present code."""
    if {path.name for path in folder.iterdir()} != {MANIFEST, TABLE}:
        return f"simulations/{folder.name} has other files than a simulation"
    known = {stored_simulations.signature(each): each for each in SIMULATIONS.values()}
    if folder.name not in known:
        return f"simulations/{folder.name} is no simulation of this version"
    simulation = StoredSimulation(folder / MANIFEST)
    return simulation.fault() or simulation.fault_of_table()


def _digests_of_numbers(folder: Path) -> list[str]:
    """Return the digests of the files with the numbers of an experiment, or of a simulation."""
    if folder.parent.name == "runs":
        return [block.sha256 for block in StoredExperiment(folder).blocks()]
    return [str(StoredSimulation(folder / MANIFEST).said()["files"][TABLE])]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
