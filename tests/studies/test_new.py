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


def test_a_new_study_runs_from_any_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, printed, said = call(new, "own/fresh")
    assert (status, said) == (0, "")
    *files, advice = printed.splitlines()
    assert files == [str(path) for path in sorted(Path("own/fresh").rglob("*")) if path.is_file()]
    assert advice == "to compute, judge, draw and report it: pomrl reproduce own/fresh"
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    status, printed, said = call(reproduce, "../own/fresh", "--runs", "2")
    assert status == 0, said
    assert printed.splitlines()[-1] == str(here / "outputs" / "studies" / "fresh" / "report" / "index.html")
    page = (here / "outputs" / "studies" / "fresh" / "report" / "index.html").read_text()
    assert "Does a shrunk prior help?" in page
    blocks = {path: path.stat().st_mtime_ns for path in (here / "outputs" / "runs").rglob("*.parquet")}
    assert len(blocks) == 6
    monkeypatch.chdir(here / "own" / "fresh")
    status, _, said = call(reproduce, ".", "--runs", "2")
    assert status == 0, said
    assert {path: path.stat().st_mtime_ns for path in (here / "outputs" / "runs").rglob("*.parquet")} == blocks
    assert not list(elsewhere.iterdir())
    monkeypatch.chdir(here / "own")
    status, printed, _ = call(studies)
    (line,) = [line.split() for line in printed.splitlines() if line.startswith(" fresh ")]
    assert (status, line) == (0, ["fresh", "Does", "a", "shrunk", "prior", "help?", "1", "2"])


def test_a_new_study_is_clean_and_bears_its_own_name(here: Path) -> None:
    assert call(new, "clean")[0] == 0
    for path in (here / "clean").rglob("*"):
        assert "skeleton" not in path.name
        assert path.is_dir() or "skeleton" not in path.read_text()
    study = find("clean")
    assert study.name == "clean"
    assert set(study.described.headline) <= set(study.described.variants)
    configured = ["--config", str(ROOT / "pyproject.toml")]
    for words in (["check", *configured], ["check", "--isolated"], ["format", "--check", "--line-length", "120"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--no-cache", "clean"]
        said = subprocess.run(ruff, capture_output=True, text=True)
        assert said.returncode == 0, said.stdout
