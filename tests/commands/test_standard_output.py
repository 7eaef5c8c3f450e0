"""Commands whose output nobody takes say so in one line, and do not blame the folder of outputs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.settings import ROOT

FULL = Path("/dev/full")


def ended(folder: Path, arguments: str, redirected: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m pomrl {arguments} {redirected}"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "POMRL_OUTPUTS": str(folder)} | more
    return subprocess.run(command, shell=True, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", ["runs --verify", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_named(arguments: str, unbuffered: str, tmp_path: Path) -> None:
    found = ended(tmp_path, arguments, f"> {FULL}", PYTHONUNBUFFERED=unbuffered)
    assert (found.returncode, found.stderr) == (1, "standard output: No space left on device\n")


def test_a_closed_standard_output_is_no_traceback(tmp_path: Path) -> None:
    found = ended(tmp_path, "runs", ">&-")
    assert (found.returncode, found.stderr.count("\n")) == (0, 1)
