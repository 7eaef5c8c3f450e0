"""Each question of users has a section in the documents; test_commands_of_documents.py runs its commands."""

import csv

import pytest
from tests.support.settings import ROOT

FILES = [ROOT / "tests/documents/questions.csv", *sorted(ROOT.glob("packages/*/tests/questions.csv"))]
QUESTIONS = [row for path in FILES for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


@pytest.mark.parametrize("row", QUESTIONS, ids=[row["question"] for row in QUESTIONS])
def test_question_has_a_section(row: dict[str, str]) -> None:
    headings = [
        line.lstrip("# ") for line in (ROOT / row["page"]).read_text(encoding="utf-8").splitlines() if line[:1] == "#"
    ]
    assert row["heading"] in headings
