"""The command with jobs of a real Slurm, where there is one; docs/cluster.md has a recipe for one machine."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.support.cluster import HANG, blocks, components, driver, run, until

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=200")
"""8 blocks of a third of a second each."""


def no_slurm() -> str | None:
    """Return why there is no Slurm to test with, or None if there is one."""
    if not shutil.which("sinfo"):
        return "Slurm is not installed"
    asked = subprocess.run(["sinfo", "--noheader", "--format=%t"], capture_output=True, text=True)
    return None if asked.returncode == 0 and asked.stdout.strip() else "no controller of Slurm answers"


pytestmark = pytest.mark.skipif(no_slurm() is not None, reason=str(no_slurm()))


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    (tmp_path / "faults").mkdir()
    return components(tmp_path / "faults")


@pytest.fixture
def slurm(tmp_path: Path) -> list[str]:
    return ["execution=slurm", f"execution.folder={tmp_path}/slurm", "execution.memory=1GB", "execution.array_size=2"]


def queued(states: str = "all") -> list[str]:
    """Return the ids of our jobs in these states; by default of all that wait, run or are being ended."""
    command = ["squeue", "--noheader", "--array", "--name=pomrl", f"--states={states}", "--format=%i %T"]
    asked = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    return [line.split()[0] for line in asked if line.endswith(("PENDING", "RUNNING", "COMPLETING"))]


def test_bytes_are_those_of_one_process_and_nothing_is_left(slurm: list[str], tmp_path: Path) -> None:
    sweep = ("-m", "sigma=0.01,0.02", "estimator=ada_pomrl,oracle", "T=3", "runs=120")
    assert run(tmp_path / "one", *sweep)[0] == 0
    status, _, err = run(tmp_path / "slurm-outputs", *sweep, *slurm)
    assert status == 0, err
    assert blocks(tmp_path / "slurm-outputs") == blocks(tmp_path / "one")
    assert list((tmp_path / "slurm").iterdir()) == []
    assert queued() == []


def test_a_job_that_is_cancelled_loses_nothing(slurm: list[str], faults: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "one", *SLOW, paths=(faults,))[0] == 0
    process = driver(tmp_path / "outputs", *SLOW, *slurm, paths=(faults,))
    until(lambda: blocks(tmp_path / "outputs"))
    subprocess.run(["scancel", queued()[0]], check=True)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    assert blocks(tmp_path / "outputs") == blocks(tmp_path / "one")


def test_a_job_that_is_put_back_into_the_queue_goes_on_from_there(
    slurm: list[str], faults: Path, tmp_path: Path
) -> None:
    """Slurm requeues a job when its node fails or a job of higher priority needs it."""
    assert run(tmp_path / "one", *SLOW, paths=(faults,))[0] == 0
    process = driver(tmp_path / "outputs", *SLOW, *slurm, paths=(faults,))
    until(lambda: len(blocks(tmp_path / "outputs")) > 2)
    job = queued("running")[0]
    subprocess.run(["scontrol", "requeue", job], check=True)
    until(lambda: job in queued("pending"))
    subprocess.run(["scontrol", "update", f"jobid={job}", "starttime=now"], check=True)  # and not in two minutes
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 0, err
    assert blocks(tmp_path / "outputs") == blocks(tmp_path / "one")


def test_the_warning_that_the_time_of_a_job_ends_ends_nothing(slurm: list[str], faults: Path, tmp_path: Path) -> None:
    process = driver(tmp_path, *SLOW, *slurm, paths=(faults,))
    until(lambda: blocks(tmp_path))
    while process.poll() is None:
        for job in queued("running"):
            subprocess.run(["scancel", "--signal=USR2", job], capture_output=True)
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert "0 failed" in err
    assert [path.read_text().count("Error") for path in tmp_path.rglob("run.log")] == [0, 0]


def test_a_job_that_lacks_code_says_so(slurm: list[str], faults: Path, tmp_path: Path) -> None:
    only_here = tmp_path / "only-here"
    faults.rename(only_here)
    process = driver(tmp_path / "outputs", *SLOW, *slurm, "execution.tries=1", paths=(only_here,))
    until(queued)
    (only_here / "faults.py").unlink()
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    failed = err.rpartition("\nfailed ")[2]
    assert "ModuleNotFoundError" in failed
    assert "'faults'" in failed


def test_a_block_that_kills_its_jobs_fails_and_the_others_finish(
    slurm: list[str], faults: Path, tmp_path: Path
) -> None:
    arguments = ("-m", "task_distribution=dirichlet,poison", "sigma=0.01,0.02", "T=3", "runs=50")
    status, _, err = run(tmp_path / "outputs", *arguments, *slurm, "execution.tries=2", paths=(faults,))
    assert status == 1
    assert "poison" in err.rpartition("\nfailed ")[2]
    assert "dirichlet" not in err.rpartition("\nfailed ")[2]
    assert len(blocks(tmp_path / "outputs")) == 2


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_jobs_are_cancelled_where_the_command_is_ended(
    sent: signal.Signals, status: int, slurm: list[str], faults: Path, tmp_path: Path
) -> None:
    process = driver(tmp_path / "outputs", *SLOW, *slurm, paths=(faults,))
    until(lambda: blocks(tmp_path / "outputs"))
    os.kill(process.pid, sent)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == status
    assert err.splitlines()[-1].endswith("finished blocks are stored, and the same command goes on from them")
    assert "Traceback" not in err
    until(lambda: not queued())


def test_a_partition_that_does_not_exist_is_one_line(slurm: list[str], tmp_path: Path) -> None:
    status, _, err = run(tmp_path / "outputs", "T=3", *slurm, "execution.partition=nowhere")
    assert status == 1
    assert err.splitlines()[-1].startswith("execution=slurm: ")
    assert "partition" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert list((tmp_path / "slurm").iterdir()) == []
