"""What a command says, and does, where standard output or standard error takes nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pomrl import store

COMMAND = [sys.executable, "-m", "pomrl"]


def error_output(stdout: int, *arguments: str) -> str:
    return ended(stdout, *arguments)[1]


def ended(stdout: int, *arguments: str) -> tuple[int, str]:
    """Run a command; return its status and messages."""
    try:
        done = subprocess.run([*COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(stdout)
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("run", "--hydra-help")])
def test_an_ended_reader_is_no_error(arguments: tuple[str, ...], empty_outputs: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert ended(writer, *arguments) == (128 + signal.SIGPIPE, "")


def test_results_are_stored_without_a_reader(empty_outputs: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    status, messages = ended(writer, "run", "S=3", "T=2", "runs=2")
    assert (status, "Broken pipe" in messages) == (128 + signal.SIGPIPE, False)
    assert [stored.complete() for stored in store.all_experiments()] == [2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("arguments", [("--help",), ("run", "--hydra-help")])
def test_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    assert error_output(os.open("/dev/full", os.O_WRONLY), *arguments) == "standard output: No space left on device\n"


@pytest.mark.parametrize("arguments", ["run S=3 T=2 runs=2", "runs", "table"])
def test_closed_standard_output_is_no_error(arguments: str, empty_outputs: Path) -> None:
    program = f'"{sys.executable}" -m pomrl'
    command = f"{program} run S=3 T=2 runs=2 &>/dev/null && {program} {arguments} >&-"
    done = subprocess.run(["bash", "-c", command], cwd=empty_outputs, capture_output=True, text=True, check=False)
    assert (done.returncode, "Error" in done.stderr) == (0, False), done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("standard_error", ["2>&-", "2>/dev/full"])
def test_full_standard_error_stops_no_runs(standard_error: str, empty_outputs: Path) -> None:
    arguments = "run S=3 T=2 runs=2 execution.workers=1"
    program = f'"{sys.executable}" -m pomrl {arguments} {standard_error}'
    done = subprocess.run(["bash", "-c", program], cwd=empty_outputs, capture_output=True, text=True, check=False)
    (stored,) = store.all_experiments()
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, str(stored.folder), "")
    assert stored.complete() == 2
