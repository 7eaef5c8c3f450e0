"""The engine of this machine maps a function over items; Dask has a test module of its own."""

import os
import signal
from collections.abc import Callable

import pytest

from pomrl.execution import ExecutionError, Local

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


@pytest.mark.parametrize("workers", [1, 2, None])
def test_every_item_comes_back_once_with_its_index(workers: int | None) -> None:
    results = Local(workers=workers).map_unordered(squared, range(3, 20), 100.0)
    assert sorted(results) == [(index, number**2) for index, number in enumerate(range(3, 20))]


def test_little_work_is_done_in_this_process() -> None:
    assert dict(Local().map_unordered(process, [1], 0.0)) == {0: os.getpid()}
    assert dict(Local(workers=2).map_unordered(process, [1], 0.0)) != {0: os.getpid()}


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised(workers: int) -> None:
    with pytest.raises(ValueError, match="not 7"):
        list(Local(workers=workers).map_unordered(failing, [7], 0.0))


@pytest.mark.parametrize(("death", "how"), [(kill, r"SIGKILL.*memory"), (fault, "SIGSEGV"), (leave, "EXIT")])
def test_a_process_that_dies_ends_the_work_in_one_line(
    death: Callable[[int], None], how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ExecutionError, match=f"a process ended while it computed, .*{how}"):
        list(Local(workers=2).map_unordered(death, [1, 2], 0.0))
    assert capfd.readouterr().err == ""
    assert dict(Local(workers=2).map_unordered(squared, [3], 0.0)) == {0: 9}
