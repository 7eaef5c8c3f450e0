"""Tables of pages: a study tracks them beside its pages, and they are renewed with these."""

from pathlib import Path

import pytest
from docs.build import documents
from tests.support.computed import call
from tests.support.study_folders import UNDRAWN, write

from pomrl.commands import reproduce

pytestmark = pytest.mark.slow

PAGE = """\
import pandas as pd


def parts(page):
    page.write("numbers", pd.DataFrame({"claims": [len(page.judgements.main)]}))
    return {"count": "one"}
"""
FILES = {
    **UNDRAWN,
    "pages/notes.md": "# Notes\n\n<!-- count -->\n<!-- end of count -->\n",
    "pages/notes.py": PAGE,
    "pages/numbers.csv": "old\n",
    "pages/by_hand.csv": "kept\n",
}


@pytest.fixture
def pages(here: Path) -> Path:
    """The folder of the pages of a study, which nobody has computed."""
    return write(here / "mine", FILES) / "pages"


def test_a_table_that_a_page_makes_is_renewed_and_another_is_left_alone(pages: Path) -> None:
    assert call(reproduce, "mine")[0] == 0
    status, printed, said = call(documents, "mine")
    assert status == 0, said
    assert (pages / "numbers.csv").read_text() == "claims\n1\n"
    assert (pages / "by_hand.csv").read_text() == "kept\n"
    assert str(pages / "numbers.csv") in printed.splitlines()
    assert str(pages / "by_hand.csv") not in printed


def test_provisional_results_renew_no_table(pages: Path) -> None:
    assert call(reproduce, "mine", "--runs", "3")[0] == 0
    _, _, said = call(documents, "mine")
    assert "its own pages stay as they are, because 1 claim with too few runs" in said
    assert (pages / "numbers.csv").read_text() == "old\n"
