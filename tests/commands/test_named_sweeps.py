"""Sweeps of a study of one's own are named by the path of its folder, wherever that is."""

from pathlib import Path

import pytest
from tests.support.computed import call, refused
from tests.support.study_folders import SMALL, write

import pomrl
from pomrl.commands import diff, run
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.studies import find
from pomrl.drawing.figures_of_study import versions

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("here")]

OWN = {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")}


@pytest.mark.parametrize("word", ["mine", "../{}/a/b/mine", "{}{}/mine"])
def test_a_sweep_is_found_at_any_depth_and_by_an_absolute_path(word: str, here: Path) -> None:
    word = word.replace("{}{}", str(here)).replace("{}", here.name)
    write(here / word, OWN)
    status, printed, err = call(run, f"experiment={word}/first", "dry_run=true")
    assert (status, len(set(printed.split()))) == (0, 2), err
    assert call(run, "-m", f"experiment={word}/first", "seed=1,2", "dry_run=true")[1].count("\n") == 4


def test_what_is_no_study_or_sweep_there_is_one_line(here: Path) -> None:
    write(here / "a" / "mine", OWN)
    for word in ("a/mine/last", "a/yours/first", "/nowhere/mine/first"):
        assert refused(run, f"experiment={word}", "dry_run=true").startswith(f"experiment={word}: ")


@pytest.mark.parametrize(
    ("words", "sweeps"),
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
def test_the_number_of_a_figure_is_answered_by_its_sweeps(words: str, sweeps: str, here: Path) -> None:
    write(here / "a" / "mine", SMALL, figures_py=SMALL["figures.py"].replace("Curves of", "Figure 7: Curves of"))
    word = words.partition("experiment=")[2].split()[0]
    assert refused(run, *words.split()) == f"experiment={word}: unknown sweep; {sweeps}"


@pytest.mark.parametrize("word", ["9", "1", "1.5", "figure", "task_sim"])
def test_a_name_without_sweep_and_figure_lists_the_sweeps(word: str) -> None:
    assert refused(run, f"experiment={word}").startswith(f"experiment={word}: unknown sweep")


def test_a_figure_is_selected_by_any_form_of_its_number(here: Path) -> None:
    write(here / "mine", SMALL, figures_py=SMALL["figures.py"].replace("Curves of", "Figure F7: Curves of"))
    for word in ("F7", "f7", "figure_f7", "FigF7"):
        assert versions(find("mine"), [word]) == ["curves", "curves_intervals"]
    with pytest.raises(ConfigError, match="unknown figure 'F77'"):
        versions(find("mine"), ["F77"])


def test_python_and_diff_name_it_so_too(here: Path) -> None:
    write(here / "a" / "mine", OWN)
    table = pomrl.sweep("a/mine/first", runs=1)
    assert set(table["estimator"]) == {"ada_pomrl", "without_meta"}
    status, printed, err = call(diff, "experiment=a/mine/first", "experiment=a/mine/first T=3")
    assert status == 1, err
    assert printed.count("T: 2 -> 3\n") == 1
