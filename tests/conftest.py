import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_limits

# The threads of BLAS wait for one another actively: beside other tests they take several times the work of one thread.
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # in libraries that are loaded later, and in processes that tests start
threadpool_limits(limits=1, user_api="blas")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts its background jobs so, and every process that a test interrupts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with slow files, a minute or two each, so that no worker is left alone with one of them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="module", autouse=True)
def no_workers_are_left() -> Iterator[None]:
    """Processes that joblib keeps for the next use have the environment, and so the outputs, of their start."""
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that a test starts print an error as one line, also after another test ran a command in this process."""
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)


@pytest.fixture
def call_main(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, list[str], str]]:
    """Return a function that calls the `main` of a command with the arguments of a command line.

    It returns the exit status, the lines on standard output and the text on standard error.
    """

    def call(main: Callable[[], None], *arguments: str) -> tuple[int, list[str], str]:
        monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
        monkeypatch.setattr(sys, "argv", ["command", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return int(end.value.code or 0), printed.out.splitlines(), printed.err

    return call


@pytest.fixture
def empty_outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Use an empty folder for outputs, and return it."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    return tmp_path
