"""The page that goes through the paper sentence by sentence names every claim, and no other."""

import re

from pomrl.configuration.study import find
from pomrl.judging.claim import claims_of

PAPER = find("pomrl2023")
TEXT = (PAPER.folder / "pages" / "sentences.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ") and "---" not in line]
ROWS = [row for row in ROWS if row[0] != "where"]
REASONS = ("Definition", "Motivation", "Cited", "Proof", "Arithmetic", "Not computed")
CLAIM = r"\b(?:Q\d|[AIT])\.\d+\b"


def test_every_claim_is_in_the_table_and_every_claim_there_exists() -> None:
    named = {id for row in ROWS for id in re.findall(CLAIM, row[-1])}
    assert named == {claim.id for claim in claims_of(PAPER)}


def test_every_sentence_has_a_claim_or_a_reason() -> None:
    assert len(ROWS) > 150
    for row in ROWS:
        assert re.match(CLAIM, row[-1]) or row[-1].startswith(REASONS), row


def test_the_reasons_are_those_that_the_page_explains() -> None:
    explained = re.findall(r"^- \*(\w[\w ]*)\*:", TEXT, flags=re.MULTILINE)
    assert explained == [*REASONS]


def test_each_claim_stands_in_a_row_of_the_place_that_it_names() -> None:
    for claim in claims_of(PAPER):
        places = " ".join(row[0] for row in ROWS if claim.id in re.findall(CLAIM, row[-1]))
        named = re.findall(
            r"Sec\. \d|App\. [A-F]|Figure F?\d|Abstract|Theorem \d", claim.where.replace("Figures", "Figure")
        )
        assert named, claim.id
        assert any(place in places for place in named), (claim.id, claim.where, places)
