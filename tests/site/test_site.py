"""The site: a strict build, links that lead somewhere, and pages that anybody can read without a network."""

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from docs.build import generated
from mkdocs.exceptions import PluginError
from playwright.sync_api import Browser, Page
from tests.support.browser import faults_of_axe, needs_axe, watched
from tests.support.computed import call, docs
from tests.support.contradictions import contradictions
from tests.support.settings import ROOT
from tests.support.worlds import PAPER

import pomrl
from pomrl import bounds, components, study
from pomrl.commands import main
from pomrl.configuration.studies import shipped_studies
from pomrl.drawing.figure import figures_of
from pomrl_studies.pomrl2023.choices import differences

pytestmark = pytest.mark.slow

PAGES = (
    *(
        "index.html",
        "studies/pomrl2023/theory.html",
        "reference/bounds.html",
        "reference/commands.html",
        "gallery.html",
    ),
    *("paper-to-code.html", "code/pomrl/science/algorithm.html"),
)
"""A page of each kind: prose, formulas, docstrings, commands, pictures, a wide table, and code."""

WIDTHS = (390, 1280)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as it is published: what is only a warning otherwise is an error."""
    folder = tmp_path_factory.mktemp("built") / "site"
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def texts(site: Path) -> dict[Path, str]:
    """The pages of the site, by their paths."""
    return {path: path.read_text() for path in site.rglob("*.html")}


def plain_text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


def test_every_link_leads_to_a_heading(site: Path, texts: dict[Path, str]) -> None:
    anchors = {path: set(re.findall(r'\bid="([^"]*)"', text)) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        if path.name == "404.html":  # which only a server shows, from its own root
            continue
        for target in set(re.findall(r'\b(?:href|src)="([^"]*)"', text)):
            address = urlparse(target)
            if address.scheme or not (address.path or address.fragment):
                continue
            to = (path.parent / unquote(address.path)).resolve() if address.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.is_file() or (
                address.fragment and to in anchors and unquote(address.fragment) not in anchors[to]
            ):
                dead.append(f"{path.relative_to(site)}: {target}")
    assert dead == []


def test_the_site_names_no_machine_or_date(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js", ".json", ".xml"):
            assert str(ROOT) not in path.read_text(), path
    assert not list(site.glob("sitemap*"))


def test_it_is_small_enough_for_a_wheel(site: Path, tmp_path: Path) -> None:
    assert Path(shutil.make_archive(str(tmp_path / "site"), "zip", site)).stat().st_size < 3_100_000


def test_every_command_has_a_page_of_options(texts: dict[Path, str], site: Path) -> None:
    text = plain_text(texts[site / "reference" / "commands.html"])
    for name in main.COMMANDS:
        assert f"pomrl {name}" in text
    assert "--against KEY=VALUE" in text
    assert "usage: pomrl docs [-h]" in text


def test_every_public_name_is_in_the_reference(texts: dict[Path, str], site: Path) -> None:
    faces = {"pomrl": pomrl, "components": components, "study": study, "bounds": bounds}
    for name, face in faces.items():
        offered = {member for member in dir(face) if _is_ours(face, member)}
        actual = re.findall(
            r'<h2 id="pomrl[^>]*>.*?</code>\s*([\w ]+)', texts[site / "reference" / f"{name}.html"], flags=re.DOTALL
        )
        assert offered <= set(actual), name


def _is_ours(face: object, name: str) -> bool:
    """Return whether a name is one that the face offers, and not one of Python or of a library."""
    value = getattr(face, name)
    return not name.startswith("_") and getattr(value, "__module__", "").startswith("pomrl.")


def test_every_figure_is_in_the_gallery(texts: dict[Path, str], site: Path) -> None:
    text = plain_text(texts[site / "gallery.html"])
    for shipped in shipped_studies():
        for figure in figures_of(shipped):
            assert f"pomrl reproduce {shipped.name} figures --only {figure.name}" in text


def test_links_to_tables_lead_to_their_rows(texts: dict[Path, str], site: Path) -> None:
    linked = set[Path]()
    for document in (path for shipped in shipped_studies() for path in (shipped.folder / "pages").glob("*.md")):
        page = site / "studies" / document.parts[-3] / f"{document.stem}.html"
        targets = {(page.parent / href).resolve() for href in re.findall(r'href="([^"#]*)', texts[page])}
        for link in re.findall(r"\]\(([^()]+\.csv)\)", document.read_text()):
            table = (document.parent / link).resolve()
            name = table.parent.name if table.stem == "claims" else table.parts[-3]
            path = site / "studies" / name / f"{table.stem}.html"
            assert path in targets, f"{document}: {link}"
            rows = table_rows(texts[path])
            with table.open(encoding="utf-8", newline="") as file:
                assert len(rows[-1]) == len([*csv.reader(file)]), table
            linked.add(table)
    assert PAPER.folder / "pages" / "notebook_effects.csv" in linked
    assert PAPER.folder / "claims.csv" in linked


def table_rows(html: str) -> list[list[str]]:
    """Return the rows of each table of a page, with its head."""
    return [table.split("<tr>")[1:] for table in re.findall(r"<table.*?</table>", html, flags=re.DOTALL)]


def test_the_page_of_differences_has_all(texts: dict[Path, str], site: Path) -> None:
    text = texts[site / "studies" / "pomrl2023" / "ledger.html"]
    assert {difference.name for difference in differences()} <= set(re.findall(r"<td>(\w+)(?: \([^)]*\))?</td>", text))


def test_formulas_are_formulas(texts: dict[Path, str], site: Path) -> None:
    text = texts[site / "studies" / "pomrl2023" / "theory.html"]
    assert text.count("<math") > 200
    assert "$" not in re.sub(r"<code.*?</code>|<script.*?</script>", "", text, flags=re.DOTALL)


def test_paper_numbers_link_in_both_directions(texts: dict[Path, str], site: Path) -> None:
    assert '(<a href="../paper-to-code.html#eq-4">Eq. 4</a>)' in texts[site / "reference" / "components.html"]
    assert '(<a href="../paper-to-code.html#theorem-3">Theorem 3</a>)' in texts[site / "reference" / "bounds.html"]
    rows = texts[site / "paper-to-code.html"].split("<tr>")
    row = next(row for row in rows if 'id="eq-4"' in row)
    link = re.search(r'href="(code/pomrl/science/algorithm.html)#(L\d+)"', row)
    assert link
    line = next(line for line in texts[site / link[1]].splitlines() if f'id="{link[2]}"' in line)
    assert "solution of Eq. 4" in plain_text(line)
    assert '<a href="../../../paper-to-code.html#eq-4">Eq. 4</a>' in line
    other = texts[site / "studies" / "jiang2015" / "notes.html"]
    assert "Theorem 2" in other
    assert "paper-to-code.html#theorem" not in other


def test_the_glossary_has_the_projects_words(texts: dict[Path, str], site: Path) -> None:
    terms = re.findall(r"<td>([\w, ]+)</td>", texts[site / "reference" / "glossary.html"])
    assert {"study", "sweep", "claim", "signature"} <= set(terms)
    assert "Packages" not in generated.glossary()


def test_undocumented_public_names_end_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"__init__": "", "bounds": '"""Bounds."""\nfrom pomrl.of import said as said, unsaid as unsaid\n',
                       "of": 'said = 1\n"""Is said."""\nunsaid = 2\n'}.items():  # fmt: skip
        (tmp_path / "pomrl").mkdir(exist_ok=True)
        (tmp_path / "pomrl" / f"{name}.py").write_text(text)
    monkeypatch.setattr(generated, "SOURCE", tmp_path)
    monkeypatch.setattr(generated, "package", generated.package.__wrapped__)
    with pytest.raises(PluginError, match=r"pomrl\.bounds: public names without a docstring: unsaid$"):
        generated.reference("bounds")


class TestInTheBrowser:
    @pytest.fixture
    def page(self, browser: Browser, site: Path) -> Iterator[Page]:
        with watched(browser) as page:
            page.route(re.compile("^https?:"), lambda route: route.abort())
            yield page

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("name", PAGES)
    def test_a_page_fits_on_its_screen(self, page: Page, site: Path, name: str, width: int) -> None:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")

    @pytest.mark.parametrize("name", PAGES)
    def test_nothing_on_a_page_contradicts_itself(self, page: Page, site: Path, name: str) -> None:
        page.goto((site / name).as_uri())
        assert contradictions(page) == []

    def test_it_is_dark_where_that_is_preferred(self, page: Page, site: Path) -> None:
        page.goto((site / "index.html").as_uri())
        background = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
        assert page.evaluate(background) > 200
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"{background} < 60")

    def test_search_works_in_the_local_copy(self, page: Page, site: Path) -> None:
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("empirical_bayes")
        page.wait_for_selector(".md-search-result__link")
        actual = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
        assert any("configuration.html" in address for address in actual)

    @needs_axe
    @pytest.mark.parametrize("name", PAGES)
    def test_axe_finds_no_fault(self, page: Page, site: Path, name: str) -> None:
        page.goto((site / name).as_uri())
        assert faults_of_axe(page, *WIDTHS) == []


def test_pomrl_docs_opens_the_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("pomrl_report.docs.beside_the_package", lambda name: site.parent / name)
    assert call(docs) == (0, f"{site / 'index.html'}\n", "")
    assert opened == [(site / "index.html").as_uri()]
