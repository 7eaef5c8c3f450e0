"""Read a stored experiment: its files, faults and tables."""

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float

from pomrl.outputs import check_link
from pomrl.science.stored_columns import MEASURED, SCHEMA
from pomrl.store import block_files, files, manifests
from pomrl.store.block_files import Shape, StoredBlock
from pomrl.store.files import StoreError, StoreWarning, UnreadableError
from pomrl.store.manifests import Manifest

if TYPE_CHECKING:  # slow to import
    import pandas as pd

LOG, COMPLETE = "run.log", ".complete"

MAX_ATTEMPTS = 3
"""The number of attempts to list consistent files while another process replaces them."""

MAX_GAMMAS = 10_000
"""The exclusive upper limit on the number of discount factors per task in a user's schedule."""

_COUNT = re.compile(rf"runs-(\d{{6,9}})\{COMPLETE}")

_LOGGED = re.compile(rb"^\S+ stored runs \d+ to (\d{1,9})$", re.MULTILINE)
"""The line in the log for a stored block."""


@dataclass(frozen=True)
class StoredExperiment:
    """The folder of an experiment; it may be missing, incomplete or damaged."""

    folder: Path

    @property
    def signature(self) -> str:
        return self.folder.name

    def read_manifest(self) -> Manifest:
        return manifests.read_manifest(self.folder)

    def manifest(self) -> Manifest | None:
        try:
            return self.read_manifest()
        except StoreError:
            return None

    def flat_settings(self) -> dict[str, Any]:
        return self.read_manifest().flat_settings()

    def names(self) -> list[str]:
        try:
            return os.listdir(self.folder)  # noqa: PTH208 (three times as fast)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def is_there(self) -> bool:
        """Return whether files of the store exist, or the folder is unreadable."""
        return self.folder_fault() is not None or any(map(is_ours, self.names()))

    def files(self) -> list[StoredBlock]:
        blocks = filter(None, map(block_files.parse_name, self.names()))
        return sorted(blocks, key=lambda block: (block.runs.start, block.runs.stop, block.sha256))

    def paths(self) -> list[Path]:
        return [self.folder / name for name in self.names() if is_ours(name)]

    def blocks(self) -> list[StoredBlock]:
        """List the longest block for each first run."""
        return list({block.runs.start: block for block in self.files()}.values())

    def contiguous(self) -> int:
        """Return the number of runs stored without a gap from run 0."""
        return _contiguous(self.blocks())

    def recorded_runs(self) -> int:
        """Return the number of runs recorded as complete."""
        return max(map(count_of, self.names()), default=0)

    def logged_runs(self) -> int:
        """Return the number of runs up to the last one in the log; UnreadableError if unreadable."""
        try:
            last_runs = _LOGGED.findall(files.content(self.folder / LOG))
        except OSError as error:
            raise UnreadableError(f"{self.folder / LOG}: {error.strerror}") from error
        return max((int(run) + 1 for run in last_runs), default=0)

    def complete(self) -> int:
        """Return the number of usable runs; 0 with a `StoreWarning` if faulty."""
        if fault := self.fault():
            warnings.warn(fault, StoreWarning, stacklevel=2)
            return 0
        return self.contiguous()

    def fault(self) -> str | None:
        """Return why the runs are unusable, or None, without reading blocks."""
        return self.folder_fault() or self._gap() or self._description_fault()

    def faults(self, names: Sequence[str] = (), faulty: Mapping[StoredBlock, str] | None = None) -> list[str]:
        """List faults of files and lost runs, one line each.

        `names` limits the checked columns, and leaves out losses known only from the log; `faulty` gives known faults
        of blocks.
        """
        if fault := self.folder_fault():
            return [fault]
        try:
            blocks = list((self.faulty_blocks(names) if faulty is None else faulty).values())
            gap = self._gap() if names else self._gap(self.logged_runs)
        except UnreadableError as error:
            blocks, gap = [str(error)], self._gap()
        labels = (manifests.label_fault(self.folder / name) for name in self.faulty_labels())
        return [*filter(None, [self._description_fault(), *blocks, *labels, gap])]

    def folder_fault(self) -> str | None:
        """Return why the folder cannot be read, or None."""
        try:
            if not self.names():
                check_link(self.folder)
        except StoreError as error:
            return str(error)
        except OSError as error:
            return f"{self.folder}: {error.strerror}"
        return None

    def _gap(self, count_logged: Callable[[], int] = lambda: 0) -> str | None:
        stored = last = recorded = logged = 0
        for _ in range(MAX_ATTEMPTS):  # another process may have replaced files meanwhile
            logged, recorded, blocks = count_logged(), self.recorded_runs(), self.blocks()
            stored, last = _contiguous(blocks), max((block.runs.stop for block in blocks), default=0)
            if stored == max(recorded, last, logged):
                return None
        # Name the file of the count if only this count shows the loss.
        path = self.folder / name_of_count(recorded) if recorded > last else self.folder
        path = self.folder / LOG if logged > max(recorded, last) else path
        counts = f"{stored} of {max(recorded, last, logged)} runs are stored without a gap"
        return f"{path}: {counts}; repeat the pomrl run of this experiment to compute the others"

    def _description_fault(self) -> str | None:
        try:
            if any(map(is_ours, self.names())):
                self.read_manifest()
        except StoreError as error:
            return str(error)
        return None

    def faulty_blocks(self, names: Sequence[str] = ()) -> dict[StoredBlock, str]:
        """Return the unusable blocks with reasons; `names` limits the checked columns."""
        return {block: fault for block in self.files() if (fault := self.block_fault(block, names))}

    def faulty_labels(self) -> list[str]:
        labels = (name for name in self.names() if name.startswith((manifests.NOTE, manifests.LOOKS)))
        return [name for name in labels if manifests.label_fault(self.folder / name)]

    def block_fault(self, block: StoredBlock, names: Sequence[str] = ()) -> str | None:
        """Return why a block is unusable; None if intact or replaced.

        UnreadableError: the system cannot read its file.
        """
        shape = self.shape()
        try:
            block_files.columns(self.folder, block, names or (shape.names if shape else ["run"]), shape)
        except UnreadableError:
            raise
        except StoreError as error:
            return str(error) if block in self.files() else None
        return None

    def unproven_blocks(self, versions: Mapping[str, str]) -> list[StoredBlock]:
        """List the usable blocks whose metadata do not name these package versions."""
        usable = [block for block in self.files() if not self.block_fault(block)]
        return [block for block in usable if block_files.versions(self.folder / block.name) != versions]

    def shape(self) -> Shape | None:
        if (manifest := self.manifest()) is None:
            return None
        settings, schedule = manifest.settings, manifest.settings["gamma_schedule"]
        gammas = schedule.get("gammas") or [0]
        grid = len(cast(list[Any], gammas)) if isinstance(gammas, list) else 1
        is_shipped = str(schedule.get("_target_")).startswith("pomrl.science.")
        gammas = {grid} if "agent" not in settings else {1, grid}  # an agent may choose a single one
        gammas = gammas if is_shipped else range(1, MAX_GAMMAS)
        return Shape(settings["T"], gammas, self.column_names(), manifest.versions)

    def tags(self) -> list[str]:
        return self._labels(manifests.TAG)

    def notes(self) -> list[str]:
        return self._labels(manifests.NOTE)

    def look(self, group: str, option: Any) -> Mapping[str, Any] | None:
        """Return the style of an unpublished option in figures, or None."""
        looks = self._labels(manifests.LOOKS)
        is_same = self.read_manifest().options.get(group) == option
        return json.loads(looks[-1]).get(group) if looks and is_same else None

    def _labels(self, kind: str) -> list[str]:
        return manifests.read_labels(self.folder, self.names(), kind)

    def table(self, runs: int | None = None) -> "pd.DataFrame":
        """Load the table of the first runs; StoreError if some are missing."""
        import pandas as pd

        n_runs = self._check_count(runs)
        return pd.DataFrame(self.columns(self.column_names(), n_runs), copy=False)

    def iterate_columns(self, names: Sequence[str], runs: int) -> Iterator[dict[str, Float[np.ndarray, "n T G"]]]:
        """Yield columns of the first runs by block; StoreError if missing."""
        T = self.read_manifest().settings["T"]
        for n, block in self._iterate(names, runs):
            yield {name: column.reshape(n, T, -1) for name, column in block.items()}

    def columns(self, names: Sequence[str], runs: int | None = None) -> dict[str, np.ndarray]:
        n_runs = self._check_count(runs)
        return _join(n_runs, self._iterate(names, n_runs))

    def losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Load losses, or the metric, of shape (runs, T, G), and discount factors."""
        n_runs, name = self._check_count(runs), self._loss
        gammas, T = self._gammas(), self.read_manifest().settings["T"]
        return self.columns([name], n_runs)[name].reshape(-1, T, len(gammas)), gammas

    def mean_losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Load losses at the last discount factor, means over tasks, and discount factors.

        Their shapes are (runs, T), (runs, G) and (G,).
        """
        n_runs, name = self._check_count(runs), self._loss
        losses = (block[name] for block in self.iterate_columns([name], n_runs))
        means = _join(n_runs, ((len(x), {"last": x[..., -1], "mean": x.mean(1)}) for x in losses))
        return means["last"], means["mean"], self._gammas()

    def _gammas(self) -> np.ndarray:
        return next(self.iterate_columns(["gamma"], 1))["gamma"][0, 0]

    @property
    def _loss(self) -> str:
        return MEASURED if MEASURED in self.column_names() else "planning_loss"

    def column_names(self) -> list[str]:
        return [*SCHEMA, *([MEASURED] if "metric" in self.read_manifest().settings else [])]

    def _check_count(self, runs: int | None) -> int:
        if fault := self.fault():
            raise StoreError(fault)
        n_complete = self.contiguous()
        n_runs = n_complete if runs is None else runs
        if n_complete < n_runs or n_runs <= 0:
            if runs is not None and runs <= 0:
                raise StoreError(f"{self.folder}: the number of runs must be at least 1, got {runs}")
            raise StoreError(f"{self.folder}: {n_complete} of {max(n_runs, 1)} runs are stored")
        return n_runs

    def _iterate(self, names: Sequence[str], n_runs: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        start, shape, blocks = 0, self.shape(), self.blocks()
        while start < n_runs:
            block = next((block for block in blocks if start in block.runs), None)
            if block is None:
                raise StoreError(f"{self.folder}: another process removed runs while they were read; read them again")
            try:
                columns = block_files.columns(self.folder, block, names, shape)
            except StoreError:
                if block in self.files():
                    raise
                blocks = self.blocks()  # another process may have replaced the block by a longer one
                continue
            rows = len(columns[names[0]]) // len(block.runs)
            first, stop = start - block.runs.start, min(block.runs.stop, n_runs) - block.runs.start
            yield stop - first, {name: column[first * rows : stop * rows] for name, column in columns.items()}
            start = block.runs.stop


def is_ours(name: str) -> bool:
    """Return whether a file name belongs to the store."""
    is_label = name.startswith((manifests.NOTE, manifests.LOOKS)) or manifests.tag_of(name) is not None
    is_block = block_files.parse_name(name) is not None
    return is_label or is_block or name in (manifests.DESCRIPTION, LOG) or count_of(name) > 0


def name_of_count(runs: int) -> str:
    """Return the file name for a number of complete runs."""
    return f"runs-{runs:06d}{COMPLETE}"


def count_of(name: str) -> int:
    """Return the number of complete runs in a file name; 0 for other names."""
    return int(match[1]) if (match := _COUNT.fullmatch(name)) else 0


def _contiguous(blocks: Iterable[StoredBlock]) -> int:
    stop = 0
    for block in blocks:
        stop = block.runs.stop if block.runs.start == stop else stop
    return stop


def _join(runs: int, blocks: Iterable[tuple[int, dict[str, np.ndarray]]]) -> dict[str, np.ndarray]:
    """Concatenate arrays of `runs` runs without a second copy in memory."""
    joined: dict[str, np.ndarray] = {}
    n_filled = 0
    for n, block in blocks:
        for name, column in block.items():
            if name not in joined:
                joined[name] = np.empty((len(column) // n * runs, *column.shape[1:]), column.dtype)
            rows = len(joined[name]) // runs
            joined[name][n_filled * rows : (n_filled + n) * rows] = column
        n_filled += n
    return joined
