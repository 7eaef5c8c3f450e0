"""The engine of this machine makes calls; Dask has a test module of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from joblib import delayed

from pomrl.execution import ExecutionError, Local, local

pytestmark = pytest.mark.slow


def squared(number: int) -> int:
    return number**2


def process(_: int) -> int:
    return os.getpid()


def failing(number: int) -> int:
    raise ValueError(f"not {number}")


def kill(number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fault(number: int) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(number: int) -> None:
    os._exit(0)


def results(engine: Local, function: Callable[[int], Any], *numbers: int, seconds: float = 100.0) -> list[Any]:
    """Return what a function returns for these numbers, in any order."""
    with engine.parallel(seconds) as parallel:
        return list(parallel(delayed(function)(number) for number in numbers))


@pytest.mark.parametrize("workers", [1, 2, None])
def test_every_call_comes_back_once(workers: int | None) -> None:
    assert sorted(results(Local(workers=workers), squared, *range(3, 20))) == [n**2 for n in range(3, 20)]


def test_little_work_is_done_in_this_process() -> None:
    assert results(Local(), process, 1, seconds=0.0) == [os.getpid()]
    assert results(Local(workers=2), process, 1, seconds=0.0) != [os.getpid()]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised(workers: int) -> None:
    with pytest.raises(ValueError, match="not 7"):
        results(Local(workers=workers), failing, 7)


@pytest.mark.parametrize(("death", "how"), [(kill, r"SIGKILL.*memory"), (fault, "SIGSEGV"), (leave, "EXIT")])
def test_a_dying_process_is_one_line(death: Callable[[int], None], how: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ExecutionError, match=f"a worker process ended during a computation .*{how}"):
        results(Local(workers=2), death, 1, 2)
    assert capfd.readouterr().err == ""
    assert results(Local(workers=2), squared, 3) == [9]


def processes_on_three_cores(workers: int) -> int:
    with patch("joblib.cpu_count", lambda: 3):
        return Local(workers=workers or None).at_once(100.0)


def test_workers_start_no_processes_unless_asked() -> None:
    assert processes_on_three_cores(0) == 3
    assert sorted(results(Local(workers=2), processes_on_three_cores, 0, 3)) == [1, 3]


@pytest.mark.parametrize(("gibibytes", "workers"), [(0.1, 1), (1.2, 2), (64, 3)])
@pytest.mark.parametrize(("group", "file"), [("0::/job", "memory.max"), ("4:memory:/job", "memory.limit_in_bytes")])
def test_workers_fit_into_the_memory_limit(
    gibibytes: float, workers: int, group: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / group.split(":")[1] / "job"
    folder.mkdir(parents=True)
    (folder / file).write_text(f"{round(gibibytes * 2**30)}\n")
    (tmp_path / "groups").write_text(f"1:cpu:/\n{group}\n")
    (tmp_path / "meminfo").write_text("MemAvailable:   90000000 kB\n")
    monkeypatch.setattr(local, "GROUP_FOLDER", str(tmp_path))
    monkeypatch.setattr(local, "GROUP_FILE", tmp_path / "groups")
    monkeypatch.setattr(local, "MEMORY_FILE", tmp_path / "meminfo")
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PHYS_PAGES": 2**26, "SC_PAGE_SIZE": 2**12}[name])
    assert processes_on_three_cores(0) == workers


LEAKING = """
from joblib import delayed
from joblib.externals.loky.backend import resource_tracker
from pomrl.execution import Local

with Local(workers=2).parallel(100.0) as parallel:
    list(parallel(delayed(abs)(number) for number in range(2)))
resource_tracker.register("/no-such-semaphore", "semlock")
"""


def test_leaked_semaphores_are_removed_silently() -> None:
    assert subprocess.run([sys.executable, "-c", LEAKING], capture_output=True, check=True).stderr == b""
