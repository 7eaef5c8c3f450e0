"""The figures of variants on the page."""

import re
from pathlib import Path

import pytest
from tests.support.computed import call, figures, report
from tests.support.elements import assert_closed
from tests.support.study_folders import SMALL, write

from pomrl.commands import reproduce

pytestmark = pytest.mark.slow

VARIANTS = "variants: {default: {}, wide: {sigma: 0.02}}\n"


def render_page(folder: Path) -> str:
    assert call(report, "mine")[0] == 0
    page = (folder / "outputs" / "studies" / "mine" / "report" / "index.html").read_text()
    assert_closed(page)
    return page


def sections(page: str) -> dict[str, str]:
    """The sections with figures of variants, by the names of these."""
    return dict(re.findall(r"<h2 [^>]*>Figures under the variant (\w+)</h2>(.*?)</section>", page, re.DOTALL))


def test_figures_of_variants_stand_where_drawn(cwd: Path) -> None:
    write(cwd / "mine", study_yaml=SMALL["study.yaml"] + VARIANTS)
    assert call(reproduce, "mine", "--runs", "3")[0] == 0
    page = render_page(cwd)
    article = page.partition('id="figure-curves"')[2].partition("</article>")[0]
    assert '<details class="version">' in article.partition("</figure>")[0]  # which print opens
    assert "The same with " in article
    assert all(f'href="curves{suffix}.csv"' in article for suffix in ("", "_intervals"))
    assert sections(page) == {}
    assert call(reproduce, "mine")[0] == 0  # the experiments of the variant
    assert call(figures, "mine", "--variants", "wide")[0] == 0
    actual = sections(render_page(cwd))
    assert actual["wide"].count("<img") == 2
    assert "pomrl reproduce mine figures --variants wide --only curves" in actual["wide"]
    assert "sigma=0.02" in actual["wide"]
    (cwd / "outputs" / "studies" / "mine" / "figures" / "wide" / "curves.csv").write_text("x\n")
    status, _, err = call(report, "mine")
    assert status == 1
    assert err.rstrip().endswith("; run pomrl reproduce mine figures --variants wide --only curves again")
