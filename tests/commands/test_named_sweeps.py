"""Sweeps of a study of one's own are named by the path of its folder, wherever that is."""

from pathlib import Path

import pytest
from tests.support.computed import call, called, folders, refused
from tests.support.study_folders import SMALL, write

import pomrl
from pomrl.commands import diff, run
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.studies import find
from pomrl.drawing.figures_of_study import versions

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cwd")]

OWN = {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")}
SETTINGS = (
    *("estimator=ada_pomrl,without_meta", "gamma_schedule.gammas=[0.0,0.5,0.99]"),
    *("S=3", "T=2", "runs=10", "dry_run=true"),
)
"""The sweep `first`, key by key."""


@pytest.mark.parametrize("path", ["mine", "../{}/a/b/mine", "{}{}/mine"])
def test_sweeps_are_found_at_any_path(path: str, cwd: Path) -> None:
    path = path.replace("{}{}", str(cwd)).replace("{}", cwd.name)
    write(cwd / path, OWN)
    for seeds in ("1", "1,2"):
        status, lines, err = called(run, "-m", f"experiment={path}/first", f"seed={seeds}", "dry_run=true")
        assert status == 0, err
        assert sorted(folders(lines)) == sorted(folders(called(run, "-m", *SETTINGS, f"seed={seeds}")[1]))
    assert len({*folders(lines)}) == 4


def test_unknown_paths_of_sweeps_are_one_line(cwd: Path) -> None:
    write(cwd / "a" / "mine", OWN)
    for path in ("a/mine/last", "a/yours/first", "/nowhere/mine/first"):
        assert refused(run, f"experiment={path}", "dry_run=true").startswith(f"experiment={path}: ")


@pytest.mark.parametrize(
    ("arguments", "sweeps"),
    [
        ("experiment=figure5", "Figure 5 shows the sweep task_similarity; use experiment=task_similarity"),
        ("-m experiment=fig_5 seed=1,2", "Figure 5 shows the sweep task_similarity; use experiment=task_similarity"),
        ("experiment=2", "Figure 2 shows the sweep illustration; use experiment=illustration"),
        ("experiment=f3", "Figure F3 shows the sweep samples_and_tasks; use experiment=samples_and_tasks"),
        (
            "experiment=pomrl2023/figure_f5",
            "Figure F5 shows the sweeps states_20, states_30; use experiment=states_20,states_30, in pomrl run with -m",
        ),
        ("experiment=a/mine/7", "Figure 7 shows the sweep a/mine/first; use experiment=a/mine/first"),
        ("experiment=a/mine/curves", "Figure 7 shows the sweep a/mine/first; use experiment=a/mine/first"),
    ],
)
def test_figure_numbers_are_answered_by_sweeps(arguments: str, sweeps: str, cwd: Path) -> None:
    write(cwd / "a" / "mine", SMALL, figures_py=SMALL["figures.py"].replace("Curves of", "Figure 7: Curves of"))
    number = arguments.partition("experiment=")[2].split()[0]
    assert refused(run, *arguments.split()) == f"experiment={number}: unknown sweep; {sweeps}"


@pytest.mark.parametrize("unknown", ["9", "1", "1.5", "figure", "task_sim"])
def test_unknown_names_list_the_sweeps(unknown: str) -> None:
    assert refused(run, f"experiment={unknown}").startswith(f"experiment={unknown}: unknown sweep")


def test_figures_are_selected_by_any_number_form(cwd: Path) -> None:
    write(cwd / "mine", SMALL, figures_py=SMALL["figures.py"].replace("Curves of", "Figure F7: Curves of"))
    for number in ("F7", "f7", "figure_f7", "FigF7"):
        assert versions(find("mine"), [number]) == ["curves", "curves_intervals"]
    with pytest.raises(ConfigError, match="unknown figure 'F77'"):
        versions(find("mine"), ["F77"])


def test_python_and_diff_name_it_so_too(cwd: Path) -> None:
    write(cwd / "a" / "mine", OWN)
    table = pomrl.sweep("a/mine/first", runs=1)
    assert set(table["estimator"]) == {"ada_pomrl", "without_meta"}
    status, printed, err = call(diff, "experiment=a/mine/first", "experiment=a/mine/first T=3")
    assert status == 1, err
    assert printed.count("T: 2 -> 3\n") == 1
