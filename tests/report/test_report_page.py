"""The page of the report: what it shows, what it does when pieces are missing, and how it works in a browser."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page
from tests.support.computed import call
from tests.support.elements import Elements
from tests.support.report_outputs import COMMAND, DRAWN, FIGURES

from pomrl import store
from pomrl.commands import figures as figures_command
from pomrl.commands import report as command
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import find
from pomrl.configuration.sweeps import experiment
from pomrl.drawing.figure import figures_of
from pomrl.drawing.style import look
from pomrl.judging import judgements
from pomrl.judging.claims_of_study import claims_of
from pomrl.judging.judgements import Judgements
from pomrl.report import ReportError, curves, pages
from pomrl.report.figure_files import FigureFiles
from pomrl.report.page import html
from pomrl.results.statistics import band
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.gamma_star import in_hindsight
from pomrl.store.derived import DerivedFiles

MEGABYTE = 10**6

ESTIMATORS = ["oracle", "without_meta", "pomrl", "ada_pomrl", "aggregating"]
"""The estimators of the sweep task_similarity."""


def of_study(folder: Path) -> Path:
    """Return the outputs of the study in a folder of outputs."""
    return folder / "studies" / "pomrl"


def html_of(*words: str) -> str:
    return html([find(word) for word in words], COMMAND)


@pytest.fixture(scope="module")
def judged(folder: Path) -> Judgements:
    return judgements.read(of_study(folder), list(find("pomrl").described.variants))


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
                == (of_study(folder) / "figures" / str(name)).read_bytes()
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
            article = page.partition(f'id="figure-{name}"')[2].partition("</article>")[0]
            lines = [*(f"pomrl run experiment={sweep}" for sweep in figure.sweeps), f"pomrl figures pomrl {name}"]
            assert ("\n".join(lines) if name in DRAWN else "pomrl reproduce pomrl") in article
            assert ("Not drawn yet." in article) is (name not in DRAWN)

    def test_settings_name_the_runs_behind_a_figure(self, folder: Path, page: str) -> None:
        sidecar = json.loads((of_study(folder) / "figures" / "planning_omrl.json").read_text())
        article = page.partition('id="figure-planning_omrl"')[2].partition("</article>")[0]
        for source in sidecar["sweeps"]["task_similarity"]:
            assert source["signature"] in article
        assert all(digest in article for digest in sidecar["files"].values())
        assert "gamma_eval=0.99" in article

    def test_every_claim_that_is_judged_is_on_the_scorecard(self, judged: Judgements, page: str) -> None:
        assert 0 < len(judged.main) < len(claims_of(find("pomrl")))
        assert page.count('<article class="claim ') == len(judged.main)
        for each in judged.main:
            article = page.partition(f'id="claim-{each.id}"')[2].partition("</article>")[0]
            assert (each.verdict or "reported, not judged") in article
            assert each.verdict is None or f"{each.decisive.estimate:.3f}" in article
            assert all(f'href="#figure-{name}"' in article for name in each.figures)

    def test_documents_are_in_it_and_a_place_that_they_name(self, page: str, elements: Elements) -> None:
        ids, study = elements.values("id"), find("pomrl")
        errata = re.findall(r"^## E(\d+)\.", pages.text(study, "errata"), re.MULTILINE)
        assert errata
        assert all(f"errata-e{number}" in ids for number in errata)
        assert set(pages.documents(study)) - {"claims"} <= set(ids)
        assert "claims" not in ids  # in whose place the scorecard is
        assert page.count("<math") > 100
        assert "theory-1" in ids

    def test_variants_stand_beside_the_claims_and_in_a_matrix(
        self, folder: Path, empty_outputs: Path, judged: Judgements
    ) -> None:
        second = list(find("pomrl").described.variants)[1]
        table = pd.read_csv(of_study(folder) / "claims.csv", keep_default_na=False)
        first = table.loc[table["variant"] == "default"]
        word = {"verdict": "not reproduced", "part_verdict": "not reproduced"}
        others = [first.loc[first["claim"] == "Q1.1"].assign(variant=name, **word) for name in (second, "further")]
        content = pd.concat([first, *others]).to_csv(index=False).encode()
        DerivedFiles(of_study(empty_outputs) / "claims.json").write({"claims.csv": content}, {})
        found = html_of("pomrl")
        beside = f'<span class="alone">{second}:</span> <span class="chip not-reproduced">'
        assert beside in found.partition('id="claim-Q1.1"')[2].partition("</article>")[0]
        assert found.count(beside) == 1
        matrix = found.partition('<table class="matrix">')[2].partition("</table>")[0]
        assert set(re.findall(r'<tr><th scope="row">(\w+)</th>', matrix)) == {"default", second, "further"}
        assert len(re.findall(r'title="(\S+) under default: ', matrix)) == sum(
            bool(each.verdict) for each in judged.main
        )
        for name in (second, "further"):
            assert re.findall(rf'title="(\S+ under {name}: [a-z ]+), ', matrix) == [
                f"Q1.1 under {name}: not reproduced"
            ]

    def test_provenance_is_that_of_the_manifests(self, page: str) -> None:
        section = page.partition('id="provenance"')[2]
        for manifest in (stored.manifest() for stored in store.all_experiments()):
            assert manifest is not None
            assert manifest.provenance.platform in section
            assert manifest.provenance.packages["numpy"] in section
            assert (manifest.provenance.commit or "outside of a repository") in section

    @pytest.mark.parametrize("name", ["pomrl", "beyond"])
    def test_figures_that_claims_name_exist(self, name: str) -> None:
        study = find(name)
        known = {figure.name for figure in figures_of(study)}
        claims = claims_of(study)
        assert {figure for claim in claims for figure in claim.figures} <= known
        assert all(claim.figures for claim in claims)

    @pytest.mark.usefixtures("folder")
    def test_studies_share_a_page_and_their_elements_have_names_of_their_own(self) -> None:
        found = Elements(html_of("pomrl", "beyond"))
        ids = found.values("id")
        assert len(ids) == len(set(ids))
        assert {"scorecard", "beyond-scorecard", "beyond-assumptions", "beyond-figure-streams"} <= set(ids)
        assert {unquote(value[1:]) for value in found.values("href") if value.startswith("#")} <= set(ids)


EVIL = "<script>alert(1)</script>"

EVIL_FIGURE = f"""
import pandas as pd

from pomrl.study import COLUMNS, Drawing, context, figure, panels


@figure()
def drawn(sweeps):
    '''{EVIL}.

    {EVIL} (E4)
    '''
    data = pd.DataFrame([["", "{EVIL}", 0.0, 1.0, 0.5, 1.5, "se", 0, False]], columns=COLUMNS)
    with context():
        figure, _ = panels.row_of_panels(1, 3.0, 2.0)
        return panels.finish(figure, data)
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a study of somebody's own, in which every text has markup."""
    study = tmp_path_factory.mktemp("studies") / "marked_up"
    (study / "pages").mkdir(parents=True)
    (study / "study.yaml").write_text(f"title: '{EVIL}'\ncite: '{EVIL}'\nabout: '{EVIL}'\n")
    (study / "pages" / "notes.md").write_text(f"# {EVIL}\n\n{EVIL} [{EVIL}](javascript:alert(1)) ![x](evil.png)\n")
    (study / "figures.py").write_text(EVIL_FIGURE)
    outputs = tmp_path_factory.mktemp("outputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(outputs))
        status, _, err = call(figures_command, str(study))
        assert status == 0, err
        assert (outputs / "studies" / "marked_up" / "figures" / "drawn.png").exists()
        return html([find(str(study))], f"pomrl report {EVIL}")


class TestOwnStudy:
    def test_what_its_authors_write_is_escaped(self, own: str) -> None:
        assert "<script>alert" not in own
        assert 'href="javascript:' not in own
        assert own.count("&lt;script&gt;alert(1)") >= 10

    def test_it_fetches_nothing_and_its_links_lead_somewhere(self, own: str) -> None:
        found = Elements(own)
        assert all(value.startswith(("#", "data:")) for name in ("src", "href") for value in found.values(name))
        targets = {unquote(value[1:]) for value in found.values("href") if value.startswith("#")}
        assert targets <= set(found.values("id"))

    def test_it_has_nothing_of_the_paper(self, own: str) -> None:
        assert 'id="explore"' not in own
        assert "POMRL" not in own.partition("<main")[2].partition("<script")[0].replace("POMRL_OUTPUTS", "")


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
        subprocess.run([sys.executable, "-m", "pomrl.commands.main", "report", "pomrl"], env=environment, check=True)
        assert (of_study(folder) / "report" / "index.html").read_text(encoding="utf-8") == page


class TestCurves:
    def test_series_have_the_labels_of_their_sweep(self, embedded: dict) -> None:
        labels = {each["method"] for each in embedded["series"] if each["sweep"] == "task_similarity"}
        assert labels == {look(name).label for name in ESTIMATORS}
        variants = {each["method"] for each in embedded["series"] if each["sweep"] == "mixing_rates"}
        assert "mixing mse_optimal, similarity debiased" in variants

    def test_curves_are_means_and_standard_errors_over_runs(self, embedded: dict) -> None:
        stored = experiment(PUBLISHED, ["estimator=ada_pomrl", "sigma=0.025"])
        expected = band(store.load(stored, 2), ["task", "gamma"], kind="se")
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
        table = store.load(experiment(PUBLISHED, [*problem, "gamma_schedule=dong"]), 2)
        expected = table.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices["dong"], expected, atol=6e-5)
        grid = store.load(experiment(PUBLISHED, problem), 2)
        fixed = in_hindsight(grid, Hindsight(gammas=sorted(grid["gamma"].unique().tolist()), scope="all_tasks"))
        expected = fixed.groupby("task")[["gamma", "planning_loss"]].mean()
        np.testing.assert_allclose(choices["best_fixed"], expected, atol=6e-5)

    def test_runs_that_are_no_longer_stored_have_no_curve(self, folder: Path, empty_outputs: Path) -> None:
        figures = copied_figures(folder, empty_outputs)
        drawn = [FigureFiles(name, figures) for name in DRAWN]
        assert any(list(each.sources) for each in drawn)
        assert curves.data(drawn)["series"] == []


class TestMissingPieces:
    def test_with_nothing_stored_the_command_says_what_to_run(
        self, empty_outputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["report", "pomrl"])
        with pytest.raises(SystemExit) as end:
            command.main()
        said = capsys.readouterr()
        assert end.value.code == 1
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "pomrl reproduce pomrl computes, draws and judges all of it" in said.err
        assert not list(empty_outputs.iterdir())

    def test_claims_alone(self, folder: Path, empty_outputs: Path) -> None:
        of_study(empty_outputs).mkdir(parents=True)
        for name in ("claims.csv", "claims.json"):
            shutil.copy(of_study(folder) / name, of_study(empty_outputs))
        found = html_of("pomrl")
        assert found.count("Not drawn yet.") == len(FIGURES)
        assert "curves-data" not in found
        assert "<img" not in found

    def test_figures_alone(self, folder: Path, empty_outputs: Path) -> None:
        copied_figures(folder, empty_outputs)
        found = html_of("pomrl")
        assert found.count("<img") == len(DRAWN)
        assert "pomrl claims pomrl --decide" in found
        targets = {value[1:] for value in Elements(found).values("href") if value.startswith("#")}
        assert targets <= set(Elements(found).values("id"))

    @pytest.mark.parametrize(
        ("column", "value", "said"),
        [("decisive", None, r"of another version \('decisive'\)"), ("verdict", "perhaps", "of another version")],
    )
    def test_claims_of_another_version(
        self, folder: Path, empty_outputs: Path, column: str, value: str | None, said: str
    ) -> None:
        table = pd.read_csv(of_study(folder) / "claims.csv")
        changed = table.drop(columns=column) if value is None else table.assign(**{column: value})
        content = {"claims.csv": changed.to_csv(index=False).encode()}
        DerivedFiles(of_study(empty_outputs) / "claims.json").write(content, {})
        with pytest.raises(store.StoreError, match=said):
            html_of("pomrl")

    @pytest.mark.parametrize("content", ["{", '{"figure": "planning_omrl", "sweeps": {"task_similarity": [{"S": 1}]}}'])
    def test_sidecars_of_another_version(self, folder: Path, empty_outputs: Path, content: str) -> None:
        (copied_figures(folder, empty_outputs) / "planning_omrl.json").write_text(content)
        with pytest.raises(ReportError, match=r"planning_omrl\.json: .*; pomrl figures pomrl planning_omrl renews"):
            html_of("pomrl")


def copied_figures(folder: Path, outputs: Path) -> Path:
    """Copy the figures of a folder of outputs into another one, and return the folder of the copies."""
    return Path(shutil.copytree(of_study(folder) / "figures", of_study(outputs) / "figures"))


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
    visited.wait_for_selector("#explore[data-ready]", state="attached")
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
        assert visit.locator("#loss .mark-line path").count() == 4
        visit.get_by_label("Oracle prior knowledge").uncheck()
        visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 3")
        visit.get_by_label("Oracle prior knowledge").check()
        visit.wait_for_function("document.querySelectorAll('#loss .mark-line path').length === 4")

    def test_the_keyboard_reaches_the_content_first(self, visit: Page) -> None:
        visit.keyboard.press("Tab")
        assert visit.evaluate("document.activeElement.textContent") == "Skip to the content"

    def test_all_sections_are_in_the_main_part(self, visit: Page) -> None:
        sections = visit.locator("section").count()
        assert sections == visit.locator("main > section").count() > 5

    def test_claims_can_be_searched_and_a_link_shows_what_the_filter_hides(self, visit: Page) -> None:
        shown = visit.locator("article.claim:visible")
        every = shown.count()
        visit.locator("#filter [name=words]").fill("Q1.1 LOSS")
        assert shown.evaluate_all("claims => claims.map(claim => claim.id)") == ["claim-Q1.1"]
        visit.locator("#filter [name=verdict]").select_option(index=1)
        assert visit.inner_text("#filter output") == f"{shown.count()} of {every} claims"
        visit.evaluate("location.hash = 'claim-Q1.2'")
        visit.wait_for_selector('[id="claim-Q1.2"]', state="visible")
        assert shown.count() == every

    def test_figures_open_large_on_a_phone(self, visit: Page) -> None:
        visit.set_viewport_size({"width": 390, "height": 844})
        visit.locator("#figure-planning_omrl .enlarge").first.press("Enter")
        picture = visit.locator("#large img").bounding_box()
        assert picture
        assert picture["width"] > 900
        visit.keyboard.press("Escape")
        assert not visit.is_visible("#large")

    def test_charts_are_hidden_from_assistive_technology_behind_labels(self, visit: Page) -> None:
        assert (
            visit.locator(".chart svg").count()
            == visit.locator(".chart[role=img][aria-label] > svg[aria-hidden=true]").count()
            == 4
        )

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

    def test_sliders_change_what_is_planned(self, visit: Page) -> None:
        before = visit.inner_text("#explore-explained")
        assert "both plans are the same in 100 of 100 runs" in before
        visit.focus("#explore-m")
        visit.keyboard.press("End")
        visit.wait_for_function("text => document.getElementById('explore-explained').textContent !== text", arg=before)
        assert visit.inner_text("#explore-m-shown") == "50"
