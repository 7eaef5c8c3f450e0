"""Compute on the workers of a running Dask cluster.

The Dask backend of joblib is not used: it waits forever if a call kills every worker. A finished future becomes pending
again if the worker with its result dies.
"""

# Most functions of Dask have no type annotations; `Future` has type arguments only in later versions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false, reportUnknownArgumentType=false

import asyncio
import json
import logging
import pickle
from collections.abc import Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

from pydantic import Field

from pomrl.execution.engine import Calls, Execution, ExecutionError, Parallel

try:
    import dask.config
    from distributed import Client, Future, as_completed
    from distributed.comm.core import CommClosedError
    from distributed.core import rpc
    from distributed.scheduler import KilledWorker
    from distributed.security import Security
except ImportError as error:
    raise ImportError("execution=dask needs the packages of pomrl[dask]: pip install 'pomrl[dask]'") from error

CONNECT_SECONDS = 5
"""The time limit for the answer of a scheduler."""

FETCH_SECONDS = 60
"""The time limit for a result to arrive from a worker."""

POLL_SECONDS = 0.1
"""The time between two checks for finished calls and for workers."""

SETTINGS = {"distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s", "distributed.comm.retry.count": 0}


class Dask(Execution):
    """The workers of a Dask cluster."""

    address: Annotated[
        str | None,
        Field(
            description="address of a running scheduler, tcp://HOST:PORT or tls://HOST:PORT, or the path of its "
            "scheduler file; null: the scheduler of the Dask configuration"
        ),
    ] = None
    patience: Annotated[int, Field(ge=1, description="seconds to wait while no worker is available")] = 60

    @contextmanager
    def parallel(self, seconds: float) -> Generator[Parallel]:
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        with dask.config.set(SETTINGS):
            client = Client(_scheduler(self.address), timeout=CONNECT_SECONDS)
            try:
                yield partial(self._results, client)
            finally:
                with suppress(Exception):
                    client.close(timeout=CONNECT_SECONDS)

    def _results(self, client: Client, calls: Calls) -> Iterator[Any]:
        try:
            submitted = [client.submit(_call, pickle.dumps(call), pure=False) for call in calls]
            futures = {future.key: future for future in submitted}
            completed: Any = as_completed(submitted)
            submitted.clear()  # because workers keep results while futures exist
            worker_seen = monotonic()
            while futures:
                for future in completed.next_batch(block=False):
                    try:
                        result = _result(future)
                    except TimeoutError:  # its worker is lost, and Dask computes the result again
                        completed.add(future)
                    else:
                        del futures[future.key]
                        yield result
                if _has_workers(client):
                    worker_seen = monotonic()
                elif monotonic() - worker_seen > self.patience:
                    raise ExecutionError(
                        f"Dask has had no worker for {self.patience} s; start workers, or increase execution.patience"
                    )
                sleep(POLL_SECONDS)
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise ExecutionError("the connection to the Dask scheduler was lost") from error


def _has_workers(client: Client) -> bool:
    scheduler: Any = client.scheduler
    try:
        return bool(client.sync(scheduler.processing, workers=None, callback_timeout=FETCH_SECONDS))
    except OSError as error:  # nothing answers at the address any more
        raise ExecutionError("the connection to the Dask scheduler was lost") from error


def _scheduler(named: str | None) -> str:
    """Return the address of a running scheduler; ExecutionError if none answers.

    The client of Dask would start a cluster without an address, and may wait forever for another server. Certificates
    for tls:// come from the Dask configuration.
    """
    configured = dask.config.get("scheduler-address", None) or dask.config.get("scheduler-file", None)
    source = "execution.address=" if named else "the Dask configuration: "
    if not (named := named or configured):
        raise ExecutionError(
            "execution=dask needs a scheduler; set execution.address, or the scheduler in the Dask configuration"
        )

    async def identity(address: str) -> Any:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
            return await scheduler.identity(n_workers=0)

    address = named
    try:
        address = named if "://" in named else json.loads(Path(named).read_text())["address"]
        asyncio.run(asyncio.wait_for(identity(address), CONNECT_SECONDS))
        return address
    except Exception as error:  # Dask may raise anything, depending on the server
        if "://" not in named and not Path(named).is_file():
            what = "must be tcp://HOST:PORT, tls://HOST:PORT or an existing scheduler file"
            raise ExecutionError(f"{source}{named}: {what}") from error
        with_these = " to these certificates" if address.startswith("tls:") else ""
        raise ExecutionError(f"{source}{named}: no Dask scheduler answers{with_these}") from error


def _call(pickled: bytes) -> Any:
    """Make a call on a worker, pickled because schedulers cannot import its code."""
    function, arguments, named = pickle.loads(pickled)
    return function(*arguments, **named)


def _result(future: Future) -> Any:
    """Return the result of a finished future, or raise the call's exception.

    ExecutionError if the call killed its workers or their environment differs; TimeoutError without a result.
    """
    try:
        return future.result(timeout=FETCH_SECONDS)
    except KilledWorker as error:
        workers = error.allowed_failures + 1
        raise ExecutionError(f"a block of runs killed each of the {workers} workers that computed it") from error
    except (ImportError, AttributeError, RuntimeError) as error:
        raise ExecutionError(f"the Dask workers must have the same environment as this process: {error}") from error
