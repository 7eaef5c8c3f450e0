"""Real processes for the tests of the engines: a scheduler and workers of Dask, and the command as a driver."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from distributed import Client
from tests.support.settings import ROOT

BIN = Path(sys.executable).parent

HANG = 900
"""Seconds after which a test stops waiting and fails; far more than any test needs on a busy machine."""

COMPONENTS = '''
import os, signal, time
import numpy as np
from pomrl.components import RegularisedLeastSquares
from pomrl.science.tasks.random_chains import Dirichlet


class Slow(RegularisedLeastSquares):
    """Takes its time."""

    def prior_model(self, memory, batch, truth):
        time.sleep(0.1)
        return super().prior_model(memory, batch, truth)


class Poison(Dirichlet):
    """Kills whoever draws from it, but for the driver, which checks its means."""

    def draw_task(self, rng, mean):
        os.kill(os.getpid(), signal.SIGKILL)
'''


def components(folder: Path) -> Path:
    """Write an estimator that is slow, a task distribution that kills its process, and their options, to a folder."""
    (folder / "faults.py").write_text(COMPONENTS)
    for group, name, base in (("estimator", "Slow", "ada_pomrl"), ("task_distribution", "Poison", "dirichlet")):
        (folder / "options" / group).mkdir(parents=True)
        option = f"defaults: [{base}, _self_]\n_target_: faults.{name}\n"
        (folder / "options" / group / f"{name.lower()}.yaml").write_text(option)
    return folder


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


def run(outputs: Path, *arguments: str, paths: tuple[Path, ...] = (), timeout: float = HANG) -> tuple[int, str, str]:
    """Run the command to its end; return its status, output and messages. TimeoutExpired if it hangs."""
    process = driver(outputs, *arguments, paths=paths)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end(process)
        raise
    return process.returncode, out, err


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
    """A scheduler of Dask on loopback, and its workers."""

    folder: Path
    scheduler: subprocess.Popen[str]
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return json.loads((self.folder / "scheduler.json").read_text())["address"]

    def add_worker(self, *paths: Path) -> None:
        """Start a worker with one thread; its nanny starts it again when it dies."""
        arguments = ["worker", self.address, "--nthreads=1", "--no-dashboard", f"--local-directory={self.folder}"]
        self.workers.append(silent(ROOT, environment(*paths), *arguments))

    def pids(self) -> list[int]:
        """Return the process ids of the workers."""
        with Client(self.address, timeout=HANG) as client:
            by_worker: Any = client.run(os.getpid)
            return list(by_worker.values())

    def has_work(self) -> bool:
        """Return whether the scheduler has work that somebody asked for."""
        with Client(self.address, timeout=HANG) as client:
            count: Any = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
            return count > 0


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
    command = [str(BIN / "dask"), *arguments]
    return subprocess.Popen(
        command, cwd=folder, env=of_process, stdout=null, stderr=null, text=True, start_new_session=True
    )


@contextmanager
def cluster(folder: Path, *paths: Path, workers: int = 2) -> Iterator[Cluster]:
    """Start a cluster whose workers find modules in these folders first."""
    folder.mkdir()
    arguments = ["scheduler", "--host=127.0.0.1", "--port=0", "--no-dashboard", "--scheduler-file=scheduler.json"]
    dask = Cluster(folder, silent(folder, environment(), *arguments))
    try:
        until(lambda: _is_json(folder / "scheduler.json"))
        for _ in range(workers):
            dask.add_worker(*paths)
        if workers:
            with Client(dask.address, timeout=HANG) as client:
                client.wait_for_workers(workers, timeout=HANG)
        yield dask
    finally:
        for process in (*dask.workers, dask.scheduler):
            end(process)
