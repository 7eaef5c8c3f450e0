import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.computed import two_runs_of

from pomrl import store
from pomrl.claims import CLAIMS
from pomrl.claims.verdict import Verdict
from pomrl.commands import claims as claims_command
from pomrl.commands import figures as figures_command
from pomrl.commands import report as command
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED
from pomrl.figures import FIGURES
from pomrl.figures.parts.files import save
from pomrl.figures.parts.style import ESTIMATORS
from pomrl.gamma_schedules import Hindsight
from pomrl.gamma_star import in_hindsight
from pomrl.report import ReportError, curves, readings, scorecard
from pomrl.report.figure_files import FigureFiles
from pomrl.report.markup import caption, document, symbols
from pomrl.report.page import html
from pomrl.report.titles import SHOWN_IN, TITLES, figures_of
from pomrl.results.statistics import band
from pomrl.store.derived import DerivedFiles

MEGABYTE = 10**6

# The first has ada-POMRL's run under another name of an option, which the report must not take over.
SWEEPS = ["mixing_rates", "task_similarity", "gamma_schedules", "illustration"]
DRAWN = [name for name, figure in FIGURES.items() if set(figure.SWEEPS) <= set(SWEEPS)]

READINGS = """reading,claim,verdict,estimate
default,Q1.1,reproduced,-0.8
default,Q1.3,undecided,0.08
std,Q1.1,not reproduced,0.5
"""


class Elements(HTMLParser):
    """The start tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.found if (value := attributes.get(attribute)) is not None]


def write_readings(folder: Path, text: str = READINGS) -> None:
    DerivedFiles(folder / "readings.json").write({"readings.csv": text.encode()}, {})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Outputs with two runs of some sweeps, the figures that they suffice for, and the claims."""
    folder = tmp_path_factory.mktemp("outputs")
    with two_runs_of(SWEEPS, folder):
        figures_command.draw(DRAWN, folder / "figures", save)
        claims_command.check_sweeps(PUBLISHED)
        write_readings(folder)
        yield folder


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    return command.write(folder)


@pytest.fixture(scope="module")
def page(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


@pytest.fixture(scope="module")
def embedded(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="curves-data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    return tmp_path


class TestContent:
    def test_every_figure_has_its_place(self, elements: Elements) -> None:
        ids = elements.values("id")
        assert all(f"figure-{name}" in ids for name in FIGURES)
        assert len(ids) == len(set(ids))

    def test_figures_that_are_drawn_are_shown_with_their_tables(self, folder: Path, elements: Elements) -> None:
        pictures = [attributes for tag, attributes in elements.found if tag == "img"]
        assert len(pictures) == len(DRAWN)
        downloads = {a["download"]: a["href"] for _, a in elements.found if "download" in a}
        assert set(downloads) == {f"{name}.csv" for name in DRAWN}
        for name, address in downloads.items():
            assert (
                base64.b64decode(str(address).removeprefix("data:text/csv;base64,"))
                == (folder / "figures" / str(name)).read_bytes()
            )

    def test_pictures_have_alternatives_that_say_what_one_would_see(self, elements: Elements) -> None:
        alternatives = [attributes["alt"] or "" for tag, attributes in elements.found if tag == "img"]
        assert all(len(text) > 40 for text in alternatives)
        (similarity,) = (text for text in alternatives if text.startswith("Figure 5:"))
        assert "Panels a to f" in similarity
        assert "ada-POMRL" in similarity
        assert "one standard deviation over 2 runs" in similarity

    def test_every_figure_has_the_commands_that_make_it(self, page: str) -> None:
        for name, figure in FIGURES.items():
            lines = [
                *(f"python -m src.run experiment={sweep}" for sweep in figure.SWEEPS),
                f"python -m src.figures {name}",
            ]
            assert "\n".join(lines) in page

    def test_settings_name_the_runs_behind_a_figure(self, folder: Path, page: str) -> None:
        sidecar = json.loads((folder / "figures" / "planning_omrl.json").read_text())
        article = page.partition('id="figure-planning_omrl"')[2].partition("</article>")[0]
        for source in sidecar["sweeps"]["task_similarity"]:
            assert source["signature"] in article
        assert all(digest in article for digest in sidecar["files"].values())
        assert "gamma_eval=0.99" in article

    def test_every_claim_is_on_the_scorecard_or_says_what_it_lacks(self, folder: Path, page: str) -> None:
        scored = scorecard.read(folder / "claims.csv")
        assert 0 < len(scored) < len(CLAIMS)
        assert all(f'id="claim-{claim.id}"' in page for claim in CLAIMS)
        for each in scored:
            article = page.partition(f'id="claim-{each.id}"')[2].partition("</article>")[0]
            assert each.verdict in article
            assert f"{each.decisive.estimate:.3f}" in article
            assert all(f'href="#figure-{name}"' in article for name in each.figures)
        assert "It needs <code>python -m src.run experiment=samples_and_tasks</code>" in page

    def test_errata_theory_and_readings_are_in_it(self, page: str, elements: Elements) -> None:
        ids = elements.values("id")
        errata = re.findall(r"^## E(\d+)\.", command.documents().errata, re.MULTILINE)
        assert all(f"errata-e{number}" in ids for number in errata)
        assert "theory-1" in ids
        assert page.count("<math") > 100
        assert "Q1.1 under std: not reproduced, 0.5" in page

    def test_provenance_is_that_of_the_manifests(self, page: str) -> None:
        section = page.partition('id="provenance"')[2]
        for manifest in (stored.manifest() for stored in store.all_experiments()):
            assert manifest is not None
            assert manifest.provenance.platform in section
            assert manifest.provenance.packages["numpy"] in section
            assert (manifest.provenance.commit or "outside of a repository") in section

    def test_figures_and_claims_that_titles_name_exist(self) -> None:
        assert set(TITLES) <= set(FIGURES)
        assert {name for names in SHOWN_IN.values() for name in names} <= set(FIGURES)
        assert all(figures_of(claim.id) for claim in CLAIMS)


class TestOneFile:
    def test_nothing_is_fetched(self, elements: Elements) -> None:
        for attribute in ("src", "srcset", "href", "action", "data", "poster", "background"):
            assert all(value.startswith(("#", "data:")) for value in elements.values(attribute)), attribute

    def test_styles_fetch_nothing(self, page: str) -> None:
        style = page.partition("<style>")[2].partition("</style>")[0]
        assert "url(" not in style
        assert "@import" not in style

    def test_browsers_are_told_to_fetch_nothing(self, elements: Elements) -> None:
        (policy,) = (a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
        assert str(policy).startswith("default-src 'none'; img-src data:;")

    def test_links_lead_somewhere(self, elements: Elements) -> None:
        targets = {unquote(value[1:]) for value in elements.values("href") if value.startswith("#")}
        assert targets <= set(elements.values("id"))

    def test_it_is_small(self, page: str) -> None:
        assert len(page.encode()) < 15 * MEGABYTE

    def test_equal_inputs_give_equal_bytes_in_another_process(self, folder: Path, page: str) -> None:
        environment = {**os.environ, "POMRL_OUTPUTS": str(folder), "PYTHONHASHSEED": "7"}
        subprocess.run([sys.executable, "-m", "src.report"], cwd=command.ROOT, env=environment, check=True)
        assert (folder / "report" / "index.html").read_text(encoding="utf-8") == page


class TestCurves:
    def test_series_have_the_labels_of_their_sweep(self, embedded: dict) -> None:
        labels = {each["method"] for each in embedded["series"] if each["sweep"] == "task_similarity"}
        assert labels == {look.label for look in ESTIMATORS.values()}
        variants = {each["method"] for each in embedded["series"] if each["sweep"] == "mixing_rates"}
        assert "mixing mse_optimal, similarity debiased" in variants

    def test_curves_are_means_and_standard_errors_over_runs(self, embedded: dict) -> None:
        experiment = studies.experiment(PUBLISHED, ["estimator=ada_pomrl", "sigma=0.025"])
        expected = band(store.load(experiment, 2), ["task", "gamma"], kind="se")
        (series,) = (
            each
            for each in embedded["series"]
            if (each["sweep"], each["sigma"], each["method"]) == ("task_similarity", 0.025, "ada-POMRL")
        )
        curve = embedded["curves"][series["curve"]]
        np.testing.assert_allclose(np.ravel(curve["mean"]), expected["mean"], atol=6e-5)
        np.testing.assert_allclose(np.ravel(curve["se"]), expected["mean"] - expected["lower"], atol=6e-5)

    def test_choices_are_those_of_the_schedules(self, embedded: dict) -> None:
        problem = ["estimator=ada_pomrl", "sigma=0.01"]
        (series,) = (
            each
            for each in embedded["series"]
            if (each["sweep"], each["sigma"], each["method"]) == ("task_similarity", 0.01, "ada-POMRL")
        )
        choices = embedded["curves"][series["curve"]]["choices"]
        assert set(choices) == {"best_fixed", "dong", "upper_bound"}
        table = store.load(studies.experiment(PUBLISHED, [*problem, "gamma_schedule=dong"]), 2)
        expected = table.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices["dong"], expected, atol=6e-5)
        grid = store.load(studies.experiment(PUBLISHED, problem), 2)
        fixed = in_hindsight(grid, Hindsight(gammas=sorted(grid["gamma"].unique().tolist()), scope="all_tasks"))
        expected = fixed.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices["best_fixed"], expected, atol=6e-5)

    def test_runs_that_are_no_longer_stored_have_no_curve(self, folder: Path, nothing: Path) -> None:
        shutil.copytree(folder / "figures", nothing / "figures")
        drawn = [FigureFiles(name, nothing / "figures") for name in DRAWN]
        assert curves.data(drawn)["series"] == []


class TestMissingPieces:
    def test_with_nothing_stored_the_command_says_what_to_run(
        self, nothing: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["report"])
        with pytest.raises(SystemExit) as end:
            command.main()
        said = capsys.readouterr()
        assert end.value.code == 1
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "./reproduce.sh" in said.err
        assert not list(nothing.iterdir())

    def test_claims_alone(self, folder: Path, nothing: Path) -> None:
        for name in ("claims.csv", "claims.json"):
            shutil.copy(folder / name, nothing)
        found = html(nothing, command.documents())
        assert found.count("Not drawn yet.") == len(FIGURES)
        assert "./reproduce.sh readings" in found
        assert "curves-data" not in found
        assert "<img" not in found

    def test_figures_alone(self, folder: Path, nothing: Path) -> None:
        shutil.copytree(folder / "figures", nothing / "figures")
        found = html(nothing, command.documents())
        assert found.count("<img") == len(DRAWN)
        assert "python -m src.claims" in found
        targets = {value[1:] for value in Elements(found).values("href") if value.startswith("#")}
        assert targets <= set(Elements(found).values("id"))

    @pytest.mark.parametrize(
        ("column", "value", "said"),
        [("decisive", None, "src.claims renews it"), ("verdict", "perhaps", "of another version")],
    )
    def test_claims_of_another_version(self, folder: Path, tmp_path: Path, column: str, value: str, said: str) -> None:
        table = pd.read_csv(folder / "claims.csv")
        changed = table.drop(columns=column) if value is None else table.assign(**{column: value})
        DerivedFiles(tmp_path / "claims.json").write({"claims.csv": changed.to_csv(index=False).encode()}, {})
        with pytest.raises(ReportError, match=said):
            scorecard.read(tmp_path / "claims.csv")

    @pytest.mark.parametrize(
        ("text", "said"),
        [("claim,verdict\nQ1.1,reproduced\n", "no column reading, estimate"), (f"{READINGS}std,Q1.3,so,1\n", "'so'")],
    )
    def test_readings_of_another_version(self, tmp_path: Path, text: str, said: str) -> None:
        write_readings(tmp_path, text)
        with pytest.raises(ReportError, match=said):
            readings.read(tmp_path / "readings.csv")

    @pytest.mark.parametrize("content", ["{", '{"figure": "planning_omrl", "sweeps": {"task_similarity": [{"S": 1}]}}'])
    def test_sidecars_of_another_version(self, folder: Path, nothing: Path, content: str) -> None:
        shutil.copytree(folder / "figures", nothing / "figures")
        (nothing / "figures" / "planning_omrl.json").write_text(content)
        with pytest.raises(ReportError, match=r"planning_omrl\.json: .*; python -m src\.figures planning_omrl renews"):
            html(nothing, command.documents())


def test_readings_are_counted_and_a_cell_may_be_empty(tmp_path: Path) -> None:
    write_readings(tmp_path)
    matrix = readings.read(tmp_path / "readings.csv")
    assert matrix is not None
    assert matrix.readings == ["default", "std"]
    assert ("Q1.3", "std") not in matrix.cells
    assert matrix.count("default", Verdict.REPRODUCED) == 1
    assert matrix.count("std", Verdict.REPRODUCED) == 0


class TestInterval:
    def comparison(self, above: float, below: float, lower: float = -1.0, upper: float = 3.0) -> scorecard.Comparison:
        return scorecard.Comparison(
            compared="a less b",
            estimate=1.0,
            lower=lower,
            upper=upper,
            above=above,
            below=below,
            verdict=Verdict.UNDECIDED,
            decisive=False,
        )

    def test_it_spans_the_interval_with_margins(self) -> None:
        drawn = self.comparison(-np.inf, 0.0).interval
        assert drawn is not None
        assert (drawn.low, drawn.value, drawn.high) == pytest.approx((8.33, 50.0, 91.67))
        assert drawn.claimed == pytest.approx((0.0, 29.17))
        assert drawn.thresholds == pytest.approx((29.17,))

    def test_thresholds_beside_the_interval_are_shown_too(self) -> None:
        drawn = self.comparison(-5.0, 5.0).interval
        assert drawn is not None
        assert drawn.thresholds == pytest.approx((8.33, 91.67))

    def test_a_single_run_has_none(self) -> None:
        assert self.comparison(-np.inf, 0.0, np.nan, np.nan).interval is None


class TestWords:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("gamma* at sigma = 0.01", "γ* at σ = 0.01"),
            ("at gamma_eval, from sigma_1", "at γ<sub>eval</sub>, from σ<sub>1</sub>"),
            ("gamma_0 + gamma_tilde", "γ<sub>0</sub> + γ\u0303"),
            ("best_fixed by gamma_schedules at m5_T5", "best_fixed by gamma_schedules at m5_T5"),
            ("`gamma_eval` <b>", "<code>gamma_eval</code> &lt;b&gt;"),
            ('P_o, P^t "so"', "P<sub>o</sub>, P<sup>t</sup> “so”"),
        ],
    )
    def test_symbols(self, text: str, expected: str) -> None:
        assert symbols(text) == expected

    def test_captions_tell_our_words_from_those_of_the_paper(self) -> None:
        found = caption('Figure F3: loss of gamma (E4).\n\nThe paper: "it\nis so."\n\nOurs again.\n')
        assert found.number == "F3"
        assert found.ours == ['Loss of γ (<a href="#errata-e4">E4</a>).', "Ours again."]
        assert found.papers == ["The paper: “it is so.”"]

    def test_documents(self) -> None:
        text = "# Title\n\n## E1. One\n\n$x_t$ [in](docs/a.md) [out](src/b.py) <script>\n\n$$y$$\n"
        found = document(text, "errata", {"docs/a.md": "#a"})
        assert '<h3 id="errata-e1">E1. One</h3>' in found
        assert "Title" not in found
        assert '<a href="#a">in</a> <span>out</span> &lt;script&gt;' in found
        assert found.count("<math") == 2


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if not path:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, path: Path) -> Iterator[Page]:
    """The page in the browser, watched: what it complains of, and what it asks for."""
    visited = browser.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    visited.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    visited.on("pageerror", lambda error: complaints.append(str(error)))
    visited.on("request", lambda request: complaints.append(request.url) if leaves(request.url) else None)
    visited.goto(path.as_uri())
    visited.wait_for_selector("#explorer[data-ready]")
    yield visited
    visited.close()
    assert complaints == []


def leaves(address: str) -> bool:
    return not address.startswith(("file:", "data:", "blob:"))


def line(visited: Page) -> str:
    """The first curve that is drawn."""
    return visited.locator("#loss .mark-line path").first.get_attribute("d") or ""


class TestInTheBrowser:
    def test_every_image_is_loaded(self, visit: Page) -> None:
        assert visit.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
        assert visit.evaluate("document.images.length") == len(DRAWN)

    def test_the_slider_changes_the_curve_by_keyboard(self, visit: Page) -> None:
        last = line(visit)
        assert last.count("L") > 10
        visit.focus("#task")
        visit.keyboard.press("Home")
        visit.wait_for_function(
            "d => document.querySelector('#loss .mark-line path').getAttribute('d') !== d", arg=last
        )
        assert visit.inner_text("#task-shown") == "1"
        assert "Task 1," in visit.inner_text("#explained")

    def test_values_in_the_table_are_those_of_the_curve(self, visit: Page, embedded: dict) -> None:
        (series,) = (
            each
            for each in embedded["series"]
            if (each["sweep"], each["sigma"], each["method"]) == ("task_similarity", 0.01, "ada-POMRL")
        )
        curve = embedded["curves"][series["curve"]]
        cells = visit.locator("#values tr", has_text="ada-POMRL").locator("td").all_inner_texts()
        best = curve["best"][-1]
        assert cells[0] == f"{curve['gammas'][best]:g}"
        assert float(cells[1]) == pytest.approx(curve["mean"][-1][best], abs=6e-4)
        assert float(cells[3]) == curve["choices"]["best_fixed"][-1][0]

    def test_a_choice_takes_what_goes_with_it(self, visit: Page) -> None:
        visit.select_option("#choose-sigma", "0.047")
        assert visit.input_value("#choose-sweep") == "task_similarity"
        visit.select_option("#choose-m", "50")
        assert visit.input_value("#choose-sweep") == "illustration"
        assert visit.input_value("#choose-T") == "1"
        assert visit.is_disabled("#task")
        visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 4")

    def test_methods_can_be_chosen(self, visit: Page) -> None:
        visit.get_by_label("Oracle prior knowledge").check()
        visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 3")
        visit.get_by_label("Oracle prior knowledge").uncheck()
        visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 2")

    def test_the_keyboard_reaches_the_content_first(self, visit: Page) -> None:
        visit.keyboard.press("Tab")
        assert visit.evaluate("document.activeElement.textContent") == "Skip to the content"

    @pytest.mark.parametrize("width", [320, 390, 768, 1280])
    def test_nothing_is_wider_than_the_screen(self, visit: Page, width: int) -> None:
        visit.set_viewport_size({"width": width, "height": 844})
        visit.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert visit.evaluate("document.documentElement.scrollWidth") <= width

    def test_it_is_dark_where_that_is_preferred_but_not_in_print(self, visit: Page) -> None:
        background = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
        assert visit.evaluate(background) > 200
        visit.emulate_media(color_scheme="dark")
        assert visit.evaluate(background) < 50
        visit.emulate_media(media="print", color_scheme="dark")
        assert visit.evaluate(background) > 200
        assert not visit.is_visible("nav")
