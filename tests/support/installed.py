"""The package installed from its wheel, built once for all tests.

The wheel is built from the source distribution, as by `python -m build`. Of several processes, the first one builds it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import setuptools
from tests.support.settings import ROOT

Program = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed wheel, without dependencies and engine."""
    if int(setuptools.__version__.partition(".")[0]) < 77:
        pytest.skip("this environment lacks the setuptools that pyproject.toml asks for")
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "installed"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site").exists():
            _install(folder)
    return folder / "site"


def _install(folder: Path) -> None:
    unwanted = shutil.ignore_patterns(".*", "outputs", "tests", "benchmarks", "*.so", "__pycache__", "*.egg-info")
    shutil.copytree(ROOT, folder / "checkout", ignore=unwanted)
    program = "from setuptools import build_meta; build_meta.build_sdist('..')"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=folder / "checkout", capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    offline = ["--no-deps", "--no-index"]
    environment = os.environ | {"POMRL_NO_ENGINE": "1"}
    wheel = ["wheel", *offline, "--no-build-isolation", "--wheel-dir", str(folder), str(source)]
    subprocess.run([*pip, *wheel], check=True, env=environment, capture_output=True)
    (path,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", *offline, "--target", str(folder / "site"), str(path)], check=True)


@pytest.fixture
def program(installed: Path, tmp_path: Path) -> Program:
    """Return a function for calls of the installed program in an empty folder."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": str(installed)}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(installed / "bin" / "pomrl"), *arguments]
        return subprocess.run(command, cwd=tmp_path / "here", env=environment, capture_output=True, text=True)

    return call
