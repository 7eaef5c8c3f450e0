"""Figures in the report: the version of the caption and the one with intervals stand together."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pomrl.commands import report as command
from pomrl.figures import INTERVALS
from pomrl.drawing.drawing import Drawing
from pomrl.drawing.files import Sidecar, save
from pomrl.report import ReportError
from pomrl.report.figure_files import FigureFiles
from pomrl.report.page import html
from pomrl.results.stored_sweeps import StoredSweeps


@pytest.fixture
def outputs(
    drawings: Mapping[str, Drawing], sweeps: StoredSweeps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with a figure in both versions, one of which there is only one, and nothing else."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    name = "pomrl_vs_adapomrl_intervals"
    save(INTERVALS[name].draw(sweeps), tmp_path / "figures", name, Sidecar(name))
    for name in ("pomrl_vs_adapomrl", "upper_bound"):
        save(drawings[name], tmp_path / "figures", name, Sidecar(name))
    return tmp_path


def test_a_figure_has_the_versions_that_are_drawn(outputs: Path) -> None:
    figure = FigureFiles("pomrl_vs_adapomrl", outputs / "figures")
    assert [version.stem for version in figure.versions] == ["pomrl_vs_adapomrl", "pomrl_vs_adapomrl_intervals"]
    assert [version.bands for version in figure.versions] == [
        "one standard deviation over 4 runs",
        "95 % intervals of the mean over 4 runs",
    ]
    assert len({version.picture.content for version in figure.versions}) == 2
    (only,) = FigureFiles("upper_bound", outputs / "figures").versions
    assert only.bands == ""
    assert not FigureFiles("planning_omrl", outputs / "figures").versions


def test_the_page_shows_both_with_their_numbers_of_runs_and_tables(outputs: Path) -> None:
    page = html(outputs, command.documents())
    assert page.count("<img") == 3
    article = page.partition('id="figure-pomrl_vs_adapomrl"')[2].partition("</article>")[0]
    for part in ("One standard deviation over 4 runs.", "95 % intervals of the mean over 4 runs.", "Bands: 95 %"):
        assert part in article
    for name in ("pomrl_vs_adapomrl", "pomrl_vs_adapomrl_intervals"):
        assert f'download="{name}.csv"' in article
    assert "<details" not in article.partition("</figure>")[0]  # so that both are printed


def test_damage_of_the_version_with_intervals_is_refused(outputs: Path) -> None:
    (outputs / "figures" / "pomrl_vs_adapomrl_intervals.png").write_bytes(b"")
    with pytest.raises(ReportError, match=r"python -m src\.figures pomrl_vs_adapomrl_intervals renews it"):
        html(outputs, command.documents())
