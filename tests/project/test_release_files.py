"""What describes a release says the same in all files, and has the form that its readers ask for."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.support.settings import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_the_citation_says_what_the_package_says() -> None:
    assert (CITATION["version"], CITATION["license"]) == (PROJECT["version"], PROJECT["license"])
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_the_changes_name_the_release() -> None:
    released = re.search(r"^## (\d+\.\d+\.\d+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released
    assert released.groups() == (PROJECT["version"], str(CITATION["date-released"]))


@pytest.mark.parametrize("folder", sorted(ROOT.glob("packages/*")), ids=lambda folder: folder.name)
def test_what_a_distribution_needs_is_locked(folder: Path) -> None:
    """So that it is installed with `--no-deps`, and no registry is asked for anything of this repository.

    `pomrl` itself, with an extra, is installed from its checkout.
    """
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=!~\[]", requirement)[0] for requirement in project["dependencies"]}
    locked = {*re.findall(r"^([\w-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)}
    assert names - {PROJECT["name"]} <= locked  # which has none of ours


@pytest.mark.parametrize(
    ("schema", "files"),
    [("github-workflows", ".github/workflows/*.yml"), ("citation-file-format", "CITATION.cff")],
)
def test_files_follow_the_schemas_of_their_readers(schema: str, files: str) -> None:
    paths = sorted(ROOT.glob(files))
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
