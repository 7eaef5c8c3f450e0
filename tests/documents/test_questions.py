"""Questions of users: each has a place in the documents, with its answer below the heading."""

import csv
import re

import pytest
from tests.support.settings import ROOT

FILES = [ROOT / "tests/documents/questions.csv", *sorted(ROOT.glob("packages/*/tests/questions.csv"))]
QUESTIONS = [row for path in FILES for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one."""
    _, actual, rest = f"\n{(ROOT / page).read_text(encoding='utf-8')}".partition(f"# {heading}\n")
    assert actual, f"{page} must have the heading {heading!r}"
    return " ".join(re.split(r"^#+ ", rest, flags=re.M)[0].split())


@pytest.mark.parametrize("row", QUESTIONS, ids=[row["question"] for row in QUESTIONS])
def test_a_question_has_an_answer(row: dict[str, str]) -> None:
    text = section(row["page"], row["heading"])
    assert any(phrase.strip() in text for phrase in row["answer"].split("|")), row["answer"]
