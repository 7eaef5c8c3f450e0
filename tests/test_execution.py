"""The local engine maps a function over items; the other engines have test modules of their own."""

import os
import signal

import pytest

from pomrl.execution import ExecutionError, Local


def squared(number: int) -> int:
    return number**2


def failing(number: int) -> int:
    raise ValueError(f"not {number}")


def killed(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("workers", [1, 2, None])
def test_every_item_comes_back_once_with_its_index(workers: int | None) -> None:
    results = Local(workers=workers).map_unordered(squared, range(3, 20), seconds=0.0)
    assert sorted(results) == [(index, number**2) for index, number in enumerate(range(3, 20))]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised(workers: int) -> None:
    with pytest.raises(ValueError, match="not 7"):
        list(Local(workers=workers).map_unordered(failing, [7], seconds=0.0))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_worker_that_is_killed_is_an_error_and_the_next_work_is_done() -> None:
    with pytest.raises(ExecutionError, match="a worker process was killed"):
        list(Local(workers=2).map_unordered(killed, [1, 2, 3], seconds=0.0))
    assert len(list(Local(workers=2).map_unordered(squared, [1, 2, 3], seconds=0.0))) == 3
