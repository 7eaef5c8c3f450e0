"""Sweeps of a study of one's own are named by the path of its folder, wherever that is."""

from pathlib import Path

import pytest
from tests.support.computed import call, refused
from tests.support.study_folders import SMALL, write

import pomrl
from pomrl.commands import diff, run

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("here")]

OWN = {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")}


@pytest.mark.parametrize("word", ["mine", "../{}/a/b/mine", "{}{}/mine"])
def test_a_sweep_is_found_at_any_depth_and_by_an_absolute_path(word: str, here: Path) -> None:
    word = word.replace("{}{}", str(here)).replace("{}", here.name)
    write(here / word, OWN)
    status, printed, said = call(run, f"experiment={word}/first", "dry_run=true")
    assert (status, len(set(printed.split()))) == (0, 2), said
    assert call(run, "-m", f"experiment={word}/first", "seed=1,2", "dry_run=true")[1].count("\n") == 4


def test_what_is_no_study_or_sweep_there_is_one_line(here: Path) -> None:
    write(here / "a" / "mine", OWN)
    for word in ("a/mine/last", "a/yours/first", "/nowhere/mine/first"):
        assert refused(run, f"experiment={word}", "dry_run=true").startswith(f"experiment={word}: ")


def test_python_and_diff_name_it_so_too(here: Path) -> None:
    write(here / "a" / "mine", OWN)
    table = pomrl.sweep("a/mine/first", runs=1)
    assert set(table["estimator"]) == {"ada_pomrl", "without_meta"}
    status, printed, said = call(diff, "experiment=a/mine/first", "experiment=a/mine/first T=3")
    assert status == 1, said
    assert printed.count("T: 2 -> 3\n") == 1
