"""The engine of this machine maps a function over items; the other engines have test modules of their own."""

import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pomrl.execution import Failure, Isolation, Local, Work

pytestmark = pytest.mark.slow


def work(items: Sequence[object], seconds: float = 0.0) -> list[Work]:
    return [Work(item, seconds) for item in items]


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


def close(number: int) -> None:
    os.closerange(3, 256)


def freeze(number: int) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def never_end(number: int) -> None:
    while True:
        time.sleep(1)


def call(function_and_number: tuple[Callable[[int], object], int]) -> object:
    function, number = function_and_number
    return function(number)


@pytest.mark.parametrize("isolation", Isolation)
@pytest.mark.parametrize("workers", [1, 2, None])
def test_every_item_comes_back_once_with_its_index(workers: int | None, isolation: Isolation) -> None:
    results = Local(workers=workers).map_unordered(squared, work(range(3, 20)), isolation)
    assert sorted(results) == [(index, number**2) for index, number in enumerate(range(3, 20))]


def test_little_work_is_done_in_this_process_unless_it_may_kill_it() -> None:
    engine = Local()
    assert dict(engine.map_unordered(process, work([1]), Isolation.NONE)) == {0: os.getpid()}
    for isolation in (Isolation.PROCESS, Isolation.ALONE):
        assert dict(engine.map_unordered(process, work([1]), isolation)) != {0: os.getpid()}
    assert dict(engine.map_unordered(process, work([1], seconds=100.0), Isolation.NONE)) != {0: os.getpid()}


@pytest.mark.parametrize("isolation", Isolation)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_function_raises_is_raised(workers: int, isolation: Isolation) -> None:
    with pytest.raises(ValueError, match="not 7"):
        list(Local(workers=workers).map_unordered(failing, work([7]), isolation))


@pytest.mark.parametrize(
    ("death", "how"), [(kill, r"SIGKILL.*perhaps there was not enough memory"), (fault, "SIGSEGV"), (leave, "EXIT")]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_an_item_that_kills_its_process_loses_only_itself(workers: int, death, how: str) -> None:
    items = [(squared, 1), (death, 2), (squared, 3), (squared, 4), (death, 5), (squared, 6)]
    results = dict(Local(workers=workers).map_unordered(call, work(items)))
    failures = [results.pop(index) for index in (1, 4)]
    assert results == {0: 1, 2: 9, 3: 16, 5: 36}
    for failure in failures:
        assert isinstance(failure, Failure)
        assert re.search(how, failure.reason)


@pytest.mark.parametrize("hang", [freeze, never_end])
@pytest.mark.parametrize("workers", [1, 2])
def test_an_item_that_hangs_is_given_up_and_its_process_is_killed(workers: int, hang) -> None:
    """The other items may take longer than the one that hangs, so that a busy machine changes nothing."""
    items = [Work((squared, 1), 0.0, blocks=1000), Work((hang, 2), 0.0), Work((squared, 3), 0.0, blocks=1000)]
    before = set(children())
    results = dict(Local(workers=workers, block_timeout=2.0).map_unordered(call, items))
    failure = results.pop(1)
    assert results == {0: 1, 2: 9}
    assert isinstance(failure, Failure)
    assert "had not ended after 2 s and was given up (execution.block_timeout)" in failure.reason
    assert set(children()) <= before


def children() -> list[str]:
    """Return the ids of the processes that joblib has started from this one and that are still there."""
    started = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in started if "loky" in command(pid) and "resource_tracker" not in command(pid)]


def command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.parametrize("deed", [fault, close])
def test_a_process_that_crashes_says_nothing_but_its_reason(
    deed: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    (found,) = Local(workers=1).map_unordered(deed, work([0]))
    assert isinstance(found[1], Failure)
    assert re.match(r"its process ended, (SIGSEGV\(-11\)|SIGABRT\(-6\))$", found[1].reason)
    assert capfd.readouterr().err == ""
