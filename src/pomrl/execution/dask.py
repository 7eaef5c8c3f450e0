"""An engine that computes on Dask workers: of a cluster that runs already, or of one started on this machine.

It uses Dask's own futures. Joblib's Dask backend waits forever for an item that kills every worker that tries it. A
finished future turns pending again when the worker that holds its result dies; `_result` accounts for that.
"""

# Most parameters and results of Dask's functions have no types; `Future` has type arguments only in later versions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false

import asyncio
import logging
import pickle
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic.dataclasses import dataclass

from pomrl.components import CHECKED
from pomrl.execution.engine import (
    EngineUnavailableError,
    Execution,
    ExecutionError,
    Failure,
    Item,
    MissingPackagesError,
    Result,
)
from pomrl.execution.interrupts import left_to_this_process

try:
    import dask.config
    from distributed import Client, Future, LocalCluster
    from distributed.comm.core import CommClosedError
    from distributed.core import rpc
    from distributed.scheduler import KilledWorker
except ImportError as error:
    raise MissingPackagesError("execution=dask needs the packages of pomrl[dask]: pip install -e '.[dask]'") from error

CONNECT = 5
"""Seconds within which a scheduler has to answer."""

FETCH = 60
"""Seconds within which a result has to arrive from a worker."""

TICK = 0.5
"""Seconds between two checks of whether there are workers."""

_LARGE = str(2**30)

SETTINGS = {
    "distributed.comm.timeouts.connect": f"{CONNECT}s",
    "distributed.comm.retry.count": 0,
    "distributed.scheduler.worker-saturation": 1.0,  # no item waits at a worker that another item kills
    "distributed.deploy.lost-worker-timeout": "1 day",  # a worker of a local cluster that died is started again
    # By default Dask's workers return memory after each use and map large arrays anew, which costs a fifth of the time.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": _LARGE,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": _LARGE,
}


@dataclass(frozen=True, config=CHECKED, kw_only=True)
class Dask(Execution):
    """The workers of a Dask cluster."""

    address: Annotated[
        str | None,
        Field(description="address of a running scheduler, tcp://HOST:PORT; null: a cluster is started here"),
    ] = None
    workers: Annotated[
        int | None, Field(ge=1, description="processes of a cluster that is started here; null: one for each core")
    ] = None
    shared_outputs: Annotated[
        bool,
        Field(description="whether the workers of a running cluster see this folder of outputs, and write to it"),
    ] = False
    patience: Annotated[int, Field(ge=1, description="seconds to wait for a worker while there is none")] = 60

    @model_validator(mode="after")
    def _consistent(self) -> "Dask":
        if self.address and self.workers:
            raise ValueError("workers is for a cluster that is started here, and address for one that runs already")
        return self

    @property
    def shares_outputs(self) -> bool:
        return self.shared_outputs or not self.address

    def map_unordered(
        self, function: Callable[[Item], Result], items: Sequence[Item], seconds: float
    ) -> Iterator[tuple[int, Result | Failure]]:
        with dask.config.set(SETTINGS), self._client() as client:
            try:
                yield from self._map(client, function, items)
            except (CancelledError, CommClosedError, TimeoutError) as error:
                raise ExecutionError("the connection to Dask's scheduler is lost") from error

    @contextmanager
    def _client(self) -> Generator[Client, None, None]:
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if not self.address:
            with _local_cluster(self.workers) as cluster, Client(cluster, timeout=CONNECT) as client:
                yield client
            return
        _require_scheduler(self.address)
        client = Client(self.address, timeout=CONNECT)
        try:
            yield client
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT)

    def _map(
        self, client: Client, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Submit all items at once, then try each item whose workers died once more, alone.

        Another item may have killed its workers; an item that kills them when it is alone has failed.
        """
        suspects: list[int] = []
        for index, result in self._submit(client, function, dict(enumerate(items))):
            if isinstance(result, KilledWorker):
                suspects.append(index)
            else:
                yield index, result
        for index in suspects:
            for _, result in self._submit(client, function, {index: items[index]}):
                yield index, _failure(result) if isinstance(result, KilledWorker) else result

    def _submit(
        self, client: Client, function: Callable[[Item], Result], items: Mapping[int, Item]
    ) -> Iterator[tuple[int, Result | KilledWorker]]:
        """Submit items at once and yield their results, with `KilledWorker` for an item whose workers died."""
        done: SimpleQueue[int] = SimpleQueue()
        futures: dict[int, Future] = {}
        for index, item in items.items():
            futures[index] = client.submit(_call, pickle.dumps((function, item)), pure=False)
            futures[index].add_done_callback(_notice(done, index))
        worker_seen = monotonic()
        while futures:
            indexed_result = _next_result(done, futures)
            if indexed_result:
                worker_seen = monotonic()
                del futures[indexed_result[0]]
                yield indexed_result
            else:
                worker_seen = self._last_seen(client, worker_seen)

    def _last_seen(self, client: Client, before: float) -> float:
        """Return the latest time at which Dask had a worker: now if it has one, else `before`.

        Raises:
            ExecutionError: There has been no worker for longer than `patience`.
        """
        scheduler: Any = client.scheduler
        if client.sync(scheduler.ncores, callback_timeout=FETCH):
            return monotonic()
        if monotonic() - before > self.patience:
            raise ExecutionError(f"Dask has had no worker for {self.patience} s")
        return before


def _require_scheduler(address: str) -> None:
    """Raise EngineUnavailableError if no scheduler answers in time.

    Dask's client may wait forever for an address where something else answers.
    """

    async def identity() -> None:
        async with rpc(address) as scheduler:
            await scheduler.identity()

    try:
        asyncio.run(asyncio.wait_for(identity(), CONNECT))
    except Exception as error:  # whatever answers there may make Dask raise anything
        raise EngineUnavailableError(f"execution.address={address}: no scheduler of Dask answers there") from error


def _local_cluster(workers: int | None) -> LocalCluster:
    """Start a cluster on this machine whose workers ignore the terminal's interrupt, which this process handles."""
    with left_to_this_process():
        return LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
        )


def _call(pickled: bytes) -> Any:
    """Apply a pickled function to a pickled item, on a worker.

    The scheduler deserialises arguments; as bytes they do not require it to have the code of the user's components.
    """
    function, item = pickle.loads(pickled)
    return function(item)


class _ResultLostError(Exception):
    """The worker that held a result died. Dask computes the result again."""


def _notice(done: "SimpleQueue[int]", index: int) -> Callable[[object], None]:
    """Return the callback of the future with this index, which reports that it is finished."""
    return lambda _: done.put(index)


def _next_result(done: "SimpleQueue[int]", futures: Mapping[int, Future]) -> tuple[int, Any] | None:
    """Return the index and the result of a finished future, or None if there is none yet."""
    try:
        index = done.get(timeout=TICK)
    except Empty:
        return None
    try:
        return index, _result(futures[index])
    except _ResultLostError:
        done.put(index)
        return None


def _result(future: Future) -> Any:
    """Return the function's result, or KilledWorker if its workers died; raise what the function raised."""
    if future.status in ("pending", "lost"):
        sleep(TICK)
        raise _ResultLostError
    try:
        return future.result(timeout=FETCH)
    except KilledWorker as error:
        return error
    except TimeoutError as error:
        raise _ResultLostError from error
    except (ImportError, AttributeError) as error:
        raise ExecutionError(f"a worker of Dask lacks code that is here: {error}") from error
    except RuntimeError as error:
        if "deserialization" not in str(error):
            raise
        raise ExecutionError("Dask's scheduler has another environment than this process; it needs the same") from error


def _failure(killed: KilledWorker) -> Failure:
    tries = killed.allowed_failures + 1
    return Failure(f"it killed each of the {tries} workers that tried it, twice", str(killed))
