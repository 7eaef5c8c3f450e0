"""Test the table of the paper's sentences: it lists every claim, and no other."""

import csv
import re

from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import find
from pomrl.configuration.sweeps import experiment
from pomrl.judging.claim import claims_of

PAPER = find("pomrl2023")
PAGES = PAPER.folder / "pages"
ROWS = list(csv.DictReader((PAGES / "sentences.csv").read_text(encoding="utf-8").splitlines()))
REASONS = ("Definition", "Motivation", "Cited", "Proof", "Arithmetic", "Not computed")
CLAIM = r"(?:Q\d|[AIT])\.\d+"


def claims_in(row: dict[str, str]) -> list[str]:
    return row["claims"].split(", ") if row["claims"] else []


def test_every_claim_is_in_the_table() -> None:
    assert {id for row in ROWS for id in claims_in(row)} == {claim.id for claim in claims_of(PAPER)}


def test_every_sentence_has_claim_or_reason() -> None:
    assert len(ROWS) > 200
    for row in ROWS:
        assert all((row["where"], row["sentence"])), row
        assert row["claims"] or row["reason"], row
        assert row["reason"] in ("", *REASONS), row


def test_notes_mention_only_claims_of_their_row() -> None:
    for row in ROWS:
        assert {*re.findall(rf"\b{CLAIM}\b", row["note"])} <= {*claims_in(row)}, row


def test_learners_differ_only_in_their_similarity() -> None:
    pomrl, ada = (
        vars(experiment(PUBLISHED, [f"estimator={name}"]).method.estimator) for name in ("pomrl", "ada_pomrl")
    )
    assert {name for name in pomrl.keys() | ada.keys() if pomrl.get(name) != ada.get(name)} == {"similarity"}


def test_the_page_explains_the_reasons() -> None:
    results = (PAGES / "results.md").read_text(encoding="utf-8")
    assert re.findall(r"^- \*(\w[\w ]*)\*:", results, flags=re.MULTILINE) == [*REASONS]


def test_each_claim_has_its_section() -> None:
    for claim in claims_of(PAPER):
        sections = " ".join(row["where"] for row in ROWS if claim.id in claims_in(row))
        named = re.findall(
            r"Sec\. \d|App\. [A-F]|Figure F?\d|Abstract|Theorem \d", claim.where.replace("Figures", "Figure")
        )
        assert named, claim.id
        assert any(section in sections for section in named), (claim.id, claim.where, sections)
