"""Measure what engines cost and how far they scale: python -m benchmarks.scaling, two minutes on two cores.

It measures the efficiency of two workers, the time that an engine adds to a block, and the time to store one, and
predicts from these the time of a sweep of a million runs on more workers than there are here.
"""

import os

for library in ("OPENBLAS", "MKL", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before these libraries are loaded

import pickle  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import dataclass, replace  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from tests.support.cluster import cluster  # noqa: E402

from pomrl import store  # noqa: E402
from pomrl.configuration.sources import Sources  # noqa: E402
from pomrl.configuration.sweeps import experiment  # noqa: E402
from pomrl.execution import Execution, Local  # noqa: E402
from pomrl.execution.dask import Dask  # noqa: E402
from pomrl.running.blocks import Block, MethodOfBlock, compute, store_tables  # noqa: E402
from pomrl.store import StoredExperiment  # noqa: E402

ROOT = Path(__file__).parents[1]
PUBLISHED = Sources(ROOT / "conf")

USED = [(name, workers) for name in ("local", "dask") for workers in (1, 2)]
"""The engines, and the numbers of workers, of which is measured how well they are used."""

RUNS = 1_000_000
WORKERS = (1, 16, 256)
ROUNDS = 3

BLOCKS = {
    "small: S=10, T=15, one gamma": ["gamma_schedule=fixed"],
    "usual: S=10, T=15, 21 gammas": [],
    "large: S=30, T=30, 21 gammas": ["S=30", "T=30"],
}
"""The overrides that describe each kind of block, of 50 runs of one method."""


@contextmanager
def engine(name: str, workers: int) -> Iterator[Local | Dask]:
    """Provide an engine with so many workers."""
    if name == "local":
        yield Local(workers=workers)
        return
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder) / "dask", ROOT, workers=workers) as started:
        yield Dask(address=started.address, shared_outputs=True)


@dataclass(frozen=True)
class Costs:
    """What a block costs, in seconds and bytes."""

    computing: float
    storing: float
    reading: float
    """Unpacking what a worker sends when outputs are not shared."""
    bytes_stored: int
    bytes_sent: int


def nothing(_: int) -> None:
    """Work that takes no time."""


def main() -> None:
    """Run the command."""
    with engine("dask", 2) as dask:
        engines: dict[str, Execution] = {"local": Local(workers=2), "dask": dask}
        added = print_engines(engines)
    costs = {name: costs_of(overrides) for name, overrides in BLOCKS.items()}
    print_blocks(costs)
    print_predictions(costs, added["dask"])


def print_engines(engines: dict[str, Execution]) -> dict[str, float]:
    """Print what each engine costs; return the seconds that it adds to a block."""
    added = {}
    print_row("engine", "starts and ends in", "adds to a block")
    print_row(*["---"] * 3)
    for name, each in engines.items():
        start, added[name] = overhead(each)
        print_row(name, f"{start:.1f} s", f"{1e3 * added[name]:.1f} ms")
    return added


def print_blocks(costs: dict[str, Costs]) -> None:
    """Print what blocks cost, and how well engines use their workers."""
    print_row(
        "block", "computing", "storing", "reading", "stored", "sent", *(f"{of}, {workers}" for of, workers in USED)
    )
    print_row(*["---"] * (6 + len(USED)))
    for name, of_block in costs.items():
        times = [f"{1e3 * seconds:.0f} ms" for seconds in (of_block.computing, of_block.storing, of_block.reading)]
        sizes = [f"{size / 1e3:.0f} kB" for size in (of_block.bytes_stored, of_block.bytes_sent)]
        blocks = max(8, int(3 / of_block.computing))
        used = [f"{efficiency(BLOCKS[name], blocks, *each):.2f}" for each in USED]
        print_row(name, *times, *sizes, *used)


def print_predictions(costs: dict[str, Costs], dispatching: float) -> None:
    """Print how long a million runs take with Dask."""
    print_row("block", "workers", "workers store", "of it dispatching", "the driver stores")
    print_row(*["---"] * 5)
    for name, of_block in costs.items():
        for workers in WORKERS:
            print_row(name, str(workers), *predicted(of_block, workers, dispatching))


def print_row(*cells: str) -> None:
    """Print a row of a table in Markdown."""
    print(f"| {' | '.join(cells)} |", flush=True)


def overhead(engine: Execution, few: int = 2, many: int = 402) -> tuple[float, float]:
    """Return the seconds to start and end an engine, and those that it adds to each item."""
    cold, warm, times = (timed(engine, items) for items in (few, few, many))
    return cold, (times - warm) / (many - few)


def timed(engine: Execution, items: int) -> float:
    """Return the seconds that an engine takes for items which do nothing."""
    start = time.perf_counter()
    assert len(list(engine.map_unordered(nothing, range(items), 1e6))) == items
    return time.perf_counter() - start


def block_of(overrides: list[str], first: int = 0) -> Block:
    """The 50 runs from `first` on of one method, which are computed and stored nowhere."""
    requested = experiment(PUBLISHED, overrides)
    method = MethodOfBlock(requested.method, StoredExperiment(Path("nowhere")))
    return Block(requested.problem, range(first, first + store.BLOCK), (method,))


def costs_of(overrides: list[str]) -> Costs:
    """Measure a kind of block; times are the smallest of `ROUNDS`."""
    block = block_of(overrides)
    (result,) = compute(block)
    sent = pickle.dumps([result])
    with outputs() as folder:
        stored_experiment = store.open_experiment(experiment(PUBLISHED, overrides))
        to_store = replace(block, methods=(replace(block.methods[0], stored=stored_experiment),))
        storing = least(partial(store_tables, to_store, [result]))
        stored = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    return Costs(least(partial(compute, block)), storing, least(partial(pickle.loads, sent)), stored, len(sent))


def efficiency(overrides: list[str], blocks: int, name: str, workers: int) -> float:
    """Return the share of its workers' time that an engine uses, relative to one process without an engine."""
    todo = [block_of(overrides, store.BLOCK * index) for index in range(blocks)]
    alone = least(lambda: [compute(block) for block in todo])
    with engine(name, workers) as started:
        results = started.map_unordered(compute, (*todo[:2], *todo), 1e6)
        for _ in range(2):
            next(results)  # the processes have started
        start = time.perf_counter()
        assert len(list(results)) == blocks
        return alone / (time.perf_counter() - start) / workers


def predicted(costs: Costs, workers: int, dispatching: float) -> list[str]:
    """Predict minutes with Dask: when workers store, for dispatching alone, and when this process stores."""
    blocks = RUNS / store.BLOCK
    workers_store = max(blocks * (costs.computing + costs.storing) / workers, blocks * dispatching)
    driver_stores = max(blocks * costs.computing / workers, blocks * (dispatching + costs.reading + costs.storing))
    return [f"{seconds / 60:.1f} min" for seconds in (workers_store, blocks * dispatching, driver_stores)]


def least(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of `ROUNDS`."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@contextmanager
def outputs() -> Iterator[Path]:
    """Provide a temporary folder of outputs."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["POMRL_OUTPUTS"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["POMRL_OUTPUTS"]


if __name__ == "__main__":
    sys.exit(main())
