"""What engines cost and how far they scale: python -m benchmarks.scaling, two minutes on two cores.

Measured are the efficiency of two workers, what an engine adds to a block, and what storing costs; from these follow
the times of a sweep of a million runs on more workers than there are here.
"""

import os

for library in ("OPENBLAS", "MKL", "OMP", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before these libraries are loaded

import pickle  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from contextlib import contextmanager  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

from pomrl import store, sweep  # noqa: E402
from pomrl.blocks import Block, compute  # noqa: E402
from pomrl.conf import Conf  # noqa: E402
from pomrl.execution import Execution, Local  # noqa: E402
from pomrl.execution.dask import Dask  # noqa: E402
from pomrl.published import experiment  # noqa: E402

CONF = Conf(Path(__file__).parents[1] / "conf")

RUNS = 1_000_000
WORKERS = (1, 16, 256)
ROUNDS = 3

BLOCKS = {
    "small: S=10, T=15, one gamma": ["gamma_schedule=fixed"],
    "usual: S=10, T=15, 21 gammas": [],
    "large: S=30, T=30, 21 gammas": ["S=30", "T=30"],
}
"""Each of 50 runs of one method."""

ENGINES: dict[str, Local | Dask] = {
    "local, 1": Local(workers=1),
    "local, 2": Local(workers=2),
    "dask, 1": Dask(workers=1),
    "dask, 2": Dask(workers=2),
}


@dataclass(frozen=True)
class Costs:
    """Of a block, in seconds and bytes."""

    computing: float
    storing: float
    reading: float
    """What a worker sends, where outputs are not shared."""
    bytes_stored: int
    bytes_sent: int


def nothing(_: int) -> None:
    """Work that takes no time."""


def main() -> None:
    """The command."""
    engines: dict[str, Execution] = {"local": Local(workers=2), "dask": Dask(workers=2)}
    if shutil.which("sinfo") and not subprocess.run(["sinfo"], capture_output=True).returncode:
        from pomrl.execution.slurm import Slurm

        engines["slurm"] = Slurm(memory="1GB", array_size=2)
    added = print_engines(engines)
    costs = {name: costs_of(overrides) for name, overrides in BLOCKS.items()}
    print_blocks(costs)
    print_predictions(costs, added["dask"])


def print_engines(engines: dict[str, Execution]) -> dict[str, float]:
    """What each engine costs; the seconds that it adds to a block."""
    added = {}
    print_row("engine", "starts and ends in", "adds to a block")
    print_row(*["---"] * 3)
    for name, engine in engines.items():
        start, added[name] = overhead(engine)
        print_row(name, f"{start:.1f} s", f"{1e3 * added[name]:.1f} ms")
    return added


def print_blocks(costs: dict[str, Costs]) -> None:
    """What blocks cost, and how well engines use their workers."""
    print_row("block", "computing", "storing", "reading", "stored", "sent", *ENGINES)
    print_row(*["---"] * (6 + len(ENGINES)))
    for name, of_block in costs.items():
        times = [f"{1e3 * seconds:.0f} ms" for seconds in (of_block.computing, of_block.storing, of_block.reading)]
        sizes = [f"{size / 1e3:.0f} kB" for size in (of_block.bytes_stored, of_block.bytes_sent)]
        blocks = max(8, int(3 / of_block.computing))
        used = [f"{efficiency(BLOCKS[name], blocks, engine):.2f}" for engine in ENGINES.values()]
        print_row(name, *times, *sizes, *used)


def print_predictions(costs: dict[str, Costs], dispatching: float) -> None:
    """How long a million runs take with Dask."""
    print_row("block", "workers", "workers store", "of it dispatching", "the driver stores")
    print_row(*["---"] * 5)
    for name, of_block in costs.items():
        for workers in WORKERS:
            print_row(name, str(workers), *predicted(of_block, workers, dispatching))


def print_row(*cells: str) -> None:
    """Of a table in Markdown."""
    print(f"| {' | '.join(cells)} |", flush=True)


def overhead(engine: Execution, few: int = 2, many: int = 402) -> tuple[float, float]:
    """Seconds to start and end an engine, and those that it adds to each item."""
    cold, warm, times = (timed(engine, items) for items in (few, few, many))
    return cold, (times - warm) / (many - few)


def timed(engine: Execution, items: int) -> float:
    start = time.perf_counter()
    assert len(list(engine.map_unordered(nothing, range(items), 1e9))) == items
    return time.perf_counter() - start


def block_of(overrides: list[str], first: int = 0) -> Block:
    asked = experiment(CONF, [*overrides, "runs=50"])
    return Block(asked.problem, [asked.method], range(first, first + store.BLOCK), ["run"])


def costs_of(overrides: list[str]) -> Costs:
    """The smallest times of some rounds."""
    block, asked = block_of(overrides), experiment(CONF, [*overrides, "runs=50"])
    (table,) = compute(block)
    sent = pickle.dumps([table])
    with outputs() as folder:
        run = store.open_run(asked, force=True)
        work = sweep.Work(block, [run], [True])
        storing = least(partial(sweep.keep, work, [table]))
        stored = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    return Costs(least(partial(compute, block)), storing, least(partial(pickle.loads, sent)), stored, len(sent))


def efficiency(overrides: list[str], blocks: int, engine: Local | Dask) -> float:
    """How much of its workers' time an engine uses, against one process without any, once its processes run."""
    todo = [block_of(overrides, store.BLOCK * index) for index in range(blocks)]
    alone = least(lambda: [compute(block) for block in todo])
    results = engine.map_unordered(compute, [*todo[:2], *todo], 1e9)
    for _ in range(2):
        next(results)  # the processes have started
    start = time.perf_counter()
    assert len(list(results)) == blocks
    return alone / (time.perf_counter() - start) / (engine.workers or 1)


def predicted(costs: Costs, workers: int, dispatching: float) -> list[str]:
    """Minutes with Dask: where workers store, what its scheduler takes of that, and where the driver stores."""
    blocks = RUNS / store.BLOCK
    workers_store = max(blocks * (costs.computing + costs.storing) / workers, blocks * dispatching)
    driver_stores = max(blocks * costs.computing / workers, blocks * (dispatching + costs.reading + costs.storing))
    return [f"{seconds / 60:.1f} min" for seconds in (workers_store, blocks * dispatching, driver_stores)]


def least(work: Callable[[], object]) -> float:
    """Seconds of the fastest of some rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


@contextmanager
def outputs() -> Iterator[Path]:
    """A folder of outputs for a while."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["POMRL_OUTPUTS"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["POMRL_OUTPUTS"]


if __name__ == "__main__":
    sys.exit(main())
