"""Measure the store: the cost of adding a block to a short and to a long list, and reading one column of many runs.

    python -m benchmarks.store

It writes to a temporary folder, a few hundred megabytes.
"""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from pomrl import store
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.loss_tables import SCHEMA
from pomrl.store import blocks, files

TASKS, GAMMAS = 15, 21


def table(runs: range) -> pd.DataFrame:
    """Return a table of these runs with random losses."""
    rng = np.random.default_rng(runs.start)
    drawn: dict[str, np.ndarray] = {name: np.repeat(rng.random(len(runs) * TASKS), GAMMAS) for name in SCHEMA}
    drawn["planning_loss"] = rng.random(len(runs) * TASKS * GAMMAS)
    drawn["run"] = np.repeat(runs, TASKS * GAMMAS)
    drawn["task"] = np.tile(np.repeat(np.arange(1, TASKS + 1), GAMMAS), len(runs))
    drawn["gamma"] = np.tile(np.linspace(0, 0.99, GAMMAS), len(runs) * TASKS)
    return pd.DataFrame({name: column.astype(SCHEMA[name]) for name, column in drawn.items()})


def filled(stored: store.StoredExperiment, count: int) -> None:
    """List blocks until there are `count`, without files for them."""
    have = len(stored.blocks())
    runs = [range(i * store.BLOCK, (i + 1) * store.BLOCK) for i in range(have, count)]
    blocks.append(stored.folder, [store.StoredBlock(each, 1, "0" * 64) for each in runs])


def adding(stored: store.StoredExperiment, listed: int) -> None:
    """Print the median cost of adding a block to a list of so many."""
    filled(stored, listed)
    held, whole, encoding, flushing = [], [], [], []
    with timed("locked", held), timed("flushed", flushing), timed_call(encoding):
        for i in range(listed, listed + 30):
            runs = range(i * store.BLOCK, (i + 1) * store.BLOCK)
            rows = table(runs)
            start = time.perf_counter()
            store.add_blocks(stored, [(runs, rows)])
            whole.append(time.perf_counter() - start)
    ms = [f"{1000 * statistics.median(each):8.3f}" for each in (whole, encoding, flushing, held)]
    print(f"block {listed:6d}: in all {ms[0]} ms; encoding {ms[1]}, flushing {ms[2]}, under the lock {ms[3]}")


@contextmanager
def timed(name: str, seconds: list[float]) -> Iterator[None]:
    """Note how long the body of a context manager of `files` lasts, or for `flushed` how long it takes to begin."""
    real = getattr(files, name)

    @contextmanager
    def measured(*arguments: object) -> Iterator[object]:
        start = time.perf_counter()
        with real(*arguments) as value:
            begun = time.perf_counter()
            yield value
            seconds.append(begun - start if name == "flushed" else time.perf_counter() - begun)

    with mock.patch.object(files, name, measured):
        yield


@contextmanager
def timed_call(seconds: list[float]) -> Iterator[None]:
    """Note how long the encoding of a block takes."""
    real = blocks.encode

    def measured(*arguments: object) -> bytes:
        start = time.perf_counter()
        content = real(*arguments)  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - start)
        return content

    with mock.patch.object(blocks, "encode", measured):
        yield


def reading(stored: store.StoredExperiment, runs: int) -> None:
    """Print how long the losses of so many runs take to load, and how much memory."""
    parts = [range(start, start + store.BLOCK) for start in range(0, runs, store.BLOCK)]
    with mock.patch.object(os, "fsync", return_value=None):
        for part in parts:
            store.add_blocks(stored, [(part, table(part))])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, start_of_work = time.perf_counter(), time.process_time()
    loss, _ = stored.losses(runs)
    seconds, work = time.perf_counter() - start, time.process_time() - start_of_work
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = f"peak of the process {peak / 2**10:.0f} MB, before {before / 2**10:.0f} MB"
    print(f"losses {loss.shape}: {seconds:.1f} s ({work:.1f} s of a processor), {memory}")


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"POMRL_OUTPUTS": folder}):
        short = store.open_experiment(sweeps.experiment(PUBLISHED, []))
        for listed in (1, 1000, 20_000):
            adding(short, listed)
        reading(store.open_experiment(sweeps.experiment(PUBLISHED, ["seed=1"])), 100_000)
        print(f"in {Path(folder).resolve().parent}")


if __name__ == "__main__":
    main()
