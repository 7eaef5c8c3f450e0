"""What the page of a study shows, in one small file that fetches nothing: figures, claims, documents and provenance."""

import json
import os
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tests.support.elements import Elements, assert_closed
from tests.support.report_outputs import DRAWN, FIGURES, FILES, study_folder, study_html

from pomrl import store
from pomrl.configuration.studies import find, shipped_studies
from pomrl.drawing.figure import figures_of
from pomrl.judging import judgements
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements
from pomrl.store.derived import DerivedFiles
from pomrl_report import documents as pages
from pomrl_report.figure_files import PIXELS, Picture

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("folder")]

MEGABYTE = 10**6


@pytest.fixture(scope="module")
def stored_judgements(folder: Path) -> Judgements:
    return judgements.read(study_folder(folder), list(find("pomrl2023").config.variants))


def find_article(page: str, id: str) -> str:
    return page.partition(f'id="{id}"')[2].partition("</article>")[0]


def test_nothing_is_fetched_and_links_lead_somewhere(page: str, elements: Elements) -> None:
    assert_closed(page)
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = (a["content"] for _, a in elements.found if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; img-src 'self' file: data:;")


def test_captions_do_not_repeat_the_bands() -> None:
    """A caption is shown below pictures with intervals, and with the paper's bands."""
    for shipped in shipped_studies():
        for figure in figures_of(shipped):
            assert not re.search(r"[Bb]ands (show|are)(?! one bootstrap)", figure.docstring), figure.name


def test_bands_are_named_by_panel(page: str) -> None:
    bands = re.findall(r'class="bands">Bands: ([^<]*)', find_article(page, "figure-planning_omrl"))
    kinds = ("one standard deviation (a, c)", "one standard error (b)", "one bootstrap standard deviation (d)")
    assert any(text.startswith(", ".join(kinds)) for text in bands)


def test_each_picture_names_its_bands_once(folder: Path, page: str) -> None:
    pictures = re.findall(r'<img decoding="async" src="([^"]*)\.webp"(.*?)(?=<img|</article>)', page, re.DOTALL)
    assert pictures
    for stem, after in pictures:
        kinds = {*pd.read_csv(study_folder(folder) / "figures" / f"{stem}.csv").get("band", pd.Series())}
        assert after.count('class="bands"') == bool(kinds & {"sd", "se", "ci", "bootstrap sd", "bootstrap ci"}), stem


def test_the_page_is_below_one_megabyte(folder: Path, path: Path, elements: Elements) -> None:
    figures, report = study_folder(folder) / "figures", path.parent
    pictures = [report / str(address) for address in elements.values("src")]
    assert {picture.stem for picture in pictures} == {*FILES}
    total = sum((figures / f"{name}.png").stat().st_size for name in FILES)
    assert sum(picture.stat().st_size for picture in pictures) < total / 4
    for picture in pictures:
        with Image.open(picture) as image:
            assert image.width <= PIXELS
    assert path.stat().st_size < MEGABYTE


def test_each_table_has_the_drawn_values(folder: Path, path: Path, elements: Elements) -> None:
    tables = [str(a["href"]) for _, a in elements.found if "download" in a]
    assert {*tables} == {f"{name}.csv" for name in FILES}
    for name in tables:
        assert (path.parent / name).read_bytes() == (study_folder(folder) / "figures" / name).read_bytes()


def test_colours_of_a_picture_are_as_drawn(folder: Path) -> None:
    path = study_folder(folder) / "figures" / "figure_4_planning_omrl.png"
    with Image.open(BytesIO(Picture.from_png(path.read_bytes()).content)) as image, Image.open(path) as file:
        original = file.convert("RGB").resize(image.size, Image.Resampling.BOX)
        off = np.abs(np.asarray(image.convert("RGB"), int) - np.asarray(original, int)).max(-1)
    assert (off > 24).mean() < 0.005


def test_equal_inputs_give_equal_bytes(folder: Path, page: str) -> None:
    environment = {**os.environ, "POMRL_OUTPUTS": str(folder), "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-m", "pomrl", "reproduce", "pomrl2023", "report"], env=environment, check=True)
    assert (study_folder(folder) / "report" / "index.html").read_text(encoding="utf-8") == page


def test_every_figure_has_its_commands(page: str, elements: Elements) -> None:
    for name, figure in FIGURES.items():
        article = find_article(page, f"figure-{name}")
        lines = [
            *(f"pomrl run experiment={sweep}" for sweep in figure.sweeps),
            f"pomrl reproduce pomrl2023 figures --only {name}",
        ]
        assert ("\n".join(lines) if name in DRAWN else "pomrl reproduce pomrl2023") in article
        assert ("Not drawn yet." in article) is (name not in DRAWN)
    alternatives = [attributes["alt"] or "" for tag, attributes in elements.found if tag == "img"]
    assert all(len(text) > 40 for text in alternatives)
    (similarity,) = (text for text in alternatives if text.startswith("Figure 5:"))
    for phrase in ("Panels a to f", "ada-POMRL", "one standard deviation over 2 runs"):
        assert phrase in similarity
    assert "over 2 runs, cut off where they exceed the axes; they are not intervals of the mean." in page


def test_settings_name_the_runs_behind_a_figure(folder: Path, page: str) -> None:
    sidecar = json.loads((study_folder(folder) / "figures" / "figure_4_planning_omrl.json").read_text())
    article = find_article(page, "figure-planning_omrl")
    assert all(source["signature"] in article for source in sidecar["sweeps"]["task_similarity"])
    assert all(digest in article for digest in sidecar["files"].values())
    assert "gamma_eval=0.99" in article


def test_every_judged_claim_is_on_the_scorecard(stored_judgements: Judgements, page: str) -> None:
    assert 0 < len(stored_judgements.main) < len(claims_of(find("pomrl2023")))
    assert page.count('<article class="claim ') == len(stored_judgements.main)
    for judgement in stored_judgements.main:
        article = find_article(page, f"claim-{judgement.id}")
        assert (judgement.verdict or "reported, not judged") in article
        assert judgement.verdict is None or f"{judgement.decisive.estimate:.3f}" in article
        assert all(f'href="#figure-{name}"' in article for name in judgement.figures)
    exact = [
        comparison
        for judgement in stored_judgements.main
        if (comparison := judgement.decisive).estimate_text.startswith("exactly ")
    ]
    assert exact
    assert all(f'<span class="numbers">{comparison.estimate_text}</span>' in page for comparison in exact)
    assert "[nan" not in page


def test_documents_are_in_the_page(page: str, elements: Elements) -> None:
    ids, study = elements.values("id"), find("pomrl2023")
    errata = re.findall(r"^## E(\d+)\.", pages.documents(study)["errata"], re.MULTILINE)
    assert errata
    assert all(f"errata-e{number}" in ids for number in errata)
    assert set(pages.documents(study)) - {"claims"} <= set(ids)
    assert "claims" not in ids  # in whose place the scorecard is
    assert page.count("<math") > 100
    assert "theory-1" in ids


def test_variants_stand_beside_claims_and_in_matrix(
    folder: Path, empty_outputs: Path, stored_judgements: Judgements
) -> None:
    second = "computed"
    table = pd.read_csv(study_folder(folder) / "claims.csv", keep_default_na=False)
    first = table.loc[table["variant"] == "repaired"]
    refuted = {"verdict": "does not hold", "part_verdict": "does not hold"}
    variants = [first.loc[first["claim"] == "Q1.1"].assign(variant=name, **refuted) for name in (second, "further")]
    content = pd.concat([first, *variants]).to_csv(index=False).encode()
    DerivedFiles(study_folder(empty_outputs) / "claims.json").write({"claims.csv": content}, {})
    actual = study_html("pomrl2023")
    chip = f'<span class="alone">{second}:</span> <span class="chip does-not-hold">'
    assert chip in find_article(actual, "claim-Q1.1")
    assert actual.count(chip) == 1
    matrix = actual.partition('<table class="matrix">')[2].partition("</table>")[0]
    assert set(re.findall(r'<tr><th scope="row">(\w+)</th>', matrix)) == {"repaired", second, "further"}
    with_verdict = [judgement for judgement in stored_judgements.of("repaired").values() if judgement.verdict]
    assert len(re.findall(r'title="(\S+) under repaired: ', matrix)) == len(with_verdict)
    for name in (second, "further"):
        assert re.findall(rf'title="(\S+ under {name}: [a-z ]+), ', matrix) == [f"Q1.1 under {name}: does not hold"]


def test_provenance_is_that_of_what_is_stored(page: str) -> None:
    section = page.partition('id="provenance"')[2]
    for provenance in (stored.read_manifest().provenance for stored in store.all_experiments()):
        assert provenance.platform in section
        assert provenance.packages["numpy"] in section
        assert (provenance.commit or "outside of a repository") in section


@pytest.mark.parametrize("name", ["pomrl2023", "beyond"])
def test_figures_that_claims_name_exist(name: str) -> None:
    names = {figure.name for figure in figures_of(find(name))}
    assert all(set(claim.figures) <= names and claim.figures for claim in claims_of(find(name)))
