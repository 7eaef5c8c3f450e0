"""Real processes for tests of execution: Dask schedulers, workers, and the command.

Other users of this machine can reach the ports of a scheduler, so it requires certificates. Tests give them to Dask as
users do: by environment variables.
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
"""The time limit of waiting, in seconds; far more than any test needs on a busy machine."""

COMPONENTS = '''
import os, signal, time
from pathlib import Path
from pomrl.components import RegularisedLeastSquares
from pomrl.science.tasks.random_chains import Dirichlet


class Slow(RegularisedLeastSquares):
    """Sleep in each task."""

    def learn(self, memory, batch):
        time.sleep(0.1)
        return super().learn(memory, batch)


class Gated(RegularisedLeastSquares):
    """Hold blocks of 20 runs while the folder `gate` exists, and write the process id into it."""

    def learn(self, memory, batch):
        gate = Path(__file__).with_name("gate")
        if len(batch.P_bar) == 20 and gate.exists():
            (gate / str(os.getpid())).touch()
            while gate.exists():
                time.sleep(0.02)
        return super().learn(memory, batch)


class Poison(Dirichlet):
    """Kill each process that draws tasks; the driver only checks means."""

    def draw_tasks(self, rng, mean, tasks):
        os.kill(os.getpid(), signal.SIGKILL)
'''


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a folder with slow, waiting and process-killing components and their options."""
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


def environment(*paths: Path, **variables: str) -> dict[str, str]:
    """Return an environment with these folders and the repository as path."""
    inherited = {key: value for key, value in os.environ.items() if key not in ("POMRL_OUTPUTS", "HYDRA_FULL_ERROR")}
    return inherited | {"PYTHONPATH": os.pathsep.join(map(str, (*paths, ROOT / "src")))} | variables


def driver(outputs: Path, *arguments: str, paths: tuple[Path, ...] = ()) -> subprocess.Popen[str]:
    """Start the command in a new process group."""
    command = [sys.executable, "-m", "src.run", *(f"--config-dir={path}/options" for path in paths[:1]), *arguments]
    variables = environment(*paths, POMRL_OUTPUTS=str(outputs))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def end(process: subprocess.Popen[str]) -> None:
    """Kill the group of a process."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def blocks(outputs: Path) -> dict[str, bytes]:
    """Return the content of all stored tables by path."""
    return {str(path.relative_to(outputs)): path.read_bytes() for path in sorted(outputs.rglob("*.parquet"))}


def until(happened: Callable[[], object], timeout: float = HANG) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not hold after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.05)


@dataclass
class Cluster:
    """A Dask scheduler on loopback and its workers, with certificates."""

    folder: Path
    scheduler: subprocess.Popen[str]
    options: tuple[str, ...]
    """The options of each worker."""
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The scheduler file."""
        return self.folder / "scheduler.json"

    @property
    def address(self) -> str:
        return json.loads(self.file.read_text())["address"]

    def add_worker(self, *paths: Path) -> None:
        """Start a worker; by default, its nanny restarts it when it dies."""
        arguments = ["worker", self.address, "--no-dashboard", f"--local-directory={self.folder}", *self.options]
        self.workers.append(silent(ROOT, environment(*paths), *arguments))

    def wait_for_workers(self, number: int) -> None:
        """Wait for a number of workers."""
        with Client(self.address, timeout=HANG) as client:
            client.wait_for_workers(number, timeout=HANG)


def _is_json(path: Path) -> bool:
    """Return whether a file exists and is complete JSON."""
    try:
        json.loads(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False
    return True


def silent(folder: Path, variables: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Start a command of Dask in a new process group, without output."""
    null = subprocess.DEVNULL
    command = [sys.executable, "-m", "dask", *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=variables, stdout=null, stderr=null, text=True, start_new_session=True
    )


@cache
def _folder_of_certificates() -> tempfile.TemporaryDirectory[str]:
    """Make a self-signed certificate for all roles, as in docs/cluster.md."""
    folder = tempfile.TemporaryDirectory(prefix="certificates-")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder.name, check=True, capture_output=True)
    return folder


def certificates() -> dict[str, str]:
    """Return the variables for certificates in Dask; empty without OpenSSL."""
    if not shutil.which("openssl"):
        print("openssl is not installed: others can use the schedulers of these tests", file=sys.stderr)
        return {}
    folder, prefix = _folder_of_certificates().name, "DASK_DISTRIBUTED__COMM__"
    files = {"CERT": f"{folder}/cert.pem", "KEY": f"{folder}/key.pem"}
    roles = ("SCHEDULER", "WORKER", "CLIENT")
    variables = {f"{prefix}TLS__{role}__{kind}": path for role in roles for kind, path in files.items()}
    return variables | {f"{prefix}TLS__CA_FILE": f"{folder}/cert.pem", f"{prefix}REQUIRE_ENCRYPTION": "True"}


@contextmanager
def configured(**variables: str) -> Iterator[None]:
    """Configure Dask by environment variables, in this process and its children."""
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
    """Start a cluster with these folders on its path, and configure Dask."""
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
