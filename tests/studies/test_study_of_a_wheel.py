"""Studies work with the program that a wheel installs, in an empty folder outside of the checkout."""

from pathlib import Path

import pytest
from tests.support.installed import Program, installed, program

pytestmark = pytest.mark.slow

__all__ = ["installed", "program"]  # fixtures


def test_a_new_study_is_made_reproduced_and_listed(program: Program, tmp_path: Path) -> None:
    made = program("new", "mine")
    assert made.returncode == 0, made.stderr
    assert made.stdout.splitlines()[-1] == "to compute, judge, draw and report it: pomrl reproduce mine"
    answer = program("reproduce", "mine", "--runs", "3")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "outputs/studies/mine/report/index.html"
    assert "Shrunk" in (tmp_path / "here" / answer.stdout.splitlines()[-1]).read_text()
    listed = program("studies").stdout
    assert all(f"\n{name}\t" in listed for name in ("beyond", "pomrl", "mine"))
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"mine", "outputs"}
