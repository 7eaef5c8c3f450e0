"""Tables of sentences of other papers: they list every claim, and no other."""

import csv
import re

import pytest

from pomrl.configuration.studies import find
from pomrl.judging.claim import claims_of


@pytest.mark.parametrize("name", ["jiang2015", "rathnam2023"])
def test_sentences_list_exactly_the_claims(name: str) -> None:
    study = find(name)
    with (study.folder / "pages" / "sentences.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["sentence"] and row["claims or why none"] for row in rows)
    named = " ".join(row["claims or why none"] for row in rows)
    assert {*re.findall(r"\b[DJ]\d+\b", named)} == {claim.id for claim in claims_of(study)}
