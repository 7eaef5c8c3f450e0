"""An engine that computes on the workers of a Dask cluster that runs already. It starts neither scheduler nor workers.

Whoever reaches a scheduler can run code on its workers, so that starting one is left to people who know their network.
The engine uses Dask's own futures. Joblib's Dask backend waits forever for an item that kills every worker that tries
it. A finished future turns pending again when the worker that holds its result dies; `_result` accounts for that.
"""

# Most parameters and results of Dask's functions have no types; `Future` has type arguments only in later versions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false, reportUnknownArgumentType=false

import asyncio
import json
import logging
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import Future as LocalFuture
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Annotated, Any

from pydantic import Field

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

try:
    import dask.config
    from distributed import Client, Future
    from distributed.comm.core import CommClosedError
    from distributed.core import rpc
    from distributed.scheduler import KilledWorker
    from distributed.security import Security
except ImportError as error:
    raise MissingPackagesError("execution=dask needs the packages of pomrl[dask]: pip install 'pomrl[dask]'") from error

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

SETTINGS = {"distributed.comm.timeouts.connect": f"{CONNECT}s", "distributed.comm.retry.count": 0}


class Dask(Execution):
    """The workers of a Dask cluster."""

    address: Annotated[
        str | None,
        Field(
            description="address of a running scheduler, tcp://HOST:PORT or tls://HOST:PORT, or the path of its "
            "scheduler file; null: the one that Dask's own configuration names"
        ),
    ] = None
    shared_outputs: Annotated[
        bool, Field(description="whether the workers see this folder of outputs, and write to it")
    ] = False
    patience: Annotated[int, Field(ge=1, description="seconds to wait for a worker while there is none")] = 60
    block_timeout: BlockTimeout = None

    @property
    def shares_outputs(self) -> bool:
        return self.shared_outputs

    def capacity(self) -> int:
        return _scheduler(self.address)[1]

    def map_unordered(
        self, function: Callable[[Item], Result], work: Sequence[Work[Item]], isolation: Isolation = Isolation.PROCESS
    ) -> Iterator[tuple[int, Result | Failure]]:
        indexed = dict(enumerate(work))
        together = [{index: work[index]} for index in indexed] if isolation is Isolation.ALONE else [indexed]
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        with dask.config.set(SETTINGS):
            client = Client(_scheduler(self.address)[0], timeout=CONNECT)
            try:
                for items in together:
                    yield from self._submit(client, function, items)
            except (CancelledError, CommClosedError, TimeoutError) as error:
                raise ExecutionError("the connection to Dask's scheduler is lost") from error
            finally:
                with suppress(Exception):
                    client.close(timeout=CONNECT)

    def _submit(
        self, client: Client, function: Callable[[Item], Result], work: Mapping[int, Work[Item]]
    ) -> Iterator[tuple[int, Result | Failure]]:
        """Submit items at once and yield their results, or failures of items whose workers died or took too long."""
        submitted = [client.submit(_call, pickle.dumps((function, each.item)), pure=False) for each in work.values()]
        futures = {future.key: (index, future) for index, future in zip(work, submitted, strict=True)}
        limits = {key: time_limit(work[index], self.block_timeout) for key, (index, _) in futures.items()}
        watch = _Watch(limits, self.patience)
        with _fetched(submitted) as fetched:
            submitted.clear()  # because a worker keeps a result as long as there is a future for it
            while futures:
                for key, result in [*fetched(), *watch.overdue(client)]:
                    if key in futures:  # and has not been given up
                        yield futures.pop(key)[0], result if isinstance(result, Failure) else result.result()


class _Watch:
    """The times since which items are being computed, so that workers can be given up that take too long."""

    def __init__(self, limits: Mapping[Any, float], patience: int) -> None:
        """Watch the items with these keys, each of which may be computed for so many seconds."""
        self._limits, self._patience = limits, patience
        self._since: dict[Any, float] = {}
        self._worker_seen = self._next = monotonic()

    def overdue(self, client: Client) -> list[tuple[Any, Failure]]:
        """Return the keys of the items that take too long, each with a failure, after killing their workers.

        The time of an item that goes from one worker to another counts on, so that an item which freezes each worker
        ends too. A worker without a nanny that starts it again is forgotten by the scheduler, and gets no more work.

        Raises:
            ExecutionError: There has been no worker for longer than `patience`, or the scheduler does not answer.
        """
        now = monotonic()
        if now < self._next:
            return []
        self._next = now + TICK
        scheduler: Any = client.scheduler
        try:
            processing: Any = client.sync(scheduler.processing, workers=None, callback_timeout=FETCH)
        except OSError as error:  # nobody answers at the address any more
            raise ExecutionError("the connection to Dask's scheduler is lost") from error
        self._worker_seen = now if processing else self._worker_seen
        if now - self._worker_seen > self._patience:
            raise ExecutionError(f"Dask has had no worker for {self._patience} s")
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


def _scheduler(named: str | None) -> tuple[str, int]:
    """Return the address of a scheduler that runs, and how many threads its workers have, at least 1.

    Dask's client starts a cluster of its own if no scheduler is named, and may wait forever for an address where
    something else answers. Certificates for addresses of tls:// are those of Dask's own configuration.

    Args:
        named: The address, or the path of the scheduler file; None for the one that Dask's configuration names.

    Raises:
        EngineUnavailableError: No scheduler is named, or none answers in time.
    """
    configured = dask.config.get("scheduler-address", None) or dask.config.get("scheduler-file", None)
    if not (named := named or configured):
        raise EngineUnavailableError(
            "execution=dask: name a scheduler that runs, with execution.address or in Dask's own configuration"
        )

    async def identity(address: str) -> Any:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
            return await scheduler.identity(n_workers=0)

    address = named
    try:
        address = named if "://" in named else json.loads(Path(named).read_text())["address"]
        return address, max(1, asyncio.run(asyncio.wait_for(identity(address), CONNECT))["total_threads"])
    except Exception as error:  # whatever answers there may make Dask raise anything
        with_these = " to these certificates" if address.startswith("tls:") else ""
        raise EngineUnavailableError(
            f"execution.address={named}: no scheduler of Dask answers there{with_these}"
        ) from error


def _call(pickled: bytes) -> Any:
    """Apply a pickled function to a pickled item, on a worker.

    The scheduler deserialises arguments; as bytes they do not require it to have the code of the user's components.
    """
    function, item = pickle.loads(pickled)
    return function(item)


@contextmanager
def _fetched(
    futures: Iterable[Future],
) -> Generator[Callable[[], list[tuple[Any, LocalFuture[Any]]]], None, None]:
    """Yield a function that waits for a future to finish, and returns its key and its result if this was soon enough.

    Results are fetched by threads, because a worker that is frozen never hands over the results that it holds.
    """
    done: SimpleQueue[tuple[Any, LocalFuture[Any]]] = SimpleQueue()
    threads = ThreadPoolExecutor(FETCHERS)

    def fetch(future: Future) -> None:
        with suppress(RuntimeError):  # the threads have been shut down
            threads.submit(_result, future).add_done_callback(lambda result: done.put((future.key, result)))

    def fetched() -> list[tuple[Any, LocalFuture[Any]]]:
        with suppress(Empty):
            return [done.get(timeout=TICK)]
        return []

    for future in futures:
        future.add_done_callback(fetch)
    try:
        yield fetched
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _result(future: Future) -> Any:
    """Return the function's result, or a failure if its workers died; raise what the function raised.

    Dask computes a result again if the worker that holds it dies or is given up; until then it is waited for.
    """
    try:
        return future.result(timeout=FETCH)
    except TimeoutError:
        if future.status == "error":  # which the function raised
            raise
        return _result(future)
    except KilledWorker as error:
        return Failure(f"it killed each of the {error.allowed_failures + 1} workers that tried it", str(error))
    except (ImportError, AttributeError) as error:
        raise ExecutionError(f"a worker of Dask lacks code that is here: {error}") from error
    except RuntimeError as error:
        if "deserialization" not in str(error):
            raise
        raise ExecutionError("Dask's scheduler has another environment than this process; it needs the same") from error
