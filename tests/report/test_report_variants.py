"""The figures of variants on the page."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.support.computed import call
from tests.support.elements import Elements
from tests.support.study_folders import SMALL, forget, write

from pomrl.commands import claims, figures, report, reproduce

pytestmark = pytest.mark.slow

VARIANTS = "variants: {default: {}, wide: {sigma: 0.02}}\n"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder with a study of two variants that is computed, judged and drawn."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("POMRL_OUTPUTS", "outputs")
    forget("mine")
    write(tmp_path / "mine", study_yaml=SMALL["study.yaml"] + VARIANTS)
    status, _, said = call(reproduce, "mine", "--runs", "3")
    assert status == 0, said
    yield tmp_path
    forget("mine")


def page_of(folder: Path) -> str:
    """The page, in which every link leads somewhere."""
    assert call(report, "mine")[0] == 0
    page = (folder / "outputs" / "studies" / "mine" / "report" / "index.html").read_text()
    ids = Elements(page).values("id")
    assert len(ids) == len(set(ids))
    targets = {unquote(value[1:]) for value in Elements(page).values("href") if value.startswith("#")}
    assert targets <= set(ids)
    return page


def sections(page: str) -> dict[str, str]:
    """The sections with figures of variants, by the names of these."""
    return dict(re.findall(r"<h2 [^>]*>Figures under the variant (\w+)</h2>(.*?)</section>", page, re.DOTALL))


def test_both_versions_of_a_figure_stand_together_and_figures_of_variants_where_they_are_drawn(here: Path) -> None:
    page = page_of(here)
    article = page.partition('id="figure-curves"')[2].partition("</article>")[0]
    assert '<details class="version">' in article.partition("</figure>")[0]  # which print opens
    assert "The same with " in article
    assert all(f'download="curves{of}.csv.gz"' in article for of in ("", "_intervals"))
    assert sections(page) == {}
    assert call(claims, "mine", "--decide")[0] == 0  # the experiments of the variant
    assert call(figures, "mine", "--variants", "wide")[0] == 0
    assert call(figures, "mine", "--replace", "without_meta=ada_pomrl")[0] == 0
    found = sections(page_of(here))
    for name, words in (("wide", "--variants wide"), ("ada_pomrl", "--replace without_meta=ada_pomrl")):
        assert found[name].count("<img") == 2
        assert f"pomrl figures mine {words} curves" in found[name]
    assert "sigma=0.02" in found["wide"]
    (here / "outputs" / "studies" / "mine" / "figures" / "ada_pomrl" / "curves.csv").write_text("x\n")
    status, _, said = call(report, "mine")
    assert status == 1
    assert said.rstrip().endswith("; pomrl figures mine --replace without_meta=ada_pomrl curves renews it")
