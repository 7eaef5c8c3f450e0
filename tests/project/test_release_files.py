"""What describes a release says the same in all files, and has the form that its readers ask for."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

import pytest
import yaml
from tests.support.settings import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CODEMETA = json.loads((ROOT / "codemeta.json").read_text())
ZENODO = json.loads((ROOT / ".zenodo.json").read_text())


@pytest.mark.parametrize(
    "alike",
    [
        (PROJECT["version"], CITATION["version"], CODEMETA["version"], ZENODO["version"]),
        (PROJECT["license"], CITATION["license"], CODEMETA["license"].rpartition("/")[2], ZENODO["license"]),
        (str(CITATION["date-released"]), CODEMETA["datePublished"], ZENODO["publication_date"]),
        (CITATION["title"], CODEMETA["name"], ZENODO["title"]),
        (CODEMETA["description"], ZENODO["description"]),
        tuple(
            [author["name"] for author in authors]
            for authors in (CITATION["authors"], CODEMETA["author"], ZENODO["creators"])
        ),
    ],
)
def test_all_say_the_same(alike: Sequence[Any]) -> None:
    assert all(value == alike[0] for value in alike)


def test_the_changes_name_the_release() -> None:
    released = re.search(r"^## (\d+\.\d+\.\d+) - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released
    assert released.groups() == (PROJECT["version"], str(CITATION["date-released"]))


@pytest.mark.parametrize(
    ("schema", "files"),
    [("github-workflows", ".github/workflows/*.yml"), ("citation-file-format", "CITATION.cff")],
)
def test_files_have_the_form_that_their_readers_ask_for(schema: str, files: str) -> None:
    paths = sorted(ROOT.glob(files))
    assert paths
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
