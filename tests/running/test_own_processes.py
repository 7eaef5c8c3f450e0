"""The processes that a command starts end with it."""

from pathlib import Path

import psutil
import pytest
from tests.support.cluster import blocks, components, driver, end, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel does this on Linux only"),
]

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300", "execution.workers=2")


def test_workers_end_when_the_driver_is_killed(tmp_path: Path) -> None:
    (tmp_path / "faults").mkdir()
    process = driver(tmp_path / "outputs", *SLOW, paths=(components(tmp_path / "faults"),))
    try:
        until(lambda: blocks(tmp_path / "outputs"))
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in children))
        assert len(children) >= 2
    finally:
        end(process)
