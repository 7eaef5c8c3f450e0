"""`pomrl diff OLD..NEW` says what a branch does to settings, code and results, in anybody's repository."""

import os
import re
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.settings import ROOT
from tests.support.study_folders import forget

from pomrl.commands import diff, new
from pomrl.commands.review import MAX_CHARACTERS, Section, format_markdown, parse_range

OPTION, CLAIMS, SWEEP, STUDY, CODE = (
    "conf/estimator/shrunk.yaml",
    "claims.py",
    "conf/experiment/my_study/first.yaml",
    "study.yaml",
    "shrunk.py",
)


OF_VARIANT = (
    "variants.mean_over_states.loss: mean -> None",
    "variants.mean_over_states.m: None -> 6",
    "m: 5 -> 6",
    "loss: mean -> max",
)


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A repository with a study of its own, from `pomrl new`, and a store of reviews."""
    folder = tmp_path_factory.mktemp("repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("POMRL_OUTPUTS", str(tmp_path_factory.mktemp("outputs")))
        git("init", "--quiet", "--initial-branch", "main")
        assert call(new, "my_study")[0] == 0
        git("add", ".")
        git("commit", "--quiet", "--message", "a")
        yield folder
        forget("my_study")


@pytest.fixture
def study(repository: Path) -> Iterator[Path]:
    """The folder of the study, as it is on main."""
    yield repository / "my_study"
    git("checkout", "--quiet", "--force", "main")
    git("clean", "--quiet", "--force", "-d")


def edit(path: Path, old: str, new_text: str) -> None:
    assert path.read_text().count(old) == 1, path
    path.write_text(path.read_text().replace(old, new_text))


def review(*arguments: str) -> tuple[int, str]:
    status, out, err = call(diff, "main..", *arguments)
    return status, out if status < 2 else out + err


@pytest.mark.parametrize(
    ("file", "old", "new_text", "line"),
    [
        (OPTION, "weight: 0.5", "weight: 0.9", "settings: estimator.weight: 0.5 -> 0.9; in 1 sweep"),
        (SWEEP, "T: 5\n", "T: 6\n", "settings: T: 5 -> 6; in 1 sweep"),
        (SWEEP, "runs: 200", "runs: 300", "settings: runs: 200 -> 300; in 1 sweep"),
        (SWEEP, "T: 5\n", "T: 5\nseed: 9\n", "settings: seed: 1 -> 9; in 1 sweep"),
        (SWEEP, "0.01,0.047", "0.01,0.025", "settings: new experiments; removed experiments; in 1 sweep"),
        (STUDY, "error: 0.05 ", "error: 0.1 ", "settings: error: 0.05 -> 0.1; in 0 sweeps"),
        (STUDY, "{loss: mean}", "{m: 6}", "settings: " + "; ".join(OF_VARIANT) + "; in 1 sweep"),
    ],
)  # fmt: skip
def test_a_changed_setting_is_named_once(study: Path, file: str, old: str, new_text: str, line: str) -> None:
    edit(study / file, old, new_text)
    status, out = review()
    assert (status, out.splitlines()[:2]) == (1, [line, "code: no change"])


def test_a_comment_changes_nothing(study: Path) -> None:
    edit(study / OPTION, "weight: 0.5", "weight: 0.5   # half")
    edit(study / CODE, "# no earlier tasks before the first one", "# another remark")
    assert review() == (0, "settings: no change\ncode: no change\n")


def test_three_changes_have_three_tables(study: Path) -> None:
    edit(study / OPTION, "weight: 0.5", "weight: 0.9")
    edit(study / SWEEP, "T: 5\n", "T: 6\nm: 7\n")
    status, out = review("--format", "markdown")
    headings = sorted(line for line in out.splitlines() if line.startswith("### ") and "->" in line)
    assert (status, headings) == (1, ["### T: 5 -> 6", "### estimator.weight: 0.5 -> 0.9", "### m: 5 -> 7"])
    assert "| my_study/first | default, mean_over_states | 12 |" in out


def test_a_typo_leaves_the_rest_compared(study: Path) -> None:
    edit(study / OPTION, "weight: 0.5", "wieght: 0.5")
    (study / "conf" / "estimator" / "other.yaml").write_text("_target_: my_study.shrunk.Shrunk\nweight: 0.1\n")
    status, out = review()
    assert status == 2
    assert "estimator.wieght=0.5: unknown key (did you mean estimator.weight?)" in out.splitlines()[0]
    assert "estimator=other" in out
    assert "removed experiments" not in out


def test_new_and_removed_options_are_named(study: Path) -> None:
    (study / OPTION).rename(study / "conf" / "estimator" / "moved.yaml")
    edit(study / SWEEP, "ada_pomrl,shrunk", "ada_pomrl,moved")
    status, out = review()
    assert status == 1
    assert "new experiments" in out
    assert "estimator=moved" in out
    assert "estimator=shrunk" in out


def test_a_renamed_sweep_has_the_same_experiments(study: Path) -> None:
    (study / SWEEP).rename(study / SWEEP.replace("first", "second"))
    for file in (CLAIMS, "figures.py"):
        path = study / file
        path.write_text(path.read_text().replace('"first"', '"second"'))
    status, out = review()
    assert status == 1
    assert "renamed: my_study/first (default) -> my_study/second (default)" in out
    assert "removed experiments" not in out


@pytest.mark.slow
def test_changed_code_is_computed_once(study: Path) -> None:
    edit(study / CODE, "self.weight if", "self.weight / 2 if")
    status, out, err = call(diff, "main..", "--runs", "20")
    assert status == 1
    assert out.splitlines()[:2] == ["settings: no change", "code: my_study/shrunk.py; numbers change in 1 of 1 sweeps"]
    rows = [line.split("\t") for line in out.splitlines() if "estimator=shrunk\t" in line]
    assert [row[:4] for row in rows[:2]] == [
        ["my_study/first", "default", f"sigma={sigma} estimator=shrunk", "20"] for sigma in (0.01, 0.047)
    ]
    assert "runs to compute" in err
    assert call(diff, "main..", "--runs", "20") == (1, out, "")


def test_a_changed_claim_turns_its_verdict_alone(study: Path) -> None:
    edit(study / CLAIMS, "less(shrunk, without,", "less(without, shrunk,")
    status, out = review("--runs", "200")
    assert status == 1
    assert "code: my_study/claims.py; no experiment with equal settings has another signature" in out
    turned = [line.split("\t") for line in out.splitlines() if line.startswith("my_study\t")]
    assert {row[1] for row in turned} == {"C1"}
    assert turned[0][3:5] == ["holds", "does not hold"]


@pytest.mark.slow
def test_verdicts_are_those_of_the_requested_runs(study: Path) -> None:
    edit(study / CLAIMS, "less(shrunk, without,", "less(without, shrunk,")
    few = review("--runs", "20")
    assert review("--runs", "200") != few
    assert review("--runs", "20") == few


@pytest.mark.slow
def test_failures_are_no_difference_of_numbers(study: Path) -> None:
    edit(study / CODE, "return weight", "raise ValueError('no ' + 'estimate')\n        return weight")
    status, out = review("--runs", "5")
    assert (status, out.splitlines()[0]) == (2, "no answer: ValueError: no estimate")
    assert "numbers change in 0 of 1 sweeps" in out


@pytest.mark.parametrize(
    ("file", "old", "new_text", "reason"),
    [
        (CLAIMS, "from pomrl.study import", "from pomrl.study imprt", "invalid syntax"),
        (STUDY, "error: 0.05 ", "eror: 0.05 ", "unknown key (did you mean error?)"),
        (CODE, "from pomrl.components", "from pomrl.componentz", "cannot be imported"),
    ],
)
def test_broken_studies_are_named_without_removals(
    study: Path, file: str, old: str, new_text: str, reason: str
) -> None:
    edit(study / file, old, new_text)
    status, out = review()
    assert (status, reason in out.splitlines()[0]) == (2, True)
    assert "removed" not in out


@pytest.mark.slow
def test_printing_and_damage_change_no_review(study: Path, repository: Path) -> None:
    edit(study / CODE, "        weight = ", "        print('{}', flush=True)\n        weight = ")
    edit(study / OPTION, "weight: 0.5", "weight: 0.8")
    first = review("--runs", "4")
    assert "settings: estimator.weight: 0.5 -> 0.8; in 1 sweep" in first[1]
    for file in Path(os.environ["POMRL_OUTPUTS"]).glob("reviews/*/composition.json"):
        file.write_text("{}")
    assert review("--runs", "4") == first


@pytest.mark.slow
def test_the_page_shows_a_review_whole(study: Path) -> None:
    page = (ROOT / "docs" / "review.md").read_text().partition("## A review\n")[2]
    (example,) = re.findall(r"```text\n(.*?)```", page.partition("\n## ")[0], flags=re.DOTALL)
    old, new_text, file = re.findall(r's/(.*?)/(.*?)/" (\S+)', page)[0]
    edit(study.parent / file, old, new_text)
    assert review("--runs", "20") == (1, example)


def test_only_named_sweeps_are_compared(study: Path) -> None:
    edit(study / OPTION, "weight: 0.5", "weight: 0.9")
    assert review("--sweeps", "my_study/first")[0] == 1
    status, out = review("--sweeps", "my_study/frist")
    assert (status, "did you mean my_study/first?" in out) == (2, True)


def test_unknown_revisions_are_one_line(study: Path) -> None:
    assert call(diff, "main..nothing")[0] == 2
    assert call(diff, "m=2", "--runs", "3")[2].startswith("--runs ")


def test_markdown_fits_a_summary() -> None:
    frame = pd.DataFrame({"sweep": ["a" * 100] * 2000})
    text = format_markdown(["settings: many"], [Section("long", frame=frame), Section("short", ["x"])])
    assert text.startswith("- settings: many\n")
    assert len(text) <= MAX_CHARACTERS
    assert "2,000 rows left out" in text
    assert "### short" in text


@pytest.mark.slow
def test_changed_formulas_name_exactly_their_sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of this project, with a changed line in the mixing rate of POMRL."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tmp_path / "clone")], check=True)
    monkeypatch.chdir(tmp_path / "clone")
    git("checkout", "--quiet", "-B", "main")
    edit(Path("src/pomrl/science/estimators/pomrl.py"), "(1.0 + 1.0 / t)", "(1.0 + 2.0 / t)")
    names = ["pomrl2023/equal_tasks", "pomrl2023/theory", "jiang2015"]
    status, out, err = call(diff, "main..", "--sweeps", *names, "--format", "csv")
    assert status == 1, err
    table = pd.read_csv(StringIO(out))
    changed = {*table[table["what"] == "code"]["where"]}
    assert "pomrl2023/equal_tasks" in changed
    assert not any(name.startswith("jiang2015") for name in changed)


@pytest.mark.parametrize(
    ("argument", "revisions"),
    [
        ("main..branch", ("main", "branch")),
        ("main..", ("main", "")),
        ("v1.0..feature/x", ("v1.0", "feature/x")),
        ("../folder", None),
        ("a/../b", None),
        ("estimator=pomrl", None),
        ("3c5fe0a94f3d", None),
    ],
)
def test_revisions_are_told_from_settings_and_folders(argument: str, revisions: tuple[str, str] | None) -> None:
    assert parse_range(argument) == revisions


@pytest.fixture
def own_folder(repository: Path, study: Path) -> Path:
    """A `conf/` without a study: an option of the user's class, and a sweep with it."""
    folder = repository / "conf"
    (folder / "estimator").mkdir(parents=True)
    (folder / "experiment").mkdir()
    (folder / "estimator" / "halved.yaml").write_text("_target_: halved.Halved\nweight: 0.5\n")
    (folder / "experiment" / "small.yaml").write_text(SMALL_SWEEP)
    (repository / "halved.py").write_text((study / CODE).read_text().replace("class Shrunk", "class Halved"))
    git("checkout", "--quiet", "-B", "own")
    git("add", ".")
    git("commit", "--quiet", "--message", "own")
    return folder


SMALL_SWEEP = """# @package _global_
S: 4
T: 3
m: 2
runs: 20
hydra: {mode: MULTIRUN, sweeper: {params: {estimator: "pomrl,halved"}}}
"""


@pytest.mark.slow
def test_own_folders_are_reviewed_with_their_options(own_folder: Path) -> None:
    edit(own_folder / "estimator" / "halved.yaml", "weight: 0.5", "weight: 0.9")
    status, out, _ = call(diff, "own..")
    assert (status, out.splitlines()[0]) == (1, "settings: estimator.weight: 0.5 -> 0.9; in 2 sweeps")
    assert "conf/small" in out
    edit(own_folder / "estimator" / "halved.yaml", "weight: 0.9", "wieght: 0.9")
    status, out, _ = call(diff, "own..")
    assert (status, "estimator.wieght=0.9: unknown key" in out) == (2, True)


@pytest.mark.slow
def test_own_code_is_computed_with_both_versions(own_folder: Path) -> None:
    edit(own_folder.parent / "halved.py", "self.weight", "0.1 * self.weight")
    status, out, _ = call(diff, "own..", "--runs", "3")
    assert (status, out.splitlines()[1]) == (1, "code: halved.py; numbers change in 2 of 2 sweeps")
