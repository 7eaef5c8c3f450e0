"""The current folder may have modules of anybody's: no command imports one that it was not asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.settings import ROOT
from tests.support.study_folders import UNDRAWN, write

pytestmark = pytest.mark.slow

MARK = "from pathlib import Path\nPath({!r}).write_text('ran')\n"


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A folder with modules that have the names of libraries, and a plugin for Hydra, which all leave a mark."""
    folder, mark = tmp_path / "strange", str(tmp_path / "mark")
    (folder / "hydra_plugins").mkdir(parents=True)
    for name in ("pandas.py", "rich.py", "yaml.py", "omegaconf.py", "hydra_plugins/evil.py"):
        (folder / name).write_text(MARK.format(mark))
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("pomrl", "run", "-m", "sigma=0.01,0.02", "dry_run=true", "runs=1"),
        ("pomrl", "reproduce", "mine", "--runs", "1"),
    ],
    ids=" ".join,
)
def test_modules_of_the_folder_hide_nothing(arguments: tuple[str, ...], strange: Path) -> None:
    write(strange / "mine", UNDRAWN)
    ended = call(strange, *arguments)
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert not (strange.parent / "mark").exists()


def test_components_of_the_current_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from pomrl.components import Planner\n\n\nclass Mine(Planner):\n    pass\n")
    ended = call(tmp_path, "pomrl", "run", "planner._target_=mine.Mine", "dry_run=true")
    assert ended.stderr.startswith("planner._target_=mine.Mine: the class must implement "), ended.stderr
