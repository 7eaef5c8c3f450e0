"""The answer with which the page opens: verdicts counted to scale, and what holds, and why not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from tests.support.judged import FOUND, HOLDS, NOT, OPEN, write_judgements
from tests.support.report_outputs import study_html
from tests.support.worlds import PAPER

from pomrl.judging.judgements import Judgements
from pomrl_report.claim_tables import columns, groups, positions


@pytest.fixture
def judgements(tmp_path: Path) -> Judgements:
    return write_judgements(tmp_path, FOUND)


class TestAnswer:
    def test_each_variant_has_its_counts(self, judgements: Judgements) -> None:
        printed, repaired, computed = columns(PAPER, judgements)
        assert [printed.counts[verdict] for verdict in (HOLDS, NOT, OPEN)] == [1, 4, 1]
        assert [repaired.counts[verdict] for verdict in (HOLDS, NOT, OPEN)] == [3, 2, 0]
        assert [computed.counts[verdict] for verdict in (HOLDS, NOT, OPEN)] == [4, 1, 0]
        assert [column.n_alone for column in (printed, repaired, computed)] == [1, 0, 0]
        assert [column.n_judged for column in (printed, repaired, computed)] == [6, 5, 5]

    def test_claims_are_grouped_by_where_they_hold(self, judgements: Judgements) -> None:
        by_heading = {
            heading: [(claim.id, why) for claim, why in group] for heading, group in groups(PAPER, judgements).items()
        }
        lost = "does not hold. a less b: claimed < 0, found 1.000 [0.999, 1.001]."
        assert by_heading["Claims that hold under every variant"] == [("Q1.1", "")]
        assert by_heading["Claims that hold only under repaired and computed"] == [("Q1.3", f"Under printed it {lost}")]
        assert by_heading["Claims that hold only under computed"] == [("Q1.4", f"Under printed it {lost}")]
        nowhere = by_heading["Claims that do not hold under any variant, and why"]
        assert nowhere == [(id, f"Under printed it {lost}") for id in ("T.4", "Q1.2")]  # the main one first
        ((open_one, why),) = by_heading["Claims that are undecided under at least one variant"]
        assert (open_one, why.startswith("Under printed it is undecided: ")) == ("Q1.6", True)

    def test_one_variant_is_not_named(self, tmp_path: Path) -> None:
        study = replace(PAPER, config=replace(PAPER.config, headline=["printed"]))
        actual = write_judgements(tmp_path, {"printed": {"Q1.1": HOLDS, "Q1.2": NOT}})
        claim = groups(study, actual)
        assert list(claim) == ["Claims that hold", "Claims that do not hold, and why"]
        assert claim["Claims that do not hold, and why"][0][1].startswith("Does not hold. a less b")

    def test_without_judgements_there_are_no_groups(self) -> None:
        assert (columns(PAPER, Judgements({})), groups(PAPER, Judgements({}))) == ([], {})


def test_intervals_are_drawn_with_their_thresholds(judgements: Judgements) -> None:
    some = judgements.of("printed")["Q1.1"].decisive
    comparison = some.but(estimate=1.0, lower=-1.0, upper=3.0, above=-np.inf, below=0.0)
    expected = {"lower": 8.33, "estimate": 50.0, "upper": 91.67, "above": 0.0, "below": 29.17}
    assert positions(comparison) == {**expected, "thresholds": [29.17]}
    inside = positions(comparison.but(above=-5.0, below=5.0))
    assert inside is not None
    assert inside["thresholds"] == [8.33, 91.67]
    assert positions(comparison.but(lower=np.nan, upper=np.nan)) is None


@pytest.mark.slow
class TestInTheBrowser:
    @pytest.fixture
    def page(self, browser: Browser, empty_outputs: Path) -> Iterator[Page]:
        write_judgements(empty_outputs / "studies" / "pomrl2023", FOUND)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_content(study_html("pomrl2023"))
        yield page
        page.close()

    @pytest.mark.parametrize("width", [390, 1280])
    def test_the_answer_has_bars_to_scale(self, page: Page, width: int) -> None:
        page.set_viewport_size({"width": width, "height": 900})
        bars = page.evaluate("""[...document.querySelectorAll(".bar")].map((bar) =>
            [...bar.children].map((part) => [part.className, part.getBoundingClientRect().width]))""")
        unit = bars[0][0][1]  # that of the one claim that holds as printed
        kinds = {HOLDS: "holds", NOT: "does-not-hold", OPEN: "undecided"}
        for bar, verdicts in zip(bars, FOUND.values(), strict=True):
            numbers = {kinds[verdict]: list(verdicts.values()).count(verdict) for verdict in verdicts.values()}
            assert {kind: length / unit for kind, length in bar} == pytest.approx(numbers, rel=0.01)
        lines = page.locator(".tally").first.inner_text().split("\n")
        heads = ["As printed", "6 claims, 1 under this variant only"]
        verdicts = ["1 ✓ holds", "4 ✗ do not hold", "0 ≈ show no difference of interest", "1 ? is undecided"]
        assert [line for line in lines if line] == [*heads, *verdicts]
        fills = page.evaluate("""[...document.querySelectorAll(".tally:first-child .bar span")].map((part) => {
            const style = getComputedStyle(part);
            return [style.backgroundImage === "none", style.backgroundColor === "rgba(0, 0, 0, 0)"].join();
        })""")
        assert len(set(fills)) == 3
        order = page.evaluate("[...document.querySelectorAll('.answer, main > section')].map(each => each.id)")
        assert order[:2] == ["", "curves"]
        for address in page.locator(".answer a").evaluate_all("links => links.map(link => link.getAttribute('href'))"):
            assert page.locator(f'[id="{address[1:]}"]').count() == 1
