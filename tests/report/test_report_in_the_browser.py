"""How the page works in a browser."""

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page
from tests.support.browser import SCHEMES, faults_of_axe, needs_axe, watched
from tests.support.contradictions import contradictions
from tests.support.elements import find_curve
from tests.support.report_outputs import DRAWN

from pomrl.drawing.style import look

pytestmark = pytest.mark.slow

PAPER = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"

LOADED = """(image) => new Promise((done) => {
    image.loading = "eager";
    if (image.naturalWidth) done(); else image.addEventListener("load", () => done());
})"""

CLIPPED = """[...document.querySelectorAll("main *, .top *")].filter((each) => !each.closest(".hidden, math") && (
    each.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    || (getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1)
)).map((each) => each.outerHTML.slice(0, 100))"""
"""The elements of which a part is beyond the page, or hidden in what contains it."""


@pytest.fixture
def visit(browser: Browser, path: Path) -> Iterator[Page]:
    with watched(browser) as visited:
        visited.goto(path.as_uri())
        visited.wait_for_selector("#explorer[data-ready]")
        visited.wait_for_selector("#explore[data-ready]", state="attached")
        yield visited


def line(visited: Page) -> str:
    """The first curve that is drawn."""
    return visited.locator("#loss .mark-line path").first.get_attribute("d") or ""


def test_every_image_is_loaded(visit: Page) -> None:
    for picture in visit.locator("img").all():
        picture.evaluate(LOADED)
    assert visit.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    assert visit.evaluate("document.images.length") == len(DRAWN)
    assert visit.locator("section").count() == visit.locator("main > section").count() > 5
    charts = visit.locator(".chart[role=img][aria-label] > svg[aria-hidden=true]")  # hidden behind labels
    assert visit.locator(".chart svg").count() == charts.count() == 4


def test_the_keyboard_moves_the_slider(visit: Page) -> None:
    visit.keyboard.press("Tab")
    assert visit.evaluate("document.activeElement.textContent") == "Skip to the content"
    last = line(visit)
    assert last.count("L") > 10
    visit.focus("#task")
    visit.keyboard.press("Home")
    visit.wait_for_function("d => document.querySelector('#loss .mark-line path').getAttribute('d') !== d", arg=last)
    assert visit.inner_text("#task-shown") == "1"
    assert "Task 1," in visit.inner_text("#explained")


def test_table_values_equal_the_curve(visit: Page, embedded: dict) -> None:
    curve = find_curve(embedded, "task_similarity", 0.01, "ada-POMRL")
    cells = visit.locator("#values tr", has_text="ada-POMRL").locator("td").all_inner_texts()
    best = curve["best"][-1]
    assert cells[0] == f"{curve['gammas'][best]:g}"
    assert float(cells[1]) == pytest.approx(embedded["unit"] * curve["mean"][-1][best], abs=6e-4)
    assert float(cells[3]) == curve["choices"][look("best_fixed", "gamma_schedule").label][-1][0]


def test_choices_select_related_methods(visit: Page) -> None:
    visit.get_by_label("Oracle prior knowledge").uncheck()
    visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 3")
    visit.get_by_label("Oracle prior knowledge").check()
    visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 4")
    visit.select_option("#choose-sigma", "0.047")
    assert visit.input_value("#choose-sweep") == "task_similarity"
    visit.select_option("#choose-m", "50")
    assert visit.input_value("#choose-sweep") == "illustration"
    assert visit.input_value("#choose-T") == "1"
    assert visit.is_disabled("#task")
    visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 4")


def test_claims_can_be_searched(visit: Page) -> None:
    claims = visit.locator("article.claim:visible")
    total = claims.count()
    visit.locator("#filter [name=words]").fill("Q1.1 LOSS")
    assert claims.evaluate_all("claims => claims.map(claim => claim.id)") == ["claim-Q1.1"]
    visit.locator("#filter [name=verdict]").select_option(index=1)
    assert visit.inner_text("#filter output") == f"{claims.count()} of {total} claims"
    visit.evaluate("location.hash = 'claim-Q1.2'")
    visit.wait_for_selector('[id="claim-Q1.2"]', state="visible")
    assert claims.count() == total


def test_links_land_at_their_figure(browser: Browser, path: Path) -> None:
    with watched(browser) as visited:
        visited.goto(f"{path.as_uri()}#figure-upper_bound")
        visited.wait_for_selector("#explore[data-ready]", state="attached")
        visited.wait_for_timeout(1500)  # longer than a smooth scroll, which would miss what is drawn meanwhile
        assert 0 <= visited.locator("#figure-upper_bound").evaluate("each => each.getBoundingClientRect().top") < 100


def test_nothing_is_wider_than_the_screen(visit: Page) -> None:
    visit.set_viewport_size({"width": 390, "height": 844})
    visit.locator("#figure-planning_omrl .enlarge").first.press("Enter")
    picture = visit.locator("#large img").bounding_box()
    assert picture
    assert picture["width"] > 800
    visit.keyboard.press("Escape")
    assert not visit.is_visible("#large")
    visit.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    for width in (320, 390, 1280):
        visit.set_viewport_size({"width": width, "height": 844})
        assert visit.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pictures_have_the_background_of_the_page(
    browser: Browser, path: Path, scheme: Literal["light", "dark"]
) -> None:
    visited = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    visited.goto(path.as_uri())
    picture = visited.locator("#figure-planning_omrl img")
    picture.evaluate("image => { image.decoding = 'sync'; image.scrollIntoView({behavior: 'instant'}) }")
    picture.evaluate(LOADED)
    screenshot = Image.open(BytesIO(picture.screenshot())).convert("RGB")
    corner, paper = screenshot.getpixel((3, 3)), visited.evaluate(PAPER)
    visited.close()
    assert corner == pytest.approx(paper, abs=3)
    assert (paper[0] < 50) is (scheme == "dark")
    assert len(screenshot.getcolors(maxcolors=10**6) or []) > 20  # it is drawn


def test_print_has_all_pictures_and_no_controls(visit: Page) -> None:
    visit.emulate_media(media="print", color_scheme="dark")
    visit.set_viewport_size({"width": 710, "height": 1000})
    assert visit.evaluate(PAPER)[0] > 200
    assert not visit.is_visible("nav")
    methods = visit.locator("#methods label:visible").all_inner_texts()
    assert methods == visit.locator("#values th[scope=row]").all_inner_texts()
    for chart in visit.locator(".chart svg").all():
        box = chart.bounding_box()
        assert box
        assert box["width"] > 300
        assert box["x"] + box["width"] <= 710
    assert visit.locator(":is(input, select, button:not(.enlarge), .commands, .files):visible").count() == 0
    assert visit.evaluate(CLIPPED) == []
    assert len(re.findall(rb"/Subtype\s*/Image", visit.pdf(format="A4", print_background=True))) >= len(DRAWN)


def test_nothing_contradicts_itself_at_any_width(visit: Page) -> None:
    assert contradictions(visit) == []


@needs_axe
def test_axe_finds_no_fault(visit: Page) -> None:
    visit.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert faults_of_axe(visit, 390, 1280) == []


def test_sliders_change_what_is_planned(visit: Page) -> None:
    before = visit.text_content("#explore-explained") or ""
    assert "both plans are the same in 100 of 100 runs" in before
    visit.focus("#explore-m")
    visit.keyboard.press("End")
    visit.wait_for_function("text => document.getElementById('explore-explained').textContent !== text", arg=before)
    assert visit.text_content("#explore-m-shown") == "50"
