"""Measure how many workers one driver, one scheduler of Dask and one stored experiment keep busy: at most a minute.

    python -m benchmarks.cluster

The scheduler is real, and so is the store; the workers pretend: each dispatch sleeps for a second in the place of
computing, and then stores its blocks in one experiment that all workers share. So that one machine can be 256 workers,
they are threads of few processes, and the tables are small: encoding a table costs a worker of its own nothing else.
"""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from unittest import mock

import psutil
from tests.support.cluster import cluster

from benchmarks.store import table, timed, timed_call
from pomrl import store
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.execution import Work
from pomrl.execution.dask import Dask
from pomrl.running.dispatches import MOST_BLOCKS

ROOT = Path(__file__).parents[1]

WORKERS = (64, 256)
PROCESSES = 2
ROUNDS = 5
"""The number of dispatches that each worker gets."""


@dataclass(frozen=True)
class Pretended:
    """A dispatch that takes a second, and whose blocks are stored."""

    stored: store.StoredExperiment
    first: int
    blocks: int


def pretend(dispatch: Pretended) -> tuple[float, float]:
    """Sleep for a second, store blocks, and return when this began and ended."""
    begun = time.monotonic()
    runs = [
        range(i * store.BLOCK, (i + 1) * store.BLOCK) for i in range(dispatch.first, dispatch.first + dispatch.blocks)
    ]
    small = table(range(1))
    time.sleep(max(0.0, 1.0 - (time.monotonic() - begun)))
    store.add_blocks(dispatch.stored, [(each, small) for each in runs])
    return begun, time.monotonic()


def measure(stored: store.StoredExperiment, workers: int, folder: Path) -> None:
    """Print the share of their time that so many workers compute, and the work that a dispatch is for those they share.

    The time of a processor, unlike the share, hardly depends on what else the machine does.
    """
    have = len(stored.blocks())
    todo = [Work(Pretended(stored, have + i, 1), 1.0) for i in range(workers * ROUNDS)]
    threads = f"--nthreads={workers // PROCESSES}"
    with cluster(folder / f"{workers}", ROOT, workers=PROCESSES, options=(threads, "--no-nanny")) as started:
        scheduler = psutil.Process(started.scheduler.pid)
        engine = Dask(address=started.address, shared_outputs=True)
        warm = [Work(Pretended(stored, 0, 0), 1.0)] * workers
        list(engine.map_unordered(pretend, warm))
        before, before_here = sum(scheduler.cpu_times()[:2]), time.process_time()
        times = [span for _, span in engine.map_unordered(pretend, todo) if isinstance(span, tuple)]
        of_scheduler, here = sum(scheduler.cpu_times()[:2]) - before, time.process_time() - before_here
    share = ROUNDS / (max(end for _, end in times) - min(begin for begin, _ in times))
    print(
        f"{workers} workers compute {100 * share:.0f} % of the time; a dispatch takes the scheduler "
        f"{1e3 * of_scheduler / len(todo):.2f} ms of a processor, and this process {1e3 * here / len(todo):.2f} ms",
        flush=True,
    )


def locking(stored: store.StoredExperiment) -> None:
    """Print what storing the largest dispatch of usual blocks costs a worker, and how long it holds the lock."""
    held: list[float] = []
    encoding: list[float] = []
    whole: list[float] = []
    for dispatch in range(20):
        first = (len(stored.blocks()) + dispatch) * store.BLOCK
        runs = [range(first + i * store.BLOCK, first + (i + 1) * store.BLOCK) for i in range(MOST_BLOCKS)]
        tables = [(each, table(each)) for each in runs]
        with timed("locked", held), timed_call(encoding):
            start = time.perf_counter()
            store.add_blocks(stored, tables)
            whole.append(time.perf_counter() - start)
    print(
        f"a dispatch of {MOST_BLOCKS} usual blocks is stored in {1e3 * median(whole):.0f} ms, of which encoding takes "
        f"{1e3 * MOST_BLOCKS * median(encoding):.0f} ms; it holds the lock for {1e3 * median(held):.2f} ms"
    )


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, {"POMRL_OUTPUTS": name}):
        locking(store.open_experiment(sweeps.experiment(PUBLISHED, [])))
        stored = store.open_experiment(sweeps.experiment(PUBLISHED, ["seed=1"]))
        for workers in WORKERS:
            measure(stored, workers, Path(name))


if __name__ == "__main__":
    from benchmarks import cluster as importable  # because workers cannot import the functions of `__main__`

    importable.main()
