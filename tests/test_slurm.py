"""Runs in jobs of a real Slurm, where there is one; docs/cluster.md has a recipe for one on one machine."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cluster import blocks, components, driver, run, until

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=200")
"""8 blocks of a third of a second each."""


def no_slurm() -> str:
    """Why there is no Slurm to test with; empty where there is one."""
    if not shutil.which("sinfo"):
        return "Slurm is not installed"
    asked = subprocess.run(["sinfo", "--noheader", "--format=%t"], capture_output=True, text=True)
    return "" if asked.returncode == 0 and asked.stdout.strip() else "no controller of Slurm answers"


pytestmark = pytest.mark.skipif(bool(no_slurm()), reason=no_slurm())


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    (tmp_path / "faults").mkdir()
    return components(tmp_path / "faults")


@pytest.fixture
def slurm(tmp_path: Path) -> list[str]:
    return ["execution=slurm", f"execution.folder={tmp_path}/slurm", "execution.memory=1GB", "execution.array_size=2"]


def queued() -> list[str]:
    """Our jobs that wait or run."""
    asked = subprocess.run(["squeue", "--noheader", "--array", "--name=pomrl", "--format=%i"], capture_output=True)
    return asked.stdout.decode().split()


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
    _, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert blocks(tmp_path / "outputs") == blocks(tmp_path / "one")


def test_a_block_that_kills_its_jobs_fails_and_the_others_finish(
    slurm: list[str], faults: Path, tmp_path: Path
) -> None:
    arguments = ("-m", "task_distribution=dirichlet,poison", "sigma=0.01,0.02", "T=3", "runs=50")
    status, _, err = run(tmp_path / "outputs", *arguments, *slurm, "execution.tries=2", paths=(faults,), timeout=120)
    assert status == 1
    assert "poison" in err.rpartition("\nfailed ")[2]
    assert "dirichlet" not in err.rpartition("\nfailed ")[2]
    assert len(blocks(tmp_path / "outputs")) == 2


def test_an_interrupt_cancels_the_jobs(slurm: list[str], faults: Path, tmp_path: Path) -> None:
    process = driver(tmp_path / "outputs", *SLOW, *slurm, paths=(faults,))
    until(lambda: blocks(tmp_path / "outputs"))
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    until(lambda: not queued())


def test_a_partition_that_does_not_exist_is_one_line(slurm: list[str], tmp_path: Path) -> None:
    status, _, err = run(tmp_path / "outputs", "T=3", *slurm, "execution.partition=nowhere")
    assert status == 1
    assert err.splitlines()[-1].startswith("execution=slurm: ")
    assert "partition" in err.splitlines()[-1]
    assert "Traceback" not in err
