"""The workers of Dask: a cluster that runs already, or one that is started on this machine.

Dask's own futures, and not joblib over them, which waits for ever where an item keeps killing its worker. A future that
is done may turn pending again when the worker that has its result dies: its `result()` waits, its `status` misleads.
"""

import asyncio
import logging
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from signal import SIG_IGN, SIGINT, signal
from time import monotonic, sleep
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.execution.engine import Execution, ExecutionError, Failure, Item, MissingPackagesError, Outcome

try:
    import dask.config
    from distributed import Client, Future, LocalCluster
    from distributed.comm.core import CommClosedError
    from distributed.core import rpc
    from distributed.scheduler import KilledWorker
except ImportError as error:
    raise MissingPackagesError("execution=dask needs the packages of pomrl[dask]: pip install -e '.[dask]'") from error

CONNECT = 5
"""Seconds in which a scheduler has to answer."""

FETCH = 60
"""Seconds in which a result has to come from a worker."""

TICK = 0.5
"""Seconds after which one looks again whether there are workers."""


_LARGE = str(2**30)

SETTINGS = {
    "distributed.comm.timeouts.connect": f"{CONNECT}s",
    "distributed.comm.retry.count": 0,
    "distributed.scheduler.worker-saturation": 1.0,  # no item waits at a worker that another one kills
    "distributed.deploy.lost-worker-timeout": "1 day",  # a worker that is gone for a while has died and starts again
    # Dask has memory given back after every use, and large arrays mapped anew, which takes a fifth of the time.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": _LARGE,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": _LARGE,
}

GOES_ON = "finished blocks are stored, and the same command goes on from them"


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Dask(Execution):
    """The workers of a Dask cluster."""

    address: Annotated[
        str | None, Field(description="of a scheduler that runs, tcp://HOST:PORT; null: one is started on this machine")
    ] = None
    workers: Annotated[
        int | None, Field(ge=1, description="processes, where the cluster is started here; null: one for each core")
    ] = None
    shared_outputs: Annotated[
        bool,
        Field(description="whether workers of a cluster that runs see our folder of outputs, and write to it"),
    ] = False
    patience: Annotated[int, Field(ge=1, description="seconds to wait for a worker where there is none")] = 60

    @model_validator(mode="after")
    def _consistent(self) -> "Dask":
        if self.address and self.workers:
            raise ValueError("workers is for a cluster that is started here, and address for one that runs already")
        return self

    @property
    def shares_outputs(self) -> bool:
        return self.shared_outputs or not self.address

    def map_unordered(
        self, function: Callable[[Item], Outcome], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Outcome | Failure]]:
        with dask.config.set(SETTINGS), self._client() as client:
            try:
                yield from self._map(client, function, items)
            except (CancelledError, CommClosedError, TimeoutError) as error:
                raise ExecutionError(f"the connection to Dask's scheduler is lost; {GOES_ON}") from error

    @contextmanager
    def _client(self) -> Iterator[Client]:
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if not self.address:
            with _cluster(self.workers) as cluster, Client(cluster, timeout=CONNECT) as client:
                yield client
            return
        _find_scheduler(self.address)
        client = Client(self.address, timeout=CONNECT)
        try:
            yield client
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT)

    def _map(
        self, client: Client, function: Callable[[Item], Outcome], items: Sequence[Item]
    ) -> Iterator[tuple[int, Outcome | Failure]]:
        """All items at once; those whose workers died are tried once more, each alone, for it may have been another."""
        suspects = []
        for index, outcome in self._submitted(client, function, dict(enumerate(items))):
            if isinstance(outcome, KilledWorker):
                suspects.append(index)
            else:
                yield index, outcome
        for index in suspects:
            for _, outcome in self._submitted(client, function, {index: items[index]}):
                yield index, _failure(outcome) if isinstance(outcome, KilledWorker) else outcome

    def _submitted(
        self, client: Client, function: Callable[[Item], Outcome], items: dict[int, Item]
    ) -> Iterator[tuple[int, Outcome | KilledWorker]]:
        done: SimpleQueue[int] = SimpleQueue()
        futures: dict[int, Future] = {}
        for index, item in items.items():
            futures[index] = client.submit(_call, pickle.dumps((function, item)), pure=False)
            futures[index].add_done_callback(lambda _, index=index: done.put(index))
        worker_seen = monotonic()
        while futures:
            found = _next(done, futures)
            worker_seen = monotonic() if found else self._worker_seen(client, worker_seen)
            if found:
                del futures[found[0]]
                yield found

    def _worker_seen(self, client: Client, before: float) -> float:
        """When there was a worker. ExecutionError where that is too long ago."""
        scheduler: Any = client.scheduler
        if client.sync(scheduler.ncores, callback_timeout=FETCH):
            return monotonic()
        if monotonic() - before > self.patience:
            raise ExecutionError(f"Dask has had no worker for {self.patience} s; {GOES_ON}")
        return before


def _find_scheduler(address: str) -> None:
    """ExecutionError where none answers in time. Dask's client may wait for ever for something that is none."""

    async def identity() -> None:
        async with rpc(address) as scheduler:
            await scheduler.identity()

    try:
        asyncio.run(asyncio.wait_for(identity(), CONNECT))
    except Exception as error:  # what answers may be anything, and so may be what Dask makes of it
        raise ExecutionError(f"execution.address={address}: no scheduler of Dask answers there") from error


def _cluster(workers: int | None) -> LocalCluster:
    """On this machine. Its workers leave an interrupt of the terminal, which reaches them as well, to this process."""
    handler = signal(SIGINT, SIG_IGN)
    try:
        return LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )
    finally:
        signal(SIGINT, handler)


def _call(pickled: bytes) -> Any:
    """What a worker does. The scheduler reads what it passes on: as bytes it needs no code of one's own for that."""
    function, item = pickle.loads(pickled)
    return function(item)


class _LostError(Exception):
    """The worker that had a result died: it is computed again."""


def _next(done: "SimpleQueue[int]", futures: Mapping[int, Future]) -> tuple[int, Any] | None:
    """The index and the result of a future that is done; None where there is none yet."""
    try:
        index = done.get(timeout=TICK)
    except Empty:
        return None
    try:
        return index, _result(futures[index])
    except _LostError:
        done.put(index)
        return None


def _result(future: Future) -> Any:
    """What the function gave, or KilledWorker. What it raised is raised."""
    if future.status in ("pending", "lost"):
        sleep(TICK)
        raise _LostError
    try:
        return future.result(timeout=FETCH)
    except KilledWorker as error:
        return error
    except TimeoutError as error:
        raise _LostError from error
    except (ImportError, AttributeError) as error:
        raise ExecutionError(f"a worker of Dask lacks code that is here: {error}") from error
    except RuntimeError as error:
        if "deserialization" not in str(error):
            raise
        raise ExecutionError("Dask's scheduler has another environment than this process; it needs the same") from error


def _failure(killed: KilledWorker) -> Failure:
    tries = killed.allowed_failures + 1
    return Failure(f"it killed each of the {tries} workers that tried it, twice", str(killed))
