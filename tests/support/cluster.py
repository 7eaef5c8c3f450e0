"""Real processes for the tests of the engines: a scheduler and workers of Dask, and the command as a driver.

Other users of this machine can reach the ports of a scheduler, which asks for certificates, therefore. Tests find them
where users give them to Dask: in its configuration, by the environment.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from unittest import mock

import dask.config
import pytest
from distributed import Client
from tests.support.settings import ROOT

HANG = 900
"""Seconds after which a test stops waiting and fails; far more than any test needs on a busy machine."""

COMPONENTS = '''
import os, signal, time
from pathlib import Path
from pomrl.components import RegularisedLeastSquares
from pomrl.science.tasks.random_chains import Dirichlet


class Slow(RegularisedLeastSquares):
    """Takes its time."""

    def learn(self, memory, batch):
        time.sleep(0.1)
        return super().learn(memory, batch)


class Gated(RegularisedLeastSquares):
    """Waits with blocks of 20 runs as long as there is a folder `gate` beside this module, where it leaves its id."""

    def learn(self, memory, batch):
        gate = Path(__file__).with_name("gate")
        if len(batch.P_bar) == 20 and gate.exists():
            (gate / str(os.getpid())).touch()
            while gate.exists():
                time.sleep(0.02)
        return super().learn(memory, batch)


class Poison(Dirichlet):
    """Kills whoever draws from it, but for the driver, which checks its means."""

    def draw_tasks(self, rng, mean, tasks):
        os.kill(os.getpid(), signal.SIGKILL)
'''


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with estimators that are slow or wait, a task distribution that kills its process, and their options."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "faults.py").write_text(COMPONENTS)
    for group, name, base in (
        ("estimator", "Slow", "ada_pomrl"),
        ("estimator", "Gated", "ada_pomrl"),
        ("task_distribution", "Poison", "dirichlet"),
    ):
        (folder / "options" / group).mkdir(parents=True, exist_ok=True)
        option = f"defaults: [{base}, _self_]\n_target_: faults.{name}\n"
        (folder / "options" / group / f"{name.lower()}.yaml").write_text(option)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
        sys.modules.pop("faults", None)


def environment(*paths: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process that finds modules in these folders first, and then in this repository."""
    kept = {key: value for key, value in os.environ.items() if key not in ("POMRL_OUTPUTS", "HYDRA_FULL_ERROR")}
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, (*paths, ROOT / "src")))} | more


def driver(outputs: Path, *arguments: str, paths: tuple[Path, ...] = ()) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, so that a test can end it with all that it started."""
    command = [sys.executable, "-m", "src.run", *(f"--config-dir={path}/options" for path in paths[:1]), *arguments]
    of_process = environment(*paths, POMRL_OUTPUTS=str(outputs))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, env=of_process, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def blocks(outputs: Path) -> dict[str, bytes]:
    """Return the content of all stored tables, by their paths."""
    return {str(path.relative_to(outputs)): path.read_bytes() for path in sorted(outputs.rglob("*.parquet"))}


def until(happened: Callable[[], object], timeout: float = HANG) -> None:
    """Wait until something has happened. TimeoutError if it does not."""
    deadline = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.05)


@dataclass
class Cluster:
    """A scheduler of Dask on loopback, and its workers, which use the certificates of the environment."""

    folder: Path
    scheduler: subprocess.Popen[str]
    options: tuple[str, ...]
    """How each worker is started."""
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The file in which the scheduler describes itself."""
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return json.loads(self.file.read_text())["address"]

    def add_worker(self, *paths: Path) -> None:
        """Start a worker, which its nanny starts again when it dies, unless an option says otherwise."""
        arguments = ["worker", self.address, "--no-dashboard", f"--local-directory={self.folder}", *self.options]
        self.workers.append(silent(ROOT, environment(*paths), *arguments))

    def wait_for_workers(self, number: int) -> None:
        """Wait until so many workers have joined."""
        with Client(self.address, timeout=HANG) as client:
            client.wait_for_workers(number, timeout=HANG)


def _is_json(path: Path) -> bool:
    """Return whether a file is there and has been written to its end."""
    try:
        json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return True


def silent(folder: Path, of_process: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Start Dask's own command in a process group of its own."""
    null = subprocess.DEVNULL
    command = [sys.executable, "-m", "dask", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=of_process, stdout=null, stderr=null, text=True, start_new_session=True
    )


@cache
def _folder_of_certificates() -> tempfile.TemporaryDirectory[str]:
    """Make an authority's certificate that is also that of everybody, as docs/cluster.md does for a trial."""
    folder = tempfile.TemporaryDirectory(prefix="certificates-")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder.name, check=True, capture_output=True)
    return folder


def certificates() -> dict[str, str]:
    """Return the environment with which Dask uses certificates for everything; empty without OpenSSL."""
    if not shutil.which("openssl"):
        print("openssl is not installed: others can use the schedulers of these tests", file=sys.stderr)
        return {}
    folder, prefix = _folder_of_certificates().name, "DASK_DISTRIBUTED__COMM__"
    both = {"CERT": f"{folder}/cert.pem", "KEY": f"{folder}/key.pem"}
    roles = ("SCHEDULER", "WORKER", "CLIENT")
    of_roles = {f"{prefix}TLS__{role}__{kind}": path for role in roles for kind, path in both.items()}
    return of_roles | {f"{prefix}TLS__CA_FILE": f"{folder}/cert.pem", f"{prefix}REQUIRE_ENCRYPTION": "True"}


@contextmanager
def configured(**variables: str) -> Iterator[None]:
    """Configure Dask by the environment, in this process and in those that it starts."""
    try:
        with mock.patch.dict(os.environ, variables):
            dask.config.refresh()
            yield
    finally:
        dask.config.refresh()


@contextmanager
def cluster(
    folder: Path, *paths: Path, workers: int = 2, options: tuple[str, ...] = ("--nthreads=1",)
) -> Iterator[Cluster]:
    """Start a cluster whose workers find modules in these folders first, and configure Dask for its certificates."""
    folder.mkdir()
    with configured(**certificates()):
        host = "tls://127.0.0.1" if certificates() else "tcp://127.0.0.1"
        arguments = ["scheduler", f"--host={host}", "--port=0", "--no-dashboard", "--scheduler-file=scheduler.json"]
        started = Cluster(folder, silent(folder, environment(), *arguments), options)
        try:
            until(lambda: _is_json(started.file))
            for _ in range(workers):
                started.add_worker(*paths)
            if workers:
                started.wait_for_workers(workers)
            yield started
        finally:
            for process in (*started.workers, started.scheduler):
                end(process)
