"""Writing what is computed: first the file of a block, then its line in the list, so that a kill loses one block.

Whoever writes holds the lock of the experiment's folder, but only to rename what is flushed already and to append.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from pomrl.configuration.derived import derived
from pomrl.configuration.parsing import Experiment
from pomrl.configuration.settings import component_classes, scientific_settings
from pomrl.store import blocks, files, manifest
from pomrl.store.blocks import StoredBlock
from pomrl.store.code_digest import code_digest
from pomrl.store.layout import BLOCK, BLOCK_LIST, CONFIG, LOG, SCHEMA_VERSION, StoreError, is_block_name
from pomrl.store.manifest import Manifest, Status
from pomrl.store.provenance import decisive_versions, now, provenance
from pomrl.store.reading import StoredExperiment, lookup


def open_experiment(experiment: Experiment, *, force: bool = False) -> StoredExperiment:
    """Make the folder of an experiment ready for writing, and mend what is damaged of it.

    Raises StoreError where it was begun under another version of NumPy, SciPy, pandas or pyarrow, whose numbers or
    bytes may differ; with `force` it is emptied instead.
    """
    stored = lookup(experiment)
    stored.folder.mkdir(parents=True, exist_ok=True)
    if stored.folder.is_symlink():
        raise StoreError(f"{stored.folder}: it is a link, and what it leads to is left alone")
    with files.locked(stored.folder):
        said = stored.manifest()
        differing = _differing_versions(said)
        if differing and not force:
            raise StoreError(
                f"{stored.folder}: its runs were computed with {', '.join(differing)}; force=true computes them again"
            )
        said = None if differing else said
        _tidy(stored.folder, blocks.listed(stored.folder)[0] if said else [])
        files.write(stored.folder / CONFIG, _yaml(scientific_settings(experiment)))
        begun = replaced(said, provenance=provenance(), status="incomplete") if said else _begun(stored, experiment)
        manifest.write(stored.folder, begun)
    return stored


def _yaml(settings: Mapping[str, Any]) -> bytes:
    """The settings as YAML without aliases; they pass through JSON, as for the signature, so that they are plain."""
    return yaml.safe_dump(json.loads(json.dumps(settings)), sort_keys=False, allow_unicode=True).encode()


def _differing_versions(said: Manifest | None) -> list[str]:
    here = decisive_versions()
    began_with = said.versions if said else here
    return [
        f"{package} {began_with.get(package)}, this is {here[package]}"
        for package in here
        if began_with.get(package) != here[package]
    ]


def _begun(stored: StoredExperiment, experiment: Experiment) -> Manifest:
    """The manifest of an experiment of which nothing is computed yet."""
    return Manifest(
        schema=SCHEMA_VERSION,
        signature=stored.signature,
        code=code_digest(component_classes(scientific_settings(experiment))),
        versions=decisive_versions(),
        options=_options_computed(experiment),
        derived=derived(experiment.problem, experiment.method),
        status="incomplete",
        provenance=provenance(),
    )


def _options_computed(experiment: Experiment) -> dict[str, str]:
    """The names of the options; a hindsight schedule goes by that of the grid that is stored for it."""
    options = dict(experiment.options)
    schedule = experiment.method.gamma_schedule
    if schedule.computed() is not schedule:
        options["gamma_schedule"] = "grid"
    return options


def _tidy(folder: Path, listed: Sequence[StoredBlock]) -> None:
    """Bring the list to these blocks, and remove files of blocks that are not among them and abandoned ones.

    The caller holds the lock: nobody else is between the renaming of a file and its line in the list.
    """
    blocks.rewrite(folder, listed)
    files.remove_abandoned(folder)
    names = {block.name for block in listed}
    for path in folder.glob("*.parquet"):
        if is_block_name(path.name) and path.name not in names:
            path.unlink(missing_ok=True)


def add(stored: StoredExperiment, runs: range, table: pd.DataFrame, *, replace: bool = False) -> None:
    """Store the table of a block of runs, or of a part of one; see `add_blocks`."""
    add_blocks(stored, [(runs, table)], replace=replace)


def add_blocks(
    stored: StoredExperiment, tables: Sequence[tuple[range, pd.DataFrame]], *, replace: bool = False
) -> None:
    """Store the tables of blocks of runs, each of one block or of a part of one, and list them together.

    A part is joined with the part of its block that is stored already, or with `replace` takes its place. A block is
    never replaced by one with fewer runs. The cost does not depend on the number of blocks, but for parts.

    Raises StoreError where runs of the same block that come before are not stored yet.
    """
    while not _add(stored, tables, replace=replace):
        pass  # another process stored a part of the same block meanwhile


def _add(stored: StoredExperiment, tables: Sequence[tuple[range, pd.DataFrame]], *, replace: bool) -> bool:
    """Encode and flush all, then list them; false, and nothing is done, where a part was joined with what is no more.

    Whole blocks take the place of whatever there is: they have the most runs that a block can have.
    """
    depends = not all(_is_whole(runs) for runs, _ in tables)
    before = _state(stored.folder) if depends else None
    earlier = {block.runs.start: block for block in stored.blocks()} if depends else {}
    with ExitStack() as stack:
        written: list[tuple[StoredBlock, Path]] = []
        for runs, table in tables:
            held = range(runs.start // BLOCK * BLOCK, runs.stop)
            joined = table
            if not _is_whole(runs):
                joined = _joined(stored, earlier.get(held.start), runs, table, replace=replace)
            if joined is not None:
                content = blocks.encode(joined, stored.signature, held)
                block = blocks.described(held, content)
                written.append((block, stack.enter_context(files.flushed(stored.folder / block.name, content))))
        with files.locked(stored.folder):
            if depends and _state(stored.folder) != before:
                return False
            _list(stored.folder, written)
            for block, _ in written:
                old = earlier.get(block.runs.start)
                if old is not None and old.name != block.name:
                    (stored.folder / old.name).unlink(missing_ok=True)
    return True


def _list(folder: Path, written: Sequence[tuple[StoredBlock, Path]]) -> None:
    """Give flushed files their names and list their blocks. The caller holds the lock of the folder."""
    for block, temporary in written:
        temporary.replace(folder / block.name)
    if written:
        blocks.append(folder, [block for block, _ in written])


def _is_whole(runs: range) -> bool:
    return runs.start % BLOCK == 0 and len(runs) == BLOCK


def _state(folder: Path) -> tuple[int, int] | None:
    """Which list of blocks there is, and how long it is: it only grows, or is another file."""
    try:
        status = os.lstat(folder / BLOCK_LIST)
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size


def _joined(
    stored: StoredExperiment, listed: StoredBlock | None, runs: range, table: pd.DataFrame, *, replace: bool
) -> pd.DataFrame | None:
    """The table of a part of a block with what is stored of the block before it; None where that has all these runs."""
    kept = listed if listed and stored.fault(listed) is None and not replace else None
    stop = kept.runs.stop if kept else runs.start // BLOCK * BLOCK
    if runs.stop <= stop or (replace and listed and runs.stop < listed.runs.stop):
        return None
    if runs.start > stop:
        raise StoreError(f"{stored.folder}: runs {stop} to {runs.start - 1} have to be stored before {runs.start}")
    before = [blocks.verified(stored.folder, kept).read().to_pandas()] if kept else []
    return pd.concat([*before, table.loc[table["run"] >= stop]], ignore_index=True)


def close_experiment(stored: StoredExperiment, status: Status, wall_seconds: float) -> None:
    """Note in the manifest how the computation ended, and remove the files of blocks that longer ones replaced."""
    with files.locked(stored.folder):
        said = manifest.read(stored.folder)
        made = replaced(said.provenance, end=now(), wall_seconds=round(wall_seconds, 3))
        listed, faults = blocks.listed(stored.folder)
        if not faults:
            _tidy(stored.folder, listed)
        manifest.write(stored.folder, replaced(said, status=status, provenance=made))


def log(stored: StoredExperiment, text: str) -> None:
    """Add lines to the log of an experiment, each with the time."""
    stamp = pd.Timestamp.now("UTC").isoformat(timespec="seconds")
    lines = "".join(f"{stamp} {line}\n" for line in text.splitlines())
    with files.opened(stored.folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as descriptor:
        os.write(descriptor, lines.encode())


def remove(stored: StoredExperiment) -> None:
    """Remove an experiment and all that is stored of it.

    Raises StoreError where its folder contains a file that the store did not write, and then removes nothing.
    """
    if not stored.is_removable():
        raise StoreError(f"{stored.folder}: it contains files that are not the store's, and is left alone")
    for path in stored.folder.iterdir():
        path.unlink()
    stored.folder.rmdir()
