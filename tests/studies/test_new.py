"""`pomrl new` makes a study that runs as it is, from any working directory, and is clean."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.settings import ROOT
from tests.support.study_folders import forget

from pomrl.commands import new, reproduce, studies
from pomrl.configuration.study import find

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    yield tmp_path
    forget("fresh", "clean")


def blocks(here: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in (here / "outputs" / "runs").rglob("*.parquet")}


def test_a_new_study_runs_from_any_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, printed, said = call(new, "own/fresh")
    assert (status, said) == (0, "")
    *files, advice = printed.splitlines()
    assert files == [str(path) for path in sorted(Path("own/fresh").rglob("*")) if path.is_file()]
    assert advice == "to compute, judge, draw and report it: pomrl reproduce own/fresh"
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    status, printed, said = call(reproduce, "../own/fresh", "--runs", "2")
    assert status == 0, said
    page = here / "outputs" / "studies" / "fresh" / "report" / "index.html"
    assert printed.splitlines()[-1] == str(page)
    assert "Does a shrunk prior help?" in page.read_text()
    assert not list(Path().iterdir())
    before = blocks(here)
    monkeypatch.chdir(here / "own" / "fresh")
    assert call(reproduce, ".", "--runs", "2")[0] == 0
    assert blocks(here) == before
    assert len(before) == 6
    monkeypatch.chdir(here / "own")
    assert "fresh Does a shrunk prior help? 1" in " ".join(call(studies)[1].split())


def test_a_new_study_is_clean_and_bears_its_own_name(here: Path) -> None:
    assert call(new, "clean")[0] == 0
    for path in (here / "clean").rglob("*"):
        assert "skeleton" not in path.name
        assert path.is_dir() or "skeleton" not in path.read_text()
    assert find("clean").name == "clean"
    for words in (["check", "--config", str(ROOT / "pyproject.toml")], ["format", "--check", "--line-length", "120"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--no-cache", "clean"]
        assert subprocess.run(ruff, capture_output=True).returncode == 0
