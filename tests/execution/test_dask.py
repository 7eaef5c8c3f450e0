"""The command on a real scheduler and real workers of Dask, and what happens when some of them die."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import dask.config
import pytest
from tests.support import cluster as real
from tests.support.cluster import HANG, Cluster, blocks, driver, end, until
from tests.support.cluster import faults as faults
from tests.support.computed import call

from pomrl.commands import run as command

pytestmark = pytest.mark.slow

GATED = ("-m", "sigma=0.01,0.02", "estimator=gated", "T=2", "S=4", "runs=220")
"""Two blocks that do not wait, and two that wait as long as there is a gate."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, faults: Path) -> Iterator[Cluster]:
    """Yield a cluster of two workers, in which two that die are enough for a block to fail."""
    with (
        real.configured(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1"),
        real.cluster(tmp_path_factory.mktemp("cluster") / "dask", faults) as started,
    ):
        yield started


@pytest.fixture(scope="module")
def empty_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Yield a cluster without workers; nobody starts one again, which saves a process that would import Dask."""
    with real.cluster(
        tmp_path_factory.mktemp("empty") / "dask", workers=0, options=("--nthreads=1", "--no-nanny")
    ) as started:
        yield started


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, faults: Path) -> dict[str, bytes]:
    """Return the stored bytes of the sweep that may wait, computed in one process."""
    outputs = tmp_path_factory.mktemp("unbroken")
    status, _, err = call_in_process(outputs, *GATED, "execution.workers=1", paths=(faults,))
    assert status == 0, err
    actual = blocks(outputs)
    assert len(actual) == 4
    return actual


@pytest.fixture
def gate(faults: Path) -> Iterator[Path]:
    """Close the gate before the blocks that wait, and open it at the end."""
    folder = faults / "gate"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def call_in_process(outputs: Path, *arguments: str, paths: tuple[Path, ...] = ()) -> tuple[int, str, str]:
    """Call the command in this process; return its status, output and messages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(outputs))
        return call(command, *(f"--config-dir={path}/options" for path in paths), *arguments)


def cluster_options(cluster: Cluster, *options: str) -> list[str]:
    return ["execution=dask", f"execution.address={cluster.address}", *(f"execution.{option}" for option in options)]


def until_two_wait(gate: Path, outputs: Path) -> None:
    """Wait until both workers wait at the gate, and another block is stored."""
    until(lambda: len(list(gate.iterdir())) == 2 and len(blocks(outputs)) >= 1)


def test_bytes_are_those_of_one_process(
    cluster: Cluster, faults: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    """The scheduler is found where Dask's own configuration names it, and where an option names its file."""
    for name, configured, options in (
        ("configured", cluster.address, []),
        ("named", "tls://127.0.0.1:9", [f"execution.address={cluster.file}"]),
    ):
        with real.configured(DASK_SCHEDULER_ADDRESS=configured):
            status, _, err = call_in_process(tmp_path / name, *GATED, "execution=dask", *options, paths=(faults,))
        assert status == 0, err
        assert blocks(tmp_path / name) == unbroken


def test_a_worker_that_is_killed_loses_nothing(
    cluster: Cluster, faults: Path, gate: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    process = driver(tmp_path, *GATED, *cluster_options(cluster), paths=(faults,))
    until_two_wait(gate, tmp_path)
    os.kill(int(next(gate.iterdir()).name), signal.SIGKILL)
    shutil.rmtree(gate)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    assert blocks(tmp_path) == unbroken


def test_a_deadly_block_is_one_line(cluster: Cluster, faults: Path, tmp_path: Path) -> None:
    arguments = ("task_distribution=poison", "T=2", "S=4", "runs=50")
    status, _, err = call_in_process(tmp_path, *arguments, *cluster_options(cluster), paths=(faults,))
    assert status == 1
    assert err.splitlines()[-1].startswith(
        "a block of runs killed each of the 2 workers that computed it; any finished blocks"
    )


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_an_ended_driver_can_start_again(
    ended_by: signal.Signals, cluster: Cluster, faults: Path, gate: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    process = driver(tmp_path, *GATED, *cluster_options(cluster), paths=(faults,))
    until_two_wait(gate, tmp_path)
    os.killpg(process.pid, ended_by)  # as a terminal does
    _, err = process.communicate(timeout=HANG)
    shutil.rmtree(gate)
    if ended_by == signal.SIGINT:
        assert process.returncode == 130
        assert err.splitlines()[-1].startswith("interrupted; any finished blocks are stored")
    assert "Traceback" not in err
    assert 1 <= len(blocks(tmp_path)) <= 2
    status, _, err = call_in_process(tmp_path, *GATED, *cluster_options(cluster), paths=(faults,))
    assert status == 0, err
    assert blocks(tmp_path) == unbroken


def other_versions(folder: Path) -> Path:
    """Return a folder with a changed copy of the code, in which NumPy's metadata name another version."""
    (folder / "numpy-9.9.9.dist-info").mkdir(parents=True)
    (folder / "numpy-9.9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 9.9.9\n")
    shutil.copytree(real.ROOT / "src" / "pomrl", folder / "pomrl")
    shutil.copytree(real.ROOT / "src" / "hydra_plugins", folder / "hydra_plugins")
    with (folder / "pomrl" / "science" / "experiment.py").open("a") as file:
        file.write("\nCHANGED = True\n")
    return folder


@pytest.mark.filterwarnings("ignore::distributed.versions.VersionMismatchWarning")
def test_a_worker_of_other_versions_is_refused(empty_cluster: Cluster, tmp_path: Path) -> None:
    empty_cluster.add_worker(other_versions(tmp_path / "other"))
    empty_cluster.wait_for_workers(1)
    status, _, err = call_in_process(tmp_path / "outputs", "T=2", "S=4", "runs=60", *cluster_options(empty_cluster))
    end(empty_cluster.workers.pop())
    assert status == 1
    last = err.splitlines()[-1]
    assert "must have the versions of the driver: numpy " in last
    assert ", got 9.9.9, " in last
    assert "pomrl (code) " in last
    assert blocks(tmp_path / "outputs") == {}


def test_a_lack_of_workers_is_one_line(empty_cluster: Cluster, tmp_path: Path) -> None:
    status, _, err = call_in_process(
        tmp_path / "outputs", "T=2", "S=4", "runs=60", *cluster_options(empty_cluster, "patience=1")
    )
    assert status == 1
    assert err.splitlines()[-1].startswith("Dask has had no worker for 1 s")


def test_certificates_must_match_the_scheduler(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other tests use the same cluster, with the certificates."""
    assert cluster.address.startswith("tls:")
    for name in real.certificates():
        monkeypatch.delenv(name)
    with real.configured():
        status, _, err = call_in_process(tmp_path, "T=2", "S=4", "runs=60", *cluster_options(cluster))
    monkeypatch.undo()
    dask.config.refresh()
    assert status == 1
    (line,) = err.splitlines()
    message = f"execution.address={cluster.address}: no Dask scheduler answers to these certificates; "
    assert line.startswith(message)


def test_a_killed_scheduler_is_one_line(
    cluster: Cluster, faults: Path, gate: Path, empty_cluster: Cluster, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    """It is the last test of the cluster, which has no scheduler afterwards."""
    process = driver(tmp_path, *GATED, *cluster_options(cluster), paths=(faults,))
    until_two_wait(gate, tmp_path)
    end(cluster.scheduler)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    last = err.splitlines()[-1]
    assert "the connection to the Dask scheduler was lost" in last or "no Dask scheduler answers" in last
    assert "finished blocks are stored" in last
    assert "Traceback" not in err
    assert 1 <= len(blocks(tmp_path)) <= 2
    shutil.rmtree(gate)
    empty_cluster.add_worker(faults)  # it gets work although it joins late, as it starts longer than the command
    status, _, err = call_in_process(tmp_path, *GATED, *cluster_options(empty_cluster), paths=(faults,))
    assert status == 0, err
    assert blocks(tmp_path) == unbroken


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", None])
def test_missing_schedulers_are_one_line(address: str | None, tmp_path: Path) -> None:
    status, _, err = call_in_process(
        tmp_path, "T=2", "execution=dask", *([f"execution.address={address}"] if address else [])
    )
    assert (status, err.count("\n")) == (1, 1)
    messages = {
        "tcp://127.0.0.1:9": "execution.address=tcp://127.0.0.1:9: no Dask scheduler answers",
        "nonsense": "execution.address=nonsense: must be tcp://HOST:PORT, tls://HOST:PORT or an existing",
        None: "execution=dask needs a scheduler; set execution.address",
    }
    assert err.startswith(messages[address])


def test_missing_packages_are_named_with_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "pomrl.execution.dask", raising=False)
    status, _, err = call_in_process(tmp_path, "execution=dask")
    assert (status, err.count("\n")) == (1, 1)
    assert "execution=dask needs the packages of pomrl[dask]: pip install 'pomrl[dask]'" in err
