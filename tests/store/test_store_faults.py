"""What the store does when processes are killed or interrupted and disks are full, with real processes and signals.

Whatever moment is hit, the result has to be the same.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.cluster import HANG
from tests.support.computed import call
from tests.support.settings import ROOT

from pomrl.commands import run as command_of_run
from pomrl.store import manifest

pytestmark = pytest.mark.slow

SETTINGS = ["T=6", "S=6"]
RUNS = 300

KILLED_AT_A_FLUSH = """
import os, signal, sys
flushes, fsync = 0, os.fsync
def fatal(descriptor):
    global flushes
    flushes += 1
    if flushes == {count}:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(descriptor)
os.fsync = fatal
from pomrl.commands import run
run.main()
"""


def start(outputs: Path, *arguments: str, **options: object) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(outputs.parent), *sys.path])
    environment = {**os.environ, "POMRL_OUTPUTS": str(outputs), "PYTHONPATH": path}
    command = [sys.executable, "-m", "src.run", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT, "env": environment}
    return subprocess.Popen(command, **{**pipes, **options})  # type: ignore[call-overload]


def run(outputs: Path, *arguments: str) -> tuple[int, str, str]:
    """Call the command in this process, where nothing kills it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(outputs))
        return call(command_of_run, *arguments)


def blocks(outputs: Path) -> dict[str, bytes]:
    """Content of all blocks, by the folder and name of each; nothing else may lie about."""
    left = [path.name for path in outputs.glob("runs/*/.*.tmp")]
    assert left == []
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in sorted(outputs.glob("runs/*/*.parquet"))}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The blocks of all runs, computed without a fault."""
    outputs = tmp_path_factory.mktemp("unbroken") / "outputs"
    status, _, err = run(outputs, *SETTINGS, f"runs={RUNS}")
    assert status == 0, err
    return blocks(outputs)


def test_a_run_that_is_killed_ten_times_ends_with_the_bytes_of_an_unbroken_one(
    tmp_path: Path, unbroken: dict[str, bytes]
) -> None:
    moments = random.Random(0)
    for _ in range(10):
        process = start(tmp_path / "outputs", *SETTINGS, f"runs={RUNS}")
        time.sleep(0.5 + 0.7 * moments.random())
        process.kill()
        process.communicate()
    status, _, err = run(tmp_path / "outputs", *SETTINGS, f"runs={RUNS}")
    assert status == 0, err
    assert blocks(tmp_path / "outputs") == unbroken


@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_a_process_that_is_killed_inside_a_write_loses_only_that_block(
    tmp_path: Path, unbroken: dict[str, bytes], count: int
) -> None:
    """Flushes: 1 the list of blocks, 2 the configuration, 3 the manifest, then one for each block."""
    environment = {**os.environ, "POMRL_OUTPUTS": str(tmp_path / "outputs")}
    command = [sys.executable, "-c", KILLED_AT_A_FLUSH.format(count=count), *SETTINGS, f"runs={RUNS}"]
    killed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    status, _, err = run(tmp_path / "outputs", *SETTINGS, f"runs={RUNS}")
    finished = max(0, count - 5)
    assert status == 0
    assert f"{RUNS - 50 * finished} of {RUNS - 50 * finished} runs" in err
    assert blocks(tmp_path / "outputs") == unbroken


def test_two_processes_on_one_run_at_once_both_end_well(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    together = [start(tmp_path / "outputs", *SETTINGS, f"runs={runs}") for runs in (110, RUNS, RUNS)]
    for process in together:
        out, err = process.communicate(timeout=HANG)
        assert process.returncode == 0, err
        assert out.startswith(str(tmp_path))
    assert blocks(tmp_path / "outputs") == unbroken


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_ends_long_before_the_last_block_and_keeps_finished_blocks(tmp_path: Path, workers: str) -> None:
    arguments = [f"execution.workers={workers}", "runs=100000"]
    process = start(tmp_path / "outputs", *arguments, start_new_session=True)
    while len(blocks_listed(tmp_path / "outputs")) < 3:
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert any("the same command goes on" in line for line in err.splitlines())
    assert "Traceback" not in err
    assert 3 <= len(blocks_listed(tmp_path / "outputs")) < 1000


def blocks_listed(outputs: Path) -> list[str]:
    return [line for listed in outputs.glob("runs/*/blocks.jsonl") for line in listed.read_text().splitlines()]


def limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))


def test_a_full_disk_is_one_line_and_what_was_complete_stays(tmp_path: Path, unbroken: dict[str, bytes]) -> None:
    """A limit on the size of files stands for the full disk: the write of a block fails in the same way."""
    run(tmp_path / "outputs", *SETTINGS, "runs=50")
    before = blocks(tmp_path / "outputs")
    process = start(tmp_path / "outputs", *SETTINGS, f"runs={RUNS}", preexec_fn=limit_file_size)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    assert "File too large" in err
    assert "Traceback" not in err
    assert blocks(tmp_path / "outputs") == before
    assert run(tmp_path / "outputs", *SETTINGS, f"runs={RUNS}")[0] == 0
    assert blocks(tmp_path / "outputs") == unbroken


def test_what_was_stored_but_not_closed_is_closed_without_computing(tmp_path: Path) -> None:
    """An experiment is not closed if the process is killed after the last block, or if its configuration is gone."""
    _, out, _ = run(tmp_path / "outputs", *SETTINGS, "runs=60")
    folder = Path(out.strip())
    before = blocks(tmp_path / "outputs")
    closed = manifest.read(folder)
    manifest.write(folder, replace(closed, status="incomplete"))
    (folder / "config.yaml").unlink()
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=60")
    assert status == 0
    assert "/60 runs" not in err
    assert json.loads((folder / "manifest.json").read_text())["status"] == "complete"
    assert (folder / "config.yaml").exists()
    assert blocks(tmp_path / "outputs") == before


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file in place of the folder: unlike permissions, that stops root as well."""
    (tmp_path / "outputs").write_text("")
    status, _, err = run(tmp_path / "outputs", *SETTINGS, "runs=2")
    assert status == 1
    assert len(err.splitlines()) == 1
    assert str(tmp_path / "outputs") in err


FAILING = """
from pomrl.components import RegularisedLeastSquares

class Failing(RegularisedLeastSquares):
    def prior_model(self, memory, batch, truth):
        if memory.tasks == 2:
            raise RuntimeError("no prior in task 3")
        return super().prior_model(memory, batch, truth)
"""


def test_a_failing_job_does_not_end_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_component.py").write_text(FAILING)
    monkeypatch.syspath_prepend(tmp_path)
    options = tmp_path / "my_conf" / "estimator"
    options.mkdir(parents=True)
    (options / "failing.yaml").write_text("_target_: my_component.Failing\nmixing: 0.5\n")
    sweep = ["-m", *SETTINGS, "runs=60", "estimator=pomrl,failing,oracle", "--config-dir", str(options.parent)]
    status, out, err = run(tmp_path / "outputs", *sweep)
    assert status == 1
    folders = [Path(line) for line in out.splitlines()]
    statuses = [json.loads((folder / "manifest.json").read_text())["status"] for folder in folders]
    assert statuses == ["complete", "failed", "complete"]
    assert "RuntimeError: no prior in task 3" in (folders[1] / "run.log").read_text()
    assert "Traceback" in (folders[1] / "run.log").read_text()
    assert "Traceback" not in err
    assert "failing" in err.partition("failed")[2]
