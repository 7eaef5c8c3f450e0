"""The command on a real scheduler and real workers of Dask, and what happens when some of them die."""

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.support import cluster as real
from tests.support.cluster import HANG, Cluster, blocks, driver, end, run, until

pytestmark = pytest.mark.slow

SWEEP = ("-m", "sigma=0.01,0.02", "estimator=ada_pomrl,oracle", "T=3", "runs=120")
SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300")
"""12 blocks of a third of a second each."""


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real.components(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, faults: Path) -> Iterator[Cluster]:
    with real.cluster(tmp_path_factory.mktemp("cluster") / "dask", faults) as dask:
        yield dask


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory, faults: Path) -> dict[str, bytes]:
    """Return the stored bytes of the slow sweep, computed in one process."""
    outputs = tmp_path_factory.mktemp("unbroken")
    assert run(outputs, *SLOW, "execution.workers=1", paths=(faults,))[0] == 0
    return blocks(outputs)


def on(cluster: Cluster, *options: str) -> list[str]:
    return ["execution=dask", f"execution.address={cluster.address}", *(f"execution.{option}" for option in options)]


def test_bytes_are_those_of_one_process(cluster: Cluster, tmp_path: Path) -> None:
    assert run(tmp_path / "one", *SWEEP, "execution.workers=1")[0] == 0
    for name, options in (("sent", []), ("shared", ["shared_outputs=true"])):
        status, _, err = run(tmp_path / name, *SWEEP, *on(cluster, *options))
        assert status == 0, err
        assert blocks(tmp_path / name) == blocks(tmp_path / "one")


def test_a_worker_that_is_killed_loses_nothing(
    cluster: Cluster, faults: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    process = driver(tmp_path, *SLOW, *on(cluster), paths=(faults,))
    until(lambda: blocks(tmp_path))
    os.kill(cluster.pids()[0], signal.SIGKILL)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    assert blocks(tmp_path) == unbroken


def test_a_block_that_kills_its_workers_fails_and_the_others_finish(
    cluster: Cluster, faults: Path, tmp_path: Path
) -> None:
    arguments = ("-m", "task_distribution=dirichlet,poison", "sigma=0.01,0.02", "T=3", "runs=50")
    status, _, err = run(tmp_path, *arguments, *on(cluster), paths=(faults,))
    assert status == 1
    failed = err.rpartition("\nfailed ")[2]
    assert "poison" in failed
    assert "dirichlet" not in failed
    assert len(blocks(tmp_path)) == 2
    logs = [path.read_text() for path in tmp_path.rglob("run.log")]
    assert sum("workers" in log for log in logs) == 2


def test_a_scheduler_that_is_killed_is_an_error_and_a_new_start_goes_on(
    faults: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    with real.cluster(tmp_path / "first", faults) as first:
        process = driver(tmp_path / "outputs", *SLOW, *on(first), paths=(faults,))
        until(lambda: blocks(tmp_path / "outputs"))
        end(first.scheduler)
        _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    last = err.splitlines()[-1]
    assert "the connection to Dask's scheduler is lost" in last or "no scheduler of Dask answers" in last
    assert "finished blocks are stored" in last
    assert "Traceback" not in err
    before = blocks(tmp_path / "outputs")
    assert 0 < len(before) < len(unbroken)
    with real.cluster(tmp_path / "second", faults, workers=0) as second:
        process = driver(tmp_path / "outputs", *SLOW, *on(second), paths=(faults,))
        until(second.has_work)
        second.add_worker(faults)  # a worker that joins late gets work
        _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    assert blocks(tmp_path / "outputs") == unbroken


def test_a_driver_that_is_killed_goes_on_when_it_is_started_again(
    cluster: Cluster, faults: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    process = driver(tmp_path, *SLOW, *on(cluster), paths=(faults,))
    until(lambda: blocks(tmp_path))
    end(process)
    before = blocks(tmp_path)
    assert 0 < len(before) < len(unbroken)
    status, _, err = run(tmp_path, *SLOW, *on(cluster), paths=(faults,))
    assert status == 0, err
    assert blocks(tmp_path) == unbroken


def other_numpy(folder: Path) -> Path:
    """Return a folder in which NumPy's metadata name another version."""
    (folder / "numpy-9.9.9.dist-info").mkdir(parents=True)
    (folder / "numpy-9.9.9.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 9.9.9\n")
    return folder


def other_code(folder: Path) -> Path:
    """Return a folder with a changed copy of the code."""
    shutil.copytree(real.ROOT / "src" / "pomrl", folder / "pomrl")
    shutil.copytree(real.ROOT / "src" / "hydra_plugins", folder / "hydra_plugins")
    with (folder / "pomrl" / "store" / "__init__.py").open("a") as file:
        file.write("\nCHANGED = True\n")
    return folder


@pytest.mark.parametrize(("other", "name"), [(other_numpy, "numpy 9.9.9 there and "), (other_code, "pomrl (code) ")])
def test_a_worker_of_another_version_is_refused(other, name: str, tmp_path: Path) -> None:
    with real.cluster(tmp_path / "dask", other(tmp_path / "other"), workers=1) as dask:
        status, _, err = run(tmp_path / "outputs", "T=3", "runs=60", *on(dask))
    assert status == 1
    assert "has other versions: " in err.splitlines()[-1]
    assert name in err
    assert " here; they have to be the same" in err
    assert blocks(tmp_path / "outputs") == {}


def test_no_worker_for_too_long_is_an_error(tmp_path: Path) -> None:
    with real.cluster(tmp_path / "dask", workers=0) as dask:
        status, _, err = run(tmp_path / "outputs", "T=3", "runs=60", *on(dask, "patience=1"))
    assert status == 1
    assert err.splitlines()[-1].startswith("Dask has had no worker for 1 s")


@pytest.fixture(params=["nobody", "something else", "no address"])
def not_a_scheduler(request: pytest.FixtureRequest) -> Iterator[str]:
    """Yield an address where no scheduler answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), WebPage) as web:
        Thread(target=web.serve_forever, daemon=True).start()
        yield {
            "nobody": "tcp://127.0.0.1:9",
            "something else": f"tcp://127.0.0.1:{web.server_port}",
            "no address": "nonsense",
        }[request.param]
        web.shutdown()


class WebPage(BaseHTTPRequestHandler):
    """A web page, such as Dask's own dashboard, which does not understand what a client of Dask sends."""

    def log_message(self, format: str, *_: object) -> None:
        """Say nothing."""


def test_no_scheduler_at_the_address_is_one_line(not_a_scheduler: str, tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "T=3", "execution=dask", f"execution.address={not_a_scheduler}")
    assert status == 1
    (line,) = err.splitlines()
    assert line.startswith(f"execution.address={not_a_scheduler}: no scheduler of Dask answers there; ")


@pytest.mark.parametrize("named", ["address", "file"])
def test_a_scheduler_that_dasks_configuration_or_a_file_names_is_used(
    named: str, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", cluster.address if named == "address" else "tls://127.0.0.1:9")
    options = [] if named == "address" else [f"execution.address={cluster.file}"]
    status, _, err = run(tmp_path, "T=2", "S=4", "runs=60", "execution=dask", *options)
    assert status == 0, err
    assert len(blocks(tmp_path)) == 2


def test_no_scheduler_is_started_where_none_is_named(tmp_path: Path) -> None:
    status, _, err = run(tmp_path, "T=2", "execution=dask")
    assert status == 1
    (line,) = err.splitlines()
    asked = "execution=dask: name a scheduler that runs, with execution.address or in Dask's own configuration; "
    assert line.startswith(asked)


def test_an_interrupt_ends_the_command_and_leaves_the_cluster(
    cluster: Cluster, faults: Path, tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    process = driver(tmp_path, *SLOW, *on(cluster), paths=(faults,))
    until(lambda: blocks(tmp_path))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith("interrupted; finished blocks are stored")
    assert "Traceback" not in err
    status, _, err = run(tmp_path, *SLOW, *on(cluster), paths=(faults,))
    assert status == 0, err
    assert blocks(tmp_path) == unbroken


def test_without_its_packages_the_option_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from pomrl.commands import run as command

    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "pomrl.execution.dask", raising=False)
    monkeypatch.setattr(sys, "argv", ["run", "execution=dask"])
    with pytest.raises(SystemExit):
        command.main()
    said = capsys.readouterr().err
    assert said == "execution=dask needs the packages of pomrl[dask]: pip install -e '.[dask]'\n"
