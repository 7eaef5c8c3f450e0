"""The program `pomrl` as a wheel installs it, called in a folder that has nothing to do with this repository."""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import pytest
from tests.support.installed import Program, installed, program
from tests.support.settings import ROOT

from pomrl import store
from pomrl.commands import main
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED

pytestmark = pytest.mark.slow

__all__ = ["installed", "program"]  # fixtures

COMMANDS = main.all_commands()


def test_installed_programs_compute_as_the_checkout(program: Program, tmp_path: Path) -> None:
    answer = program("run", "-m", "sigma=0.01,0.02", "T=1", "runs=1")
    expected = [store.signature(sweeps.experiment(PUBLISHED, ["T=1", f"sigma={sigma}"])) for sigma in (0.01, 0.02)]
    assert answer.stdout.split()[-2:] == [f"outputs/runs/{signature}" for signature in expected], answer.stderr
    assert {path.name for path in (tmp_path / "here" / "outputs" / "runs").iterdir()} == set(expected)


def test_installed_reports_have_their_documents(program: Program, installed: Path) -> None:
    pages = installed / "pomrl_studies" / "pomrl2023" / "pages"
    assert all((pages / name).is_file() for name in ("errata.md", "theory.md", "readings.md", "try_it.html"))
    output = program("reproduce", "pomrl2023", "report")
    assert (output.returncode, output.stderr.count("\n")) == (1, 1)
    assert "pomrl reproduce pomrl2023" in output.stderr
    help_text = program("run", "--help").stdout
    assert "  pomrl run experiment=task_similarity" in help_text
    assert (document := installed / "pomrl" / "docs" / "configuration.md").is_file()
    assert str(document) in help_text


def test_new_studies_are_made_composed_and_listed(program: Program, tmp_path: Path) -> None:
    assert program("new", "mine").returncode == 0
    composed = program("run", "experiment=mine/first", "dry_run=true")
    assert composed.returncode == 0, composed.stderr
    assert all(f"\n{name}\t" in program("reproduce", "--list").stdout for name in ("beyond", "pomrl2023", "mine"))
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"mine", "outputs"}


def test_a_shadowed_checkout_is_one_line(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=lambda _, names: {*names} - {"run.py"})
    output = subprocess.run([sys.executable, "-m", "src.run"], cwd=tmp_path, capture_output=True, text=True)
    assert (output.returncode, output.stdout, output.stderr.count("\n")) == (1, "", 1)
    assert "pip install -e ." in output.stderr


@pytest.mark.parametrize(
    ("argument", "status", "names"),
    [
        ("plt", 2, main.all_commands()),
        ("--version", 0, ("pomrl ", "solver of small models: ")),
        ("--help", 0, main.all_commands()),
    ],
)
def test_commands_and_the_version_are_named(
    argument: str,
    status: int,
    names: Iterable[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) if status else nullcontext():
        main.main([argument])
    out, err = capsys.readouterr()
    assert (bool(out), err.count("\n")) == (not status, bool(status))
    assert all(name in out + err for name in names)
