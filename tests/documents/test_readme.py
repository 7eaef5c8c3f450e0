"""README.md says what its commands print, and types no number that is an estimate."""

import re
import tomllib

import pytest
from tests.support.computed import call
from tests.support.settings import ROOT

from pomrl.commands import run
from pomrl_report.lookups import PLACE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

SOURCE = (ROOT / "README.md.in").read_text()

CODE = re.compile(r"```.*?```|^    .*?$|`[^`]*`|\]\([^)]*\)|!\[.*?\]", re.DOTALL | re.MULTILINE)
"""Blocks and words of code, and the targets of links."""

CONSTANTS = {"1", "2", "3", "4", "5", "0.01", "0.047", "0.99", "95", "300", "1,000", "3.11", "3.13"}
"""Numbers that are settings, or count the findings."""


@pytest.mark.usefixtures("cwd")
def test_the_first_sweep_prints_the_table() -> None:
    status, printed, err = call(run, "-m", "sigma=0.01,0.025,0.047")
    (table,) = re.findall(r"```text\n(.*?)```", SOURCE, flags=re.DOTALL)
    assert (status, table in printed) == (0, True), err


def test_no_estimate_is_typed() -> None:
    prose = PLACE.sub("", CODE.sub("", SOURCE))
    assert set(re.findall(r"\d[\d.,]*\d|\d", prose)) <= CONSTANTS


def test_facts_agree_with_the_package() -> None:
    (row,) = re.findall(r"^.* · .*$", SOURCE, flags=re.MULTILINE)
    classifiers = " ".join(PROJECT["classifiers"])
    assert row.startswith(f"{PROJECT['license']} licence · ")
    versions = re.findall(r"3\.\d+", row)
    assert PROJECT["requires-python"] == f">={versions[0]},<3.{int(versions[1][2:]) + 1}"
    assert all(re.search(name, classifiers) for name in ("Linux", "MacOS", "Typed"))


def test_a_phone_shows_its_tables() -> None:
    tables = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("|")]
    assert max(line.count(" | ") for line in tables) < 3
    cells = [CODE.sub("", cell) for line in tables for cell in line.strip("| ").split(" | ")]
    assert not [cell for cell in cells if re.search(r"[.;:] ", cell)]
