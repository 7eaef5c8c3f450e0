"""The processes that a command starts end with it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.support import cluster as real
from tests.support.cluster import blocks, driver, end, environment, until

pytestmark = pytest.mark.slow

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300", "execution.workers=2")

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel does this on Linux only")


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    (tmp_path / "faults").mkdir()
    return real.components(tmp_path / "faults")


DRIVERS = {
    "in_parallel": "from pomrl.execution.parallel import in_parallel; in_parallel(wait, range(2))",
    "one_by_one": "from pomrl.execution.parallel import one_by_one; list(one_by_one(wait, range(4)))",
    "Local": "from pomrl.execution import Local; list(Local(workers=2).map_unordered(wait, range(2), 100.0))",
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
