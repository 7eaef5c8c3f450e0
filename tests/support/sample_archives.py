"""An archive of a small experiment, and changes of it."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.sample_experiment import stored

from pomrl.store import archives

Contents = dict[str, bytes]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an archive of an experiment that is no longer stored."""
    monkeypatch.chdir(tmp_path)
    experiment, path = stored(range(4)), tmp_path / "archive.zip"
    assert archives.export(path, [experiment]) == (2, [])
    shutil.rmtree(experiment.folder)
    return path


def forge(archive: Path, change: Callable[[Contents], object]) -> Path:
    """Change the contents of an archive by a function."""
    with zipfile.ZipFile(archive) as opened:
        contents = {name: opened.read(name) for name in opened.namelist()}
    change(contents)
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in contents.items():
            opened.writestr(name, content)
    return archive


def block_in(contents: Contents) -> str:
    return next(name for name in contents if name.endswith(".parquet"))
