"""Figures in the report: the version of the caption and the one with intervals stand together."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.shipped import FIGURES

from pomrl.configuration.study import find
from pomrl.drawing.drawing import Drawing
from pomrl.drawing.files import Sidecar, save
from pomrl.report.page import html
from pomrl.results.stored_sweeps import StoredSweeps

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(drawings: Mapping[str, Drawing], sweeps: StoredSweeps, empty_outputs: Path) -> Path:
    """The figures of outputs with a figure in both versions, one of which there is only one, and nothing else."""
    folder, name = empty_outputs / "studies" / "pomrl" / "figures", "pomrl_vs_adapomrl_intervals"
    save(FIGURES["pomrl_vs_adapomrl"].drawn(sweeps, with_intervals=True), folder, name, Sidecar(name))
    for name in ("pomrl_vs_adapomrl", "upper_bound"):
        save(drawings[name], folder, name, Sidecar(name))
    return folder


@pytest.mark.usefixtures("folder")
def test_the_page_shows_both_with_their_numbers_of_runs_and_tables() -> None:
    page = html(find("pomrl"), "pomrl report pomrl")
    assert page.count("<img") == 3
    article = page.partition('id="figure-pomrl_vs_adapomrl"')[2].partition("</article>")[0]
    for part in (
        "The same with one standard deviation over 4 runs",
        "95 % intervals of the mean over 4 runs.",
        "Bands: 95 %",
    ):
        assert part in article
    for name in ("pomrl_vs_adapomrl", "pomrl_vs_adapomrl_intervals"):
        assert f'download="{name}.csv.gz"' in article
    assert '<details class="version">' in article.partition("</figure>")[0]  # which print opens
