"""Experiments as an RO-Crate: a zip archive of what is stored, with a description in JSON-LD, as archives take it.

    runs/<settings> <signature>/    an experiment, as in the store
    code/                           the files of a study, with paths in the folder in which its commands are called
    studies/<study>/                what was made of the study, for people: it is made again, and not imported

Nothing in a crate is trusted: its names and sizes are bounded, and an experiment is added only if its description has
its signature and each block the digest in its name. Whether the numbers are right, `pomrl audit` shows. Files of a
study are put into the current folder only where its owner agrees.
"""

import filecmp
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.settings import varying_keys
from pomrl.outputs import outputs
from pomrl.store.files import replacing, sync_all, sync_folder, write
from pomrl.store.layout import StoreError, root
from pomrl.store.provenance import commit
from pomrl.store.stored_experiments import LOG, StoredExperiment, is_ours

METADATA = "ro-crate-metadata.json"
MOST_LETTERS = 120
"""The most letters of settings in the name of a folder."""

_UNSAFE = re.compile(r"[^\w=.,+ -]")

MOST_BYTES = 8 * 2**30
"""The most bytes that the files of a crate may have together, unless more is allowed."""


def export(
    path: Path,
    stored: Sequence[StoredExperiment],
    title: str = "Experiments",
    further: Mapping[str, Path] | None = None,
) -> int:
    """Write a crate of experiments, and return the number of its files without the description.

    Args:
        path: The archive.
        stored: The experiments.
        title: What the crate is called.
        further: The paths of other files, by their names in the crate.

    Raises:
        StoreError: There is nothing to export, or a file of an experiment is damaged.
    """
    if not stored:
        raise StoreError(f"{root()}: nothing is stored to export")
    graph: list[dict[str, Any]] = []
    files = dict(further or {})
    for experiment, (name, settings) in zip(stored, _name_folders(stored), strict=True):
        if faults := experiment.faults():
            raise StoreError(faults[0])
        kept = {path.name for path in experiment.paths()} - {LOG} - {block.name for block in experiment.files()}
        names = sorted(kept | {block.name for block in experiment.blocks()})
        of_each = {name + file: experiment.folder / file for file in names}
        has = [{"@id": quote(file)} for file in of_each]
        graph.append({"@id": quote(name), "@type": "Dataset", "description": settings, "hasPart": has})
        files |= of_each
    graph += [{"@id": quote(name), "@type": "File"} for name in files]
    computed = max(experiment.read_manifest().provenance.start for experiment in stored)[:10]
    with replacing(path) as whole, zipfile.ZipFile(whole, "w") as archive:
        for name, file in files.items():
            archive.write(file, name)
        archive.writestr(METADATA, json.dumps(_describe(graph, title, computed), indent=1))
    return len(files)


def _name_folders(stored: Sequence[StoredExperiment]) -> Iterator[tuple[str, str]]:
    """Yield for each experiment its folder, named after the settings in which they differ, and all of its settings."""
    settings = [experiment.flat_settings() for experiment in stored]
    varying = varying_keys(settings)
    for experiment, of_each in zip(stored, settings, strict=True):
        words = " ".join(f"{key.rpartition('.')[2]}={of_each[key]}" for key in varying if key in of_each)
        name = f"{_UNSAFE.sub('_', words)[:MOST_LETTERS]} {experiment.signature}"
        yield f"runs/{name.strip()}/", ", ".join(f"{key}={value}" for key, value in of_each.items())


def _describe(graph: Sequence[dict[str, Any]], title: str, computed: str) -> dict[str, Any]:
    """Return the description of a crate with these folders and files in JSON-LD."""
    standard = "https://w3id.org/ro/crate/1.1"
    about = {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": standard}}
    crate = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{title} (pomrl)",
        "description": f"Runs of learning and planning in tabular MDPs, by commit {commit()['commit']}",
        "datePublished": computed,
        "license": {"@id": "https://spdx.org/licenses/MIT"},
        "hasPart": [{"@id": entity["@id"]} for entity in graph],
    }
    return {"@context": f"{standard}/context", "@graph": [about, crate, *graph]}


def import_(
    path: Path,
    most: float = MOST_BYTES,
    agrees: Callable[[Sequence[Path]], bool] = lambda _: False,
    check: Callable[[StoredExperiment], object] = lambda _: None,
) -> tuple[list[Path], list[Path]]:
    """Check a crate and add its experiments to the store; return the folders that were added, and those that were kept.

    An experiment that is stored already is left as it is.

    Args:
        path: The archive.
        most: The most bytes that its files may have.
        agrees: Whether these files of a study, which are not there yet, are to be put into the current folder.
        check: Raises a StoreError or ConfigError for an experiment whose settings are none.

    Raises:
        StoreError: It is no crate, it is too large, or a file of it is damaged or unexpected; or a file of a study
            stands in the current folder with another content. Nothing is added then.
    """
    root().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".import-", dir=outputs()) as place:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, Path(place), most)
            found = [StoredExperiment(folder) for folder in sorted(Path(place).glob("runs/*"))]
            for stored in found:
                if faults := stored.faults() or ([] if stored.contiguous() else [f"{stored.folder}: it has no runs"]):
                    raise StoreError(faults[0].replace(f"{place}/", "").partition("; ")[0])
                check(stored)
            sync_all(Path(place))
            lacking = _find_lacking(Path(place) / "code")
        except FileNotFoundError as error:
            raise StoreError(f"{path}: there is no such file") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
            raise StoreError(f"{path}: it is damaged, or no zip archive") from error
        except (StoreError, ConfigError) as error:
            raise StoreError(f"{path}: {error}") from error
        new = [stored for stored in found if not (root() / stored.signature).exists()]
        added = [stored.folder.rename(root() / stored.signature) for stored in new]
        sync_folder(root())
        for file in lacking if lacking and agrees(lacking) else ():
            write(file, (Path(place) / "code" / file).read_bytes())
    return added, [root() / stored.signature for stored in found if stored not in new]


def _find_lacking(code: Path) -> list[Path]:
    """Return the files in a folder that the current folder lacks; StoreError if one of them may not stand there."""
    files = sorted(path.relative_to(code) for path in code.rglob("*") if path.is_file())
    for file in files:
        target = file.resolve()
        of_store = any(target.is_relative_to((outputs() / kind).resolve()) for kind in ("runs", "simulations"))
        if of_store or not target.is_relative_to(Path.cwd().resolve()):
            raise StoreError(f"code/{file} would not stand in the current folder")
        if file.exists() and not (file.is_file() and filecmp.cmp(file, code / file, shallow=False)):
            raise StoreError(f"{file} is there already, with another content; import it into an empty folder")
    return [file for file in files if not file.exists()]


def _unpack(archive: zipfile.ZipFile, place: Path, most: float) -> None:
    """Unpack the files of experiments whose names have the form of ours, at most so many bytes."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    if entries.pop(METADATA, None) is None:
        raise StoreError(f"it has no {METADATA} of pomrl export")
    if not (total := sum(entry.file_size for entry in entries.values())) <= most:
        raise StoreError(f"its files have {total / 1e9:.1f} GB; --most {total / 1e9 + 0.1:.1f} allows so much")
    for filename, entry in entries.items():
        match filename.split("/"):
            case ["runs", folder, name] if is_ours(name) and name != LOG:
                if not (signature := folder.rpartition(" ")[2]).isalnum():
                    raise StoreError(f"{filename} is no file of an experiment")
                entry.filename = f"runs/{signature}/{name}"
            case ["code", *parts] if parts and not any(part == "" or part.startswith(".") for part in parts):
                pass
            case ["studies", *_]:
                continue
            case _:
                raise StoreError(f"{filename} is no file of an experiment or of a study")
        archive.extract(entry, place)  # not more than the entry says that it has, which `most` bounds
