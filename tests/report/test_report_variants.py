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


def sections(folder: Path) -> dict[str, str]:
    """The sections of the page with figures of variants, by the names of these."""
    assert call(report, "mine")[0] == 0
    page = (folder / "outputs" / "studies" / "mine" / "report" / "index.html").read_text()
    ids = Elements(page).values("id")
    assert len(ids) == len(set(ids))
    targets = {unquote(value[1:]) for value in Elements(page).values("href") if value.startswith("#")}
    assert targets <= set(ids)
    return dict(re.findall(r"<h2 [^>]*>Figures under the variant (\w+)</h2>(.*?)</section>", page, re.DOTALL))


def test_figures_of_variants_are_shown_where_they_are_drawn(here: Path) -> None:
    assert sections(here) == {}
    assert call(claims, "mine", "--decide")[0] == 0  # the experiments of the variant
    assert call(figures, "mine", "--variants", "wide")[0] == 0
    assert call(figures, "mine", "--replace", "without_meta=ada_pomrl")[0] == 0
    found = sections(here)
    for name, words in (("wide", "--variants wide"), ("ada_pomrl", "--replace without_meta=ada_pomrl")):
        assert found[name].count("<img") == 2
        assert f"pomrl figures mine {words} curves" in found[name]
    assert "sigma=0.02" in found["wide"]
    (here / "outputs" / "studies" / "mine" / "figures" / "ada_pomrl" / "curves.csv").write_text("x\n")
    status, _, said = call(report, "mine")
    assert status == 1
    assert said.rstrip().endswith("; pomrl figures mine --replace without_meta=ada_pomrl curves renews it")
