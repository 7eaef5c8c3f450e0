"""An engine that computes on Dask workers: of a cluster that runs already, or of one started on this machine.

It uses Dask's own futures. Joblib's Dask backend waits forever for an item that kills every worker that tries it. A
finished future turns pending again when the worker that holds its result dies; `_result` accounts for that.
"""

# Most parameters and results of Dask's functions have no types; `Future` has type arguments only in later versions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false, reportUnknownArgumentType=false

import asyncio
import logging
import os
import pickle
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import Future as LocalFuture
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Annotated, Any

from pydantic import Field, model_validator

from pomrl.execution.engine import (
    BlockTimeout,
    EngineUnavailableError,
    Execution,
    ExecutionError,
    Failure,
    Isolation,
    Item,
    MissingPackagesError,
    Result,
    Work,
    time_limit,
    too_long,
)
from pomrl.execution.interrupts import left_to_this_process

try:
    import dask.config
    from distributed import Client, Future, LocalCluster
    from distributed.comm.core import CommClosedError
    from distributed.core import rpc
    from distributed.scheduler import KilledWorker
    from distributed.security import Security
except ImportError as error:
    raise MissingPackagesError("execution=dask needs the packages of pomrl[dask]: pip install -e '.[dask]'") from error

CONNECT = 5
"""Seconds within which a scheduler has to answer."""

FETCH = 60
"""Seconds within which a result has to arrive from a worker."""

FETCHERS = 8
"""Number of threads that fetch results."""

TICK = 0.5
"""Seconds between two checks of whether there are workers, and whether they take too long."""

RESTART = 30
"""Seconds within which a worker that takes too long has to be killed, before the scheduler forgets it."""

LOOPBACK = "127.0.0.1"

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


class Dask(Execution):
    """The workers of a Dask cluster."""

    address: Annotated[
        str | None,
        Field(
            description="address of a running scheduler, tcp://HOST:PORT or tls://HOST:PORT; "
            "null: a cluster is started here"
        ),
    ] = None
    workers: Annotated[
        int | None, Field(ge=1, description="processes of a cluster that is started here; null: one for each core")
    ] = None
    shared_outputs: Annotated[
        bool,
        Field(description="whether the workers of a running cluster see this folder of outputs, and write to it"),
    ] = False
    patience: Annotated[int, Field(ge=1, description="seconds to wait for a worker while there is none")] = 60
    block_timeout: BlockTimeout = None

    @model_validator(mode="after")
    def _consistent(self) -> "Dask":
        if self.address and self.workers:
            raise ValueError("workers is for a cluster that is started here, and address for one that runs already")
        return self

    @property
    def shares_outputs(self) -> bool:
        return self.shared_outputs or not self.address

    def capacity(self) -> int:
        return _scheduler_threads(self.address) if self.address else self.workers or os.cpu_count() or 1

    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Result | Failure]]:
        indexed = dict(enumerate(work))
        together = [{index: work[index]} for index in indexed] if isolation is Isolation.ALONE else [indexed]
        with dask.config.set(SETTINGS), self._client() as client:
            try:
                for items in together:
                    yield from self._submit(client, function, items)
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
        _scheduler_threads(self.address)
        client = Client(self.address, timeout=CONNECT)
        try:
            yield client
        finally:
            with suppress(Exception):
                client.close(timeout=CONNECT)

    def _submit(
        self, client: Client, function: Callable[[Item], Result], work: Mapping[int, Work[Item]]
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Submit items at once and yield their results, or failures of items whose workers died or took too long."""
        futures = {
            index: client.submit(_call, pickle.dumps((function, each.item)), pure=False) for index, each in work.items()
        }
        index_of = {future.key: index for index, future in futures.items()}
        watch = _Watch({future.key: time_limit(work[index], self.block_timeout) for index, future in futures.items()})
        worker_seen = monotonic()
        with _fetched(futures) as fetched:
            while futures:
                found = fetched()
                worker_seen = monotonic() if found else self._last_seen(client, worker_seen)
                late = [(index_of[key], failure) for key, failure in watch.overdue(client)]
                for index, result in [*found, *late]:
                    if futures.pop(index, None):
                        yield index, result

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


class _Watch:
    """The times since which items are being computed, so that workers can be given up that take too long."""

    def __init__(self, limits: Mapping[Any, float]) -> None:
        """Watch the items with these keys, each of which may be computed for so many seconds."""
        self._limits = limits
        self._since: dict[Any, float] = {}
        self._next = monotonic()

    def overdue(self, client: Client) -> list[tuple[Any, Failure]]:
        """Return the keys of the items that take too long, each with a failure, after killing their workers.

        The time of an item that goes from one worker to another counts on, so that an item which freezes each worker
        ends too. A worker without a nanny that starts it again is forgotten by the scheduler, and gets no more work.
        """
        now = monotonic()
        if now < self._next:
            return []
        self._next = now + TICK
        scheduler: Any = client.scheduler
        processing: Any = client.sync(scheduler.processing, workers=None, callback_timeout=FETCH)
        worker_of = {key: worker for worker, keys in processing.items() for key in keys if key in self._limits}
        late = [key for key in worker_of if now - self._since.setdefault(key, now) > self._limits[key]]
        if late:
            client.cancel([Future(key, client) for key in late], force=True)
            client.sync(
                scheduler.restart_workers,
                workers=sorted({worker_of[key] for key in late}),
                timeout=RESTART,
                wait_for_workers=False,
                on_error="return",
                stimulus_id="pomrl-block-timeout",
                callback_timeout=RESTART + FETCH,
            )
        return [(key, too_long(self._limits[key])) for key in late]


def _scheduler_threads(address: str) -> int:
    """Return how many threads the workers of a scheduler have, at least 1.

    Dask's client may wait forever for an address where something else answers. Certificates for addresses of tls:// are
    those of Dask's own configuration.

    Raises:
        EngineUnavailableError: No scheduler answers in time.
    """

    async def identity() -> Any:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
            return await scheduler.identity(n_workers=0)

    try:
        return max(1, asyncio.run(asyncio.wait_for(identity(), CONNECT))["total_threads"])
    except Exception as error:  # whatever answers there may make Dask raise anything
        with_these = " to these certificates" if address.startswith("tls:") else ""
        raise EngineUnavailableError(
            f"execution.address={address}: no scheduler of Dask answers there{with_these}"
        ) from error


def _local_cluster(workers: int | None) -> LocalCluster:
    """Start a cluster that only this machine can reach, and whose workers leave an interrupt to this process."""
    with left_to_this_process():
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            silence_logs=logging.CRITICAL,
        )


def _call(pickled: bytes) -> Any:
    """Apply a pickled function to a pickled item, on a worker.

    The scheduler deserialises arguments; as bytes they do not require it to have the code of the user's components.
    """
    function, item = pickle.loads(pickled)
    return function(item)


class _ResultLostError(Exception):
    """The worker that held a result died. Dask computes the result again."""


@contextmanager
def _fetched(futures: Mapping[int, Future]) -> Generator[Callable[[], list[tuple[int, Any]]], None, None]:
    """Yield a function that waits for a future to finish, and returns its index and result if this was soon enough.

    Results are fetched by threads, because a worker that is frozen never hands over the results that it holds. Futures
    that are removed from `futures` meanwhile are left out.
    """
    done: SimpleQueue[tuple[int, LocalFuture[Any]]] = SimpleQueue()
    threads = ThreadPoolExecutor(FETCHERS)

    def fetch_when_finished(index: int) -> None:
        futures[index].add_done_callback(partial(fetch, index))

    def fetch(index: int, future: Any) -> None:
        with suppress(RuntimeError):  # the threads have been shut down
            threads.submit(_result, future).add_done_callback(lambda result: done.put((index, result)))

    def next_results() -> list[tuple[int, Any]]:
        try:
            index, result = done.get(timeout=TICK)
        except Empty:
            return []
        try:
            return [(index, result.result())] if index in futures else []
        except _ResultLostError:
            fetch_when_finished(index)
            return []

    for index in futures:
        fetch_when_finished(index)
    try:
        yield next_results
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _result(future: Future) -> Any:
    """Return the function's result, or a failure if its workers died; raise what the function raised."""
    if future.status in ("pending", "lost"):
        raise _ResultLostError
    try:
        return future.result(timeout=FETCH)
    except KilledWorker as error:
        return Failure(f"it killed each of the {error.allowed_failures + 1} workers that tried it", str(error))
    except TimeoutError as error:
        raise _ResultLostError from error
    except (ImportError, AttributeError) as error:
        raise ExecutionError(f"a worker of Dask lacks code that is here: {error}") from error
    except RuntimeError as error:
        if "deserialization" not in str(error):
            raise
        raise ExecutionError("Dask's scheduler has another environment than this process; it needs the same") from error
