"""A stored experiment: what its folder holds, and its tables. Nothing is written here."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from pomrl.science.loss_tables import MEASURED, SCHEMA
from pomrl.store import block_files, manifests
from pomrl.store.block_files import StoredBlock
from pomrl.store.layout import StoreError
from pomrl.store.manifests import Manifest


@dataclass(frozen=True)
class StoredExperiment:
    """The folder of one experiment, which may be incomplete, damaged, or not exist yet."""

    folder: Path

    @property
    def signature(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def read_manifest(self) -> Manifest:
        """Return what is stored of it besides runs; StoreError if that is missing or damaged."""
        return manifests.read(self.folder)

    def manifest(self) -> Manifest | None:
        """Return what is stored of it besides runs, if that can be used."""
        try:
            return self.read_manifest()
        except StoreError:
            return None

    def flat_settings(self) -> dict[str, Any]:
        """Return its settings by dotted keys, and the name of each group's option."""
        return self.read_manifest().flat_settings()

    def files(self) -> list[StoredBlock]:
        """Return what the names of its files say, in the order of their runs."""
        try:
            names = os.listdir(self.folder)  # noqa: PTH208 (a third of the time)
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = [block for name in names if (block := block_files.parse_name(name))]
        return sorted(found, key=lambda block: (block.runs.start, block.runs.stop, block.sha256))

    def paths(self) -> list[Path]:
        """Return the paths of all files that the store wrote into its folder."""
        names = [*(block.name for block in self.files()), manifests.DESCRIPTION, "run.log"]
        return [self.folder / name for name in names]

    def blocks(self) -> list[StoredBlock]:
        """Return its blocks in the order of their runs; of several that begin with the same run, the longest."""
        return list({block.runs.start: block for block in self.files()}.values())

    def complete(self) -> int:
        """Return how many runs are stored without a gap, from run 0 on."""
        stop = 0
        for block in self.blocks():
            stop = block.runs.stop if block.runs.start == stop else stop
        return stop

    def faults(self) -> list[str]:
        """Return a line for each file that is not what was written."""
        faults = [fault for block in self.blocks() if (fault := self.fault_of(block))]
        try:
            manifests.check(self.folder / manifests.DESCRIPTION, self.read_manifest())
        except StoreError as error:
            faults.insert(0, str(error))
        return faults

    def fault_of(self, block: StoredBlock) -> str | None:
        """Return why a block cannot be used; None if it can, or if a longer one has taken its place meanwhile."""
        try:
            block_files.columns(self.folder, block, ["run"])
        except StoreError as error:
            return str(error) if block in self.files() else None
        return None

    def table(self, runs: int | None = None) -> "pd.DataFrame":
        """Return the table of the first `runs` runs, or of all; StoreError if runs are missing or damaged."""
        wanted = self._count_wanted(runs)
        return pd.DataFrame(self.columns(self.names(), wanted), copy=False)

    def parts(self, names: Sequence[str], runs: int) -> Iterator[dict[str, Float[np.ndarray, "n T G"]]]:
        """Yield columns of the table of the first `runs` runs, as arrays over runs, tasks and discount factors.

        Each part has whole runs; StoreError if runs are missing or damaged.
        """
        T = self.read_manifest().settings["T"]
        for n, part in self._parts(names, runs):
            yield {name: column.reshape(n, T, -1) for name, column in part.items()}

    def columns(self, names: Sequence[str], runs: int | None = None) -> dict[str, np.ndarray]:
        """Return columns of the table of the first `runs` runs, or of all; memory is that of the columns."""
        wanted = self._count_wanted(runs)
        return _join(wanted, self._parts(names, wanted))

    def losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the planning losses, or the metric, over runs, tasks and discount factors, and the latter."""
        wanted, name = self._count_wanted(runs), self._loss
        gammas, T = self._gammas(), self.read_manifest().settings["T"]
        return self.columns([name], wanted)[name].reshape(-1, T, len(gammas)), gammas

    def mean_losses(self, runs: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the losses at the largest discount factor, those averaged over tasks, and the discount factors.

        They are of `losses`, which are never in memory as a whole.
        """
        wanted, name = self._count_wanted(runs), self._loss
        losses = (part[name] for part in self.parts([name], wanted))
        means = _join(wanted, ((len(x), {"last": x[..., -1], "mean": x.mean(1)}) for x in losses))
        return means["last"], means["mean"], self._gammas()

    def _gammas(self) -> np.ndarray:
        """Return the discount factors of the first task of the first run."""
        return next(self.parts(["gamma"], 1))["gamma"][0, 0]

    @property
    def _loss(self) -> str:
        return MEASURED if MEASURED in self.names() else "planning_loss"

    def names(self) -> list[str]:
        """Return the names of the columns of its table."""
        return [*SCHEMA, *([MEASURED] if "metric" in self.read_manifest().settings else [])]

    def _count_wanted(self, runs: int | None) -> int:
        complete = self.complete()
        wanted = complete if runs is None else runs
        if complete < wanted or wanted <= 0:
            raise StoreError(f"{self.folder}: {complete} of {max(wanted, 1)} runs are stored")
        return wanted

    def _parts(self, names: Sequence[str], wanted: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield columns of the table of the first `wanted` runs, block by block, each with its number of runs."""
        start = 0
        while start < wanted:
            # Looked up each time, because another process may have put a longer block in the place of a part of one.
            block = next((block for block in self.blocks() if start in block.runs), None)
            if block is None:
                raise StoreError(f"{self.folder}: runs were removed while they were read")
            try:
                columns = block_files.columns(self.folder, block, names)
            except StoreError:
                if block in self.files():
                    raise
                continue
            rows = len(columns[names[0]]) // len(block.runs)
            first, stop = start - block.runs.start, min(block.runs.stop, wanted) - block.runs.start
            yield stop - first, {name: column[first * rows : stop * rows] for name, column in columns.items()}
            start = block.runs.stop


def _join(runs: int, parts: Iterable[tuple[int, dict[str, np.ndarray]]]) -> dict[str, np.ndarray]:
    """Return arrays of so many runs joined along their first axis, with the joined arrays alone in memory."""
    joined: dict[str, np.ndarray] = {}
    filled = 0
    for of_part, part in parts:
        for name, column in part.items():
            if name not in joined:
                joined[name] = np.empty((len(column) // of_part * runs, *column.shape[1:]), column.dtype)
            rows = len(joined[name]) // runs
            joined[name][filled * rows : (filled + of_part) * rows] = column
        filled += of_part
    return joined
