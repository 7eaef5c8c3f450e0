"""The processes that a command starts end with it, and frozen ones are given up, also those of a cluster of Dask."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.support import cluster as real
from tests.support.cluster import blocks, driver, end, environment, until

from pomrl.execution import Failure, Isolation, Work
from pomrl.execution.dask import Dask

pytestmark = pytest.mark.slow

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300", "execution.workers=2")

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel does this on Linux only")


def freeze_or_square(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    return number**2


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    (tmp_path / "faults").mkdir()
    return real.components(tmp_path / "faults")


DRIVERS = {
    "in_parallel": "from pomrl.execution.parallel import in_parallel; in_parallel(wait, range(2))",
    "one_by_one": "from pomrl.execution.parallel import one_by_one; list(one_by_one(wait, range(4)))",
    "Local": "from pomrl.execution import Local, Work; "
    "list(Local(workers=2).map_unordered(wait, [Work(0, 100.0), Work(1, 100.0)]))",
}
"""What commands call to have something computed in processes of their own."""


def ended_with(process: subprocess.Popen[str], started: Callable[[], object]) -> int:
    """Kill a driver alone, once it has started its processes, and return how many of these have ended with it."""
    try:
        until(started)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in children))
        return len(children)
    finally:
        end(process)


@linux
def test_workers_end_when_the_driver_is_killed(faults: Path, tmp_path: Path) -> None:
    process = driver(tmp_path / "outputs", *SLOW, paths=(faults,))
    assert ended_with(process, lambda: blocks(tmp_path / "outputs")) >= 2


@linux
@pytest.mark.parametrize("calls", DRIVERS.values(), ids=DRIVERS)
def test_processes_end_when_whoever_started_them_is_killed(calls: str, tmp_path: Path) -> None:
    (tmp_path / "waiting.py").write_text(
        "import time\ndef wait(item):\n    open(f'started-{item}', 'w').close()\n    time.sleep(900)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", f"from waiting import wait; {calls}"],
        cwd=tmp_path,
        env=environment(tmp_path),
        text=True,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert ended_with(process, lambda: len(list(tmp_path.glob("started-*"))) == 2) >= 2


def test_a_worker_of_dask_that_freezes_is_killed_and_the_others_go_on(tmp_path: Path) -> None:
    """The other items may take longer than the one that freezes, so that a busy machine changes nothing."""
    work = [Work(number, 0.0, blocks=1 if number == 2 else 1000) for number in range(5)]
    with real.cluster(tmp_path / "dask", Path(__file__).parent, real.ROOT, workers=1) as dask:
        engine = Dask(address=dask.address, block_timeout=2.0)
        for isolation in (Isolation.PROCESS, Isolation.ALONE):
            results = dict(engine.map_unordered(freeze_or_square, work, isolation))
            failure = results.pop(2)
            assert results == {0: 0, 1: 1, 3: 9, 4: 16}
            assert isinstance(failure, Failure)
            assert "had not ended after 2 s and was given up (execution.block_timeout)" in failure.reason
