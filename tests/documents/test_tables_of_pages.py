"""Tables of pages: a study tracks them beside its pages, and they are renewed with these."""

from pathlib import Path

import pandas as pd
import pytest
from docs.build import documents
from tests.support.computed import call
from tests.support.study_folders import UNDRAWN, write

from pomrl.commands import reproduce
from pomrl.configuration.studies import find, shipped_studies
from pomrl_report.documents import fill

pytestmark = pytest.mark.slow

TABLES = {
    ("pomrl2023", "notebook"): ("notebook_effects", "notebook_ladder"),
    ("pomrl2023", "readings"): ("readings_claims", "readings_choices"),
    ("horizons", "advice"): ("losses",),
}
"""The pages with tables that code makes, each with the files of the values that it makes them from."""

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


@pytest.mark.parametrize(("study", "name"), TABLES)
def test_tables_equal_the_values_beside_pages(study: str, name: str, request: pytest.FixtureRequest) -> None:
    folder = find(study).folder / "pages"
    (module,) = (module for module in find(study).modules("pages") if module.__name__.endswith(f".{name}"))
    values = (pd.read_csv(folder / f"{file}.csv") for file in TABLES[study, name])
    page = folder / f"{name}.md"
    actual = fill(page.read_text(), module.tables(*values))
    if request.config.getoption("force_regen"):
        page.write_text(actual)
    assert page.read_text() == actual


def test_every_page_with_tables_is_compared() -> None:
    page_names = {
        (study.name, module.__name__.rpartition(".")[2])
        for study in shipped_studies()
        for module in study.modules("pages")
    }
    assert page_names == {*TABLES}


@pytest.fixture
def pages(cwd: Path) -> Path:
    """The folder of the pages of a study, which nobody has computed."""
    return write(cwd / "mine", FILES) / "pages"


def test_pages_renew_only_their_own_tables(pages: Path) -> None:
    assert call(reproduce, "mine")[0] == 0
    status, printed, err = call(documents, "mine")
    assert status == 0, err
    assert (pages / "numbers.csv").read_text() == "claims\n1\n"
    assert (pages / "by_hand.csv").read_text() == "kept\n"
    assert str(pages / "numbers.csv") in printed.splitlines()
    assert str(pages / "by_hand.csv") not in printed


def test_provisional_results_renew_no_table(pages: Path) -> None:
    assert call(reproduce, "mine", "--runs", "3")[0] == 0
    _, _, err = call(documents, "mine")
    assert "its own pages stay as they are, because 1 claim with too few runs" in err
    assert (pages / "numbers.csv").read_text() == "old\n"
