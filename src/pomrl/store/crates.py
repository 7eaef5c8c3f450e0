"""Experiments as an RO-Crate: a zip archive of what is stored, with a description in JSON-LD, as archives take it.

Nothing in a crate is trusted: its names and sizes are bounded, and an experiment is added only if its description has
its signature and each block the digest in its name. Whether the numbers are right, `pomrl audit` shows.
"""

import json
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pomrl.outputs import outputs
from pomrl.store import block_files
from pomrl.store.layout import StoreError, root
from pomrl.store.manifests import DESCRIPTION
from pomrl.store.provenance import commit
from pomrl.store.stored_experiments import StoredExperiment

METADATA = "ro-crate-metadata.json"
MOST_BYTES = 8 * 2**30
"""The most bytes that the files of a crate may have together, unless more is allowed."""


def export(path: Path, stored: Sequence[StoredExperiment]) -> int:
    """Write a crate of experiments, and return the number of its files without the description.

    Raises:
        StoreError: There is nothing to export, or a file of an experiment is damaged.
    """
    if not stored:
        raise StoreError(f"{root()}: nothing is stored to export")
    graph: list[dict[str, Any]] = []
    with zipfile.ZipFile(path, "w") as archive:
        for each in stored:
            if faults := each.faults():
                raise StoreError(faults[0])
            folder = f"runs/{each.signature}/"
            names = [folder + name for name in (DESCRIPTION, *(block.name for block in each.blocks()))]
            for name in names:
                archive.write(outputs() / name, name)
            settings = ", ".join(f"{key}={value}" for key, value in each.flat_settings().items())
            has = [{"@id": name} for name in names]
            graph.append({"@id": folder, "@type": "Dataset", "description": settings, "hasPart": has})
            graph += [{"@id": name, "@type": "File"} for name in names]
        computed = max(each.said().provenance.start for each in stored)[:10]
        archive.writestr(METADATA, json.dumps(_describe(graph, computed), indent=1))
    return sum(entity["@type"] == "File" for entity in graph)


def _describe(graph: Sequence[dict[str, Any]], computed: str) -> dict[str, Any]:
    """Return the description of a crate with these folders and files in JSON-LD."""
    standard = "https://w3id.org/ro/crate/1.1"
    about = {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": standard}}
    crate = {
        "@id": "./",
        "@type": "Dataset",
        "name": "Experiments with pomrl",
        "description": f"Runs of learning and planning in tabular MDPs, by commit {commit()['commit']}",
        "datePublished": computed,
        "license": {"@id": "https://spdx.org/licenses/MIT"},
        "hasPart": [{"@id": entity["@id"]} for entity in graph],
    }
    return {"@context": f"{standard}/context", "@graph": [about, crate, *graph]}


def import_(path: Path, most: float = MOST_BYTES) -> tuple[list[Path], list[Path]]:
    """Check a crate and add its experiments to the store; return the folders that were added, and those that were kept.

    An experiment that is stored already is left as it is.

    Raises:
        StoreError: It is no crate, it is too large, or a file of it is damaged or unexpected. Nothing is added then.
    """
    root().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".import-", dir=outputs()) as place:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(place), most)
            found = [StoredExperiment(folder) for folder in sorted(Path(place).glob("runs/*"))]
            for each in found:
                if faults := each.faults() or ([] if each.complete() else [f"{each.folder}: it has no runs"]):
                    raise StoreError(faults[0].replace(f"{place}/", ""))
        except FileNotFoundError as error:
            raise StoreError(f"{path}: there is no such file") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
            raise StoreError(f"{path}: it is damaged, or no zip archive") from error
        except StoreError as error:
            raise StoreError(f"{path}: {error}") from error
        new = [each for each in found if not (root() / each.signature).exists()]
        added = [each.folder.rename(root() / each.signature) for each in new]
    return added, [root() / each.signature for each in found if each not in new]


def _unpack(archive: zipfile.ZipFile, place: Path, most: float) -> None:
    """Unpack the files of experiments whose names have the form of ours, at most so many bytes."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if entries.pop(METADATA, None) is None:
        raise StoreError(f"it has no {METADATA} of pomrl export")
    if not (total := sum(entry.file_size for entry in entries.values())) <= most:
        raise StoreError(f"its files have {total / 1e9:.1f} GB; --most {total / 1e9 + 0.1:.1f} allows so much")
    for filename, entry in entries.items():
        match filename.split("/"):
            case ["runs", signature, name] if signature.isalnum() and (name == DESCRIPTION or block_files.named(name)):
                archive.extract(entry, place)  # not more than the entry says that it has, which `most` bounds
            case _:
                raise StoreError(f"{filename} is no file of an experiment")
