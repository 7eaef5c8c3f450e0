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
    of_study = tmp_path / "here" / "outputs" / "studies" / "mine"
    assert "Shrunk" in (of_study / "report" / "index.html").read_text()
    assert (of_study / "figures" / "losses.pdf").stat().st_size > 1000
    listed = program("studies")
    rows = [line.split() for line in listed.stdout.splitlines()]
    names = [row[0] for row in rows if row and row[0] in ("beyond", "pomrl", "mine")]
    assert names == ["beyond", "pomrl", "mine"], listed.stdout
    assert max(map(len, listed.stdout.splitlines())) <= 80
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"mine", "outputs"}
