"""`pomrl new` makes a study that runs as it is, from any working directory, and is clean."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.computed import call, claims, studies
from tests.support.settings import ROOT

from pomrl.commands import new, reproduce
from pomrl.configuration.studies import find

pytestmark = pytest.mark.slow


def blocks(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (folder / "outputs" / "runs").rglob("*.parquet")}


def test_a_new_study_runs_from_any_folder(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, printed, err = call(new, "own/mine")
    assert (status, err) == (0, "")
    *files, advice = printed.splitlines()
    assert files == [str(path) for path in sorted(Path("own/mine").rglob("*")) if path.is_file()]
    assert advice == "to compute, judge, draw and report it: pomrl reproduce own/mine"
    (cwd / "elsewhere").mkdir()
    os.chdir(cwd / "elsewhere")
    monkeypatch.setenv("POMRL_OUTPUTS", str(cwd / "outputs"))
    status, printed, err = call(reproduce, "../own/mine", "--runs", "2")
    assert status == 0, err
    page = cwd / "outputs" / "studies" / "mine" / "report" / "index.html"
    assert f"report   {page}" in printed.splitlines()
    assert "Does a shrunk prior help?" in page.read_text()
    assert not list(Path().iterdir())
    before = blocks(cwd)
    os.chdir(cwd / "own" / "mine")
    assert call(claims, ".")[0] == 0
    assert blocks(cwd) == before
    assert len(before) == 6
    os.chdir(cwd / "own")
    assert "mine Does a shrunk prior help? 1" in " ".join(call(studies)[1].split())


def test_a_new_study_has_its_own_name(cwd: Path) -> None:
    assert call(new, "mine")[0] == 0
    for path in (cwd / "mine").rglob("*"):
        assert "skeleton" not in path.name
        assert path.is_dir() or "skeleton" not in path.read_text()
    assert find("mine").name == "mine"
    for arguments in (
        ["check", "--config", str(ROOT / "pyproject.toml")],
        ["format", "--check", "--line-length", "120"],
    ):
        ruff = [sys.executable, "-m", "ruff", *arguments, "--no-cache", "mine"]
        assert subprocess.run(ruff, capture_output=True).returncode == 0


def test_repositories_get_a_review_workflow(cwd: Path) -> None:
    (cwd / ".git").mkdir()
    status, printed, _ = call(new, "own/mine")
    assert status == 0
    workflow = cwd / ".github" / "workflows" / "review.yml"
    assert "pomrl diff" in workflow.read_text()
    assert any(line.startswith(".github/workflows/review.yml: ") for line in printed.splitlines())
    assert not list((cwd / "own").rglob("review.yml"))


def test_an_existing_workflow_is_kept(cwd: Path) -> None:
    (cwd / ".git").mkdir()
    workflow = cwd / ".github" / "workflows" / "review.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("mine")
    _, printed, _ = call(new, "mine")
    assert workflow.read_text() == "mine"
    assert ".github" not in printed


def test_workflows_need_the_top_of_repositories(cwd: Path) -> None:
    assert call(new, "mine")[0] == 0
    assert not (cwd / ".github").exists()
