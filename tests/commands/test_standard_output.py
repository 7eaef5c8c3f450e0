"""What a command says, and does, where standard output or standard error takes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pomrl import store

COMMAND = [sys.executable, "-m", "pomrl"]


def said(stdout: int, *words: str) -> str:
    try:
        return subprocess.run([*COMMAND, *words], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False).stderr
    finally:
        os.close(stdout)


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("run", "--hydra-help")])
def test_a_reader_that_has_ended_is_one_line_at_most(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert said(writer, *words) in ("", "Broken pipe\n", "standard output: Broken pipe\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", [("--help",), ("run", "--hydra-help")])
def test_a_full_disk_is_one_line(words: tuple[str, ...]) -> None:
    assert said(os.open("/dev/full", os.O_WRONLY), *words) == "standard output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("standard_error", ["2>&-", "2>/dev/full"])
def test_runs_are_computed_where_standard_error_takes_nothing(standard_error: str, empty_outputs: Path) -> None:
    words = "run S=3 T=2 runs=2 execution.workers=1"
    program = f'"{sys.executable}" -m pomrl {words} {standard_error}'
    done = subprocess.run(["bash", "-c", program], cwd=empty_outputs, capture_output=True, text=True, check=False)
    (kept,) = store.all_experiments()
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{kept.folder}\n", "")
    assert kept.complete() == 2
