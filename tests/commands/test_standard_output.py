"""What a command says where standard output takes nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "pomrl", "--help"]


def said(stdout: int) -> str:
    try:
        return subprocess.run(COMMAND, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False).stderr
    finally:
        os.close(stdout)


def test_a_reader_that_has_ended_is_one_line_at_most() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert said(writer) in ("", "standard output: Broken pipe\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_one_line() -> None:
    assert said(os.open("/dev/full", os.O_WRONLY)) == "standard output: No space left on device\n"
