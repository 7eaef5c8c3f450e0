"""The processes that a command starts end with it, only this machine reaches them, and frozen ones are given up."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.support import cluster as real
from tests.support.cluster import blocks, driver, end, environment, run, until

from pomrl.execution import Failure, Isolation, Work
from pomrl.execution.dask import Dask

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300", "execution.workers=2")


def freeze_or_square(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    return number**2


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    (tmp_path / "faults").mkdir()
    return real.components(tmp_path / "faults")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the kernel does this on Linux only")
@pytest.mark.parametrize("engine", ["local", "dask"])
def test_workers_end_when_the_driver_is_killed(engine: str, faults: Path, tmp_path: Path) -> None:
    process = driver(tmp_path / "outputs", *SLOW, f"execution={engine}", paths=(faults,))
    try:
        until(lambda: blocks(tmp_path / "outputs"))
        started = psutil.Process(process.pid).children(recursive=True)
        assert len(started) >= 2
        process.kill()  # the driver alone
        until(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in started))
    finally:
        end(process)


def test_a_cluster_that_is_started_here_listens_on_loopback_only(faults: Path, tmp_path: Path) -> None:
    process = driver(tmp_path / "outputs", *SLOW, "execution=dask", paths=(faults,))
    try:
        until(lambda: blocks(tmp_path / "outputs"))
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        sockets = [each for member in family for each in member.net_connections("inet")]
        listening = {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN}
        assert listening == {"127.0.0.1"}
    finally:
        end(process)


def test_a_worker_of_dask_that_freezes_is_killed_and_the_others_go_on() -> None:
    """The other items may take longer than the one that freezes, so that a busy machine changes nothing."""
    work = [Work(number, 0.0, blocks=1 if number == 2 else 1000) for number in range(5)]
    for isolation in (Isolation.PROCESS, Isolation.ALONE):
        results = dict(Dask(workers=2, block_timeout=2.0).map_unordered(freeze_or_square, work, isolation))
        failure = results.pop(2)
        assert results == {0: 0, 1: 1, 3: 9, 4: 16}
        assert isinstance(failure, Failure)
        assert "had not ended after 2 s and was given up (execution.block_timeout)" in failure.reason


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make an authority's certificate, which is also that of everybody, and return Dask's settings for it."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    both = {"CERT": f"{folder}/cert.pem", "KEY": f"{folder}/key.pem"}
    roles = {
        f"{prefix}{role}__{kind}": path for role in ("SCHEDULER", "WORKER", "CLIENT") for kind, path in both.items()
    }
    return roles | {f"{prefix}CA_FILE": f"{folder}/cert.pem", "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}


@pytest.fixture
def encrypted(certificates: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """Yield the address of a scheduler with one worker, which talk with certificates only."""
    of_process = environment(**certificates)
    scheduler = real.silent(
        tmp_path,
        of_process,
        "scheduler",
        "--host=tls://127.0.0.1",
        "--port=0",
        "--no-dashboard",
        "--scheduler-file=s.json",
    )
    until(lambda: (tmp_path / "s.json").exists() and (tmp_path / "s.json").read_text().endswith("}"))
    address = re.findall(r'"address": "(tls://[^"]*)"', (tmp_path / "s.json").read_text())[0]
    worker = real.silent(tmp_path, of_process, "worker", address, "--nthreads=1", "--no-dashboard")
    yield address
    end(worker)
    end(scheduler)


def test_a_scheduler_with_certificates_is_used_with_those_of_dasks_configuration(
    encrypted: str, certificates: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("T=2", "S=4", "runs=60", "execution=dask", f"execution.address={encrypted}")
    status, _, err = run(tmp_path / "without", *arguments)
    assert status == 1
    assert err.splitlines() == [
        f"execution.address={encrypted}: no scheduler of Dask answers there to these certificates"
    ]
    for name, value in certificates.items():
        monkeypatch.setenv(name, value)
    status, _, err = run(tmp_path / "with", *arguments)
    assert status == 0, err
    assert len(blocks(tmp_path / "with")) == 2
