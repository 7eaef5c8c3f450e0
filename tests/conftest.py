import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky import get_reusable_executor
from tests.support import shapes
from tests.support.study_folders import inside
from threadpoolctl import threadpool_limits
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

# The threads of BLAS wait for one another actively: beside other tests they take several times the work of one thread.
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # in libraries that are loaded later, and in processes that tests start
threadpool_limits(limits=1, user_api="blas")

# Tests keep every core busy by themselves: processes of joblib, each of which imports the library anew, are started
# only where a test asks for a number of them.
os.environ["LOKY_MAX_CPU_COUNT"] = "1"

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts its background jobs so, and every process that a test interrupts would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Let --force-regen renew the kept files of pytest-regressions without a failure for each of them."""
    if config.getoption("force_regen", default=False):
        config.option.regen_all = True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that have slow tests, so that no worker is left alone with one of them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


TOGETHER = ("tests/drawing", "tests/report")
"""Folders whose tests share figures or outputs that take long to make, and that each worker makes for itself."""


class Scheduling(LoadFileScheduling):
    """Gives a worker the tests of a file, or of one of these folders, at a time."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.partition("::")[0].rpartition("/")[0]
        return folder if folder in TOGETHER else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """Distribute tests over several processes with this scheduling, whatever `--dist` says."""
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return outputs with all simulations, which the first of several processes that asks for them computes for all."""
    from tests.support.shipped import SIMULATIONS  # here, because who only distributes tests needs none

    from pomrl.running.work import store_simulations

    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "simulated"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        store_simulations(SIMULATIONS.values(), print)
    return folder / "outputs"


@pytest.fixture(scope="session")
def simulations(simulated: Path) -> dict[str, Any]:
    """The tables of all simulations. Tests must not change them."""
    from tests.support.shipped import SIMULATIONS

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(simulated))
        return {name: simulation.load() for name, simulation in SIMULATIONS.items()}


@pytest.fixture(scope="module", autouse=True)
def no_workers_are_left() -> Iterator[None]:
    """Processes that joblib keeps for the next use have the environment, and so the outputs, of their start."""
    yield
    get_reusable_executor().shutdown(wait=True)


@pytest.fixture(scope="module", autouse=True)
def no_folder_stays_on_the_path() -> Iterator[None]:
    """Folders of studies that a module's tests make hide nothing from the next module's."""
    before = [*sys.path]
    yield
    sys.path[:] = before


@pytest.fixture(autouse=True)
def shapes_are_checked_anew() -> None:
    """Each test begins with the shapes of its first calls being checked, where shapes are checked at all."""
    shapes.begin()


@pytest.fixture(autouse=True)
def errors_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that a test starts print an error as one line, also after another test ran a command in this process."""
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)


@pytest.fixture
def empty_outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Use an empty folder for outputs, and return it."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    return tmp_path


@pytest.fixture
def cwd(tmp_path: Path) -> Iterator[Path]:
    """Work in an empty folder, in which a folder `mine` is a study that nobody has imported yet."""
    with inside(tmp_path, "mine"):
        yield tmp_path
