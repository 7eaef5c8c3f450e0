"""A changed default in a copy of this repository: the kept table and `pomrl diff` name the sweeps that it affects."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.settings import ROOT

import pomrl
from pomrl.commands import diff
from pomrl.commands.diff import parse_range
from pomrl.configuration.study import shipped_studies

KEPT = ROOT / "tests" / "configuration" / "golden" / "sweeps.csv"

PRIOR = ("estimator/pomrl.yaml", "prior: inclusive", "prior: exclusive")
"""The example of docs/review.md: a file, what stands there, and what is proposed."""

OTHER = ("gamma_schedule/dong.yaml", "start: T1", "start: T0")

EDITS = [pytest.param(PRIOR, 35), pytest.param(OTHER, None, marks=pytest.mark.slow)]

REGENERATE = """
import json, sys
import pandas as pd
import pomrl
from pomrl.commands.published_sweeps import digest_published

pd.DataFrame(digest_published()).to_csv(sys.argv[1], index=False)
print(json.dumps({name: [job.signature for job in pomrl.jobs(name)] for name in sys.argv[2:]}))
"""
"""What --force-regen writes, and then the signatures of published sweeps as `pomrl.jobs` lists them."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the code and the configuration, which a test may edit."""
    for name in ("src", "conf"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit(copy: Path, change: tuple[str, str, str]) -> None:
    file, before, after = change
    path = copy / "conf" / file
    assert path.read_text().count(before) == 1
    path.write_text(path.read_text().replace(before, after))


@pytest.fixture(scope="module")
def before() -> dict[str, list[str]]:
    """The signatures of each published sweep."""
    names = [f"{study.name}/{sweep}" for study in shipped_studies() for sweep in study.sweeps]
    return {name: [job.signature for job in pomrl.jobs(name)] for name in names}


@pytest.mark.parametrize(("change", "count"), EDITS, ids=str)
def test_the_kept_table_names_what_a_changed_default_affects(
    change: tuple[str, str, str], count: int | None, before: dict[str, list[str]], copy: Path
) -> None:
    edit(copy, change)
    command = [sys.executable, "-c", REGENERATE, "table.csv", *before]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    ended = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=True)
    affected = {name for name, signatures in json.loads(ended.stdout).items() if signatures != before[name]}
    lines = {*(copy / "table.csv").read_text().splitlines()} - {*KEPT.read_text().splitlines()}
    unchanged = {study.name: study.unchanged for study in shipped_studies()}
    fields = [line.split(",") for line in lines]
    assert {f"{study}/{sweep}" for study, sweep, variant, *_ in fields if variant == unchanged[study]} == affected
    assert count in (None, len(affected))
    assert affected


@pytest.mark.slow
def test_diff_of_revisions_names_the_sweeps_and_compares_what_is_stored(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    monkeypatch.setenv("POMRL_OUTPUTS", str(copy / "outputs"))
    for words in ("init --quiet", "add .", "-c user.name=a -c user.email=a@b commit --quiet -m a"):
        subprocess.run(["git", *words.split()], check=True, capture_output=True)
    of_sweep = {"experiment": "pomrl2023/equal_tasks", "runs": 4}
    pomrl.sweep(**of_sweep)
    pomrl.sweep(**of_sweep, estimator__prior="exclusive")
    edit(copy, PRIOR)
    status, out, said = call(diff, "HEAD..", "--format", "markdown")
    assert status == 1, said
    assert out.startswith("### estimator.prior: inclusive -> exclusive\n\n| sweep | variants | experiments | ")
    assert out.count(" | 0 |\n") == 34
    assert "| pomrl2023/equal_tasks | repaired | 2 | 2 | 2 |" in out
    losses = pd.DataFrame([line.split(" | ") for line in out.splitlines() if "estimator.start_deviation=" in line])
    assert len(losses) == 2
    (copy / "conf" / PRIOR[0]).write_text("_target_: 5")
    assert call(diff, "HEAD..HEAD")[:2] == (0, "no published sweep has changed settings\n")
    assert call(diff, "HEAD..nothing")[0] == 2


@pytest.mark.parametrize(
    ("word", "revisions"),
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
def test_revisions_are_told_from_settings_and_folders(word: str, revisions: tuple[str, str] | None) -> None:
    assert parse_range(word) == revisions
