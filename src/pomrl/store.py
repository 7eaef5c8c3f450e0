"""Where runs are kept: one folder for each experiment, named by its signature, with blocks of runs as Parquet files.

    outputs/runs/<signature>/config.yaml  runs-000000-000049.parquet ...  manifest.json  run.log

The manifest says what is complete, with a digest of each block; nothing else is trusted. Files are written under
another name, flushed and renamed, first a block and then the manifest, so that a process that is killed loses at most
the block in hand. A lock file guards the folder against two processes that write at once.
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from pomrl.config import Experiment, components, flat, settings
from pomrl.derived import derived
from pomrl.experiment import SCHEMA
from pomrl.gamma_schedules import Hindsight
from pomrl.hindsight import in_hindsight
from pomrl.provenance import code_digest, provenance

BLOCK = 50
"""Runs in a block."""

SCHEMA_VERSION = 1
"""Version of the tables and of the manifest; part of the signature."""


class StoreError(Exception):
    """What is stored cannot be used as asked; one line."""


def root() -> Path:
    """The folder of all runs: `outputs/runs`, or `runs` in the folder that the environment names in POMRL_OUTPUTS."""
    return Path(os.environ.get("POMRL_OUTPUTS", "outputs")) / "runs"


def signature(experiment: Experiment) -> str:
    """12 hex digits that name an experiment: its scientific configuration, the schema and the code it runs through."""
    return _signature(settings(experiment))


def _signature(described: Mapping[str, Any]) -> str:
    identity = {"settings": described, "schema": SCHEMA_VERSION, "code": code_digest(components(described))}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class StoredBlock:
    """A block that the manifest lists."""

    name: str
    runs: range
    sha256: str


@dataclass(frozen=True)
class Run:
    """The folder of one experiment, as it is on disk. Reading never changes it."""

    folder: Path

    @property
    def signature(self) -> str:
        return self.folder.name

    def manifest(self) -> dict[str, Any]:
        """What the manifest says; empty where there is none that can be read, or one of another version."""
        try:
            content = json.loads((self.folder / "manifest.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return content if isinstance(content, dict) and content.get("schema") == SCHEMA_VERSION else {}

    def is_closed(self) -> bool:
        """Whether its computation came to its end, and all beside the blocks is in place."""
        return self.manifest().get("status") == "complete" and (self.folder / "config.yaml").exists()

    def settings(self) -> dict[str, Any]:
        """The resolved configuration, as data; empty where its file is missing."""
        if not (self.folder / "config.yaml").exists():
            return {}
        return dict(OmegaConf.to_container(OmegaConf.load(self.folder / "config.yaml")))  # type: ignore[arg-type]

    def flat_settings(self) -> dict[str, Any]:
        """The settings with dotted keys, and the names of the options that were chosen."""
        return flat(self.settings(), self.manifest().get("options", {}))

    def outdated(self) -> str:
        """Why nothing finds this run any more; empty where the present code would, or where its code is elsewhere."""
        if not self.manifest():
            return "its manifest cannot be read, or is of another version"
        try:
            return "" if _signature(self.settings()) == self.signature else "the code has changed since"
        except ImportError:
            return ""

    def blocks(self) -> list[StoredBlock]:
        """The complete blocks, in order of their runs."""
        listed = self.manifest().get("blocks", {})
        blocks = [StoredBlock(name, range(*entry["runs"]), entry["sha256"]) for name, entry in listed.items()]
        return sorted(blocks, key=lambda block: block.runs.start)

    def sound_blocks(self) -> tuple[list[StoredBlock], list[str]]:
        """The blocks whose content is what was written, and a line for each that is not."""
        begun, listed = any(self.folder.glob("*.parquet")), self.blocks()
        faults = {block: fault for block in listed if (fault := self.fault(block))}
        if faults and self.blocks() != listed:  # another process has completed a block meanwhile
            return self.sound_blocks()
        lines = [f"{self.folder / block.name}: {fault}; it is computed again" for block, fault in faults.items()]
        if begun and not self.manifest():
            lines.insert(0, f"{self.folder / 'manifest.json'}: none of this version; its runs are computed again")
        return [block for block in listed if block not in faults], lines

    def fault(self, block: StoredBlock) -> str:
        """What is wrong with a block's file; empty where it is what was written."""
        try:
            self._content(block)
        except StoreError as error:
            return str(error)
        return ""

    def _content(self, block: StoredBlock) -> bytes:
        try:
            content = (self.folder / block.name).read_bytes()
        except FileNotFoundError as error:
            raise StoreError("the file is missing") from error
        if _sha256(content) != block.sha256:
            raise StoreError("its digest is not the one in the manifest")
        return content

    def complete(self) -> int:
        """How many runs are stored, counted from run 0."""
        return _contiguous(self.blocks())

    def table(self, runs: int | None = None) -> pd.DataFrame:
        """The table of the first `runs` runs, or of all. StoreError where runs are missing or a block is damaged."""
        listed = self.blocks()
        try:
            return self._table(listed, runs)
        except StoreError:
            if self.blocks() == listed:
                raise
            return self.table(runs)  # another process has completed a block meanwhile

    def _table(self, listed: Sequence[StoredBlock], runs: int | None) -> pd.DataFrame:
        complete = _contiguous(listed)
        wanted = complete if runs is None else runs
        if complete < wanted or wanted == 0:
            raise StoreError(f"{self.folder}: {complete} of {wanted} runs are stored")
        parts = [self._rows(block) for block in listed if block.runs.start < wanted]
        table = pd.concat(parts, ignore_index=True)
        return table.loc[table["run"] < wanted]

    def _rows(self, block: StoredBlock) -> pd.DataFrame:
        try:
            return pd.read_parquet(BytesIO(self._content(block)))
        except StoreError as error:
            raise StoreError(f"{self.folder / block.name}: {error}; it is computed again") from error


def _contiguous(blocks: Sequence[StoredBlock]) -> int:
    """How many runs these blocks hold without a gap, counted from run 0; each but the last has to be whole."""
    stop = 0
    for block in blocks:
        if block.runs.start != stop:
            break
        stop = block.runs.stop
    return stop


def run_of(experiment: Experiment) -> Run:
    """Where the experiment is, or would be, stored."""
    return Run(root() / signature(experiment))


def missing(run: Run, runs: int) -> tuple[list[range], list[str]]:
    """What has to be computed to have the first `runs` runs: parts of aligned blocks; and a line for each bad block."""
    sound, faults = run.sound_blocks()
    stop = {block.runs.start: block.runs.stop for block in sound}
    parts = [range(stop.get(part.start, part.start), part.stop) for part in aligned(range(runs))]
    return [part for part in parts if part], faults


def aligned(runs: range) -> list[range]:
    """The runs, from 0, in the parts that are stored together."""
    return [runs[start : start + BLOCK] for start in range(0, len(runs), BLOCK)]


def open_run(experiment: Experiment, force: bool) -> Run:
    """Make the experiment's folder ready for writing.

    StoreError where it was begun under another version of NumPy, whose numbers may differ; with `force` it is emptied.
    """
    run = run_of(experiment)
    run.folder.mkdir(parents=True, exist_ok=True)
    with _locked(run.folder):
        manifest = run.manifest()
        began_with = manifest.get("numpy", np.__version__)
        if began_with != np.__version__ and force:
            manifest = {}
        _sweep_away(run.folder, manifest.get("blocks", {}))
        if began_with != np.__version__ and not force:
            raise StoreError(
                f"{run.folder}: its runs were computed with NumPy {began_with}, this is {np.__version__}; "
                "force=true computes them again"
            )
        _write(run.folder / "config.yaml", OmegaConf.to_yaml(OmegaConf.create(settings(experiment))).encode())
        if not manifest:
            manifest = {
                "schema": SCHEMA_VERSION,
                "signature": run.signature,
                "numpy": np.__version__,
                "options": _options_computed(experiment),
                "derived": derived(experiment.problem, experiment.method),
                "blocks": {},
            }
        manifest |= {"status": "incomplete", "provenance": provenance()}
        _write_manifest(run.folder, manifest)
    return run


def _options_computed(experiment: Experiment) -> dict[str, str]:
    """The names of the options; a hindsight schedule goes by that of the grid that is stored for it."""
    options = dict(experiment.options)
    schedule = experiment.method.gamma_schedule
    if schedule.computed() is not schedule:
        options["gamma_schedule"] = "grid"
    return options


def _sweep_away(folder: Path, listed: Mapping[str, Any]) -> None:
    """Remove what a process that was killed left behind. Nobody else is writing, because the folder is locked."""
    for path in [*folder.glob(".*.tmp"), *folder.glob("*.parquet")]:
        if path.name not in listed:
            path.unlink(missing_ok=True)


def add(run: Run, runs: range, table: pd.DataFrame, replace: bool = False) -> None:
    """Store a part of a block, joined with the part that is stored already, or in its place; never fewer runs."""
    with _locked(run.folder):
        start = runs.start // BLOCK * BLOCK
        listed = next((block for block in run.blocks() if block.runs.start == start), None)
        stored = listed if listed and not run.fault(listed) and not replace else None
        stop = stored.runs.stop if stored else start
        if runs.stop <= stop or (replace and listed and runs.stop < listed.runs.stop):
            return
        if runs.start > stop:
            raise StoreError(f"{run.folder}: runs {stop} to {runs.start - 1} have to be stored before {runs.start}")
        parts = [pd.read_parquet(run.folder / stored.name)] if stored else []
        content = _parquet(pd.concat([*parts, table.loc[table["run"] >= stop]], ignore_index=True))
        name = f"runs-{start:06d}-{runs.stop - 1:06d}.parquet"
        _write(run.folder / name, content)
        manifest = run.manifest()
        if listed:
            manifest["blocks"].pop(listed.name)
        manifest["blocks"][name] = {"runs": [start, runs.stop], "sha256": _sha256(content)}
        _write_manifest(run.folder, manifest)
        if listed and listed.name != name:
            (run.folder / listed.name).unlink(missing_ok=True)


def close_run(run: Run, status: str, wall_seconds: float) -> None:
    """Note in the manifest how the computation ended: `complete`, or `failed`."""
    with _locked(run.folder):
        manifest = run.manifest()
        manifest["status"] = status
        manifest["provenance"] |= {"end": pd.Timestamp.now("UTC").isoformat(), "wall_seconds": round(wall_seconds, 3)}
        _write_manifest(run.folder, manifest)


def log(run: Run, text: str) -> None:
    """Add lines to the run's log."""
    stamp = pd.Timestamp.now("UTC").isoformat(timespec="seconds")
    with (run.folder / "run.log").open("a") as file:
        file.writelines(f"{stamp} {line}\n" for line in text.splitlines())


def load(which: str | Experiment, runs: int | None = None) -> pd.DataFrame:
    """The table of an experiment, given as such or by the start of its signature.

    A hindsight schedule gives one row for each run and task, with the discount factor it chooses over these runs.
    StoreError where it is not stored, or not with so many runs.
    """
    if isinstance(which, str):
        return by_signature(which).table(runs)
    table = run_of(which).table(runs)
    schedule = which.method.gamma_schedule
    return in_hindsight(table, schedule) if isinstance(schedule, Hindsight) else table


def find(**wanted: Any) -> list[Run]:
    """The stored runs with these settings: keys such as sigma=0.01, estimator="pomrl", **{"estimator.prior": ...}.

    StoreError for a key that no stored run has.
    """
    runs = [run for run in everything() if run.manifest()]
    known = {key for run in runs for key in run.flat_settings()}
    for key in wanted:
        if runs and key not in known:
            raise StoreError(f"{key}: no stored run has this key; there are {', '.join(sorted(known))}")
    return [run for run in runs if _agrees(run, wanted)]


def everything() -> list[Run]:
    """All folders of runs, whether they can be used or not."""
    return [Run(path) for path in sorted(root().glob("*")) if path.is_dir()]


def remove(run: Run) -> None:
    """Remove a run and all that is stored of it."""
    shutil.rmtree(run.folder)


def _agrees(run: Run, wanted: Mapping[str, Any]) -> bool:
    options = run.manifest().get("options", {})
    found = OmegaConf.create(run.settings())
    return all(
        (options if key in options else {key: OmegaConf.select(found, key)})[key] == wanted[key] for key in wanted
    )


def by_signature(start: str) -> Run:
    """The one stored run whose signature starts so. StoreError where there is none, or several."""
    matches: Sequence[Path] = sorted(root().glob(f"{start}*/manifest.json"))
    if len(matches) != 1:
        raise StoreError(f"{start}: {len(matches)} stored runs have a signature that starts so")
    return Run(matches[0].parent)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    _write(folder / "manifest.json", (json.dumps(manifest, indent=2) + "\n").encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{platform.node()}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _parquet(table: pd.DataFrame) -> bytes:
    buffer = BytesIO()
    table.astype(SCHEMA).to_parquet(buffer, index=False, compression="zstd")
    return buffer.getvalue()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
