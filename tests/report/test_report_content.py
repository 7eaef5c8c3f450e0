"""What the page of a study shows: figures, claims, documents, variants and provenance."""

import base64
import gzip
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from tests.support.elements import Elements
from tests.support.report_outputs import DRAWN, FIGURES, html_of, of_study

from pomrl import store
from pomrl.configuration.study import find
from pomrl.drawing.figure import figures_of
from pomrl.judging import judgements
from pomrl.judging.claim import claims_of
from pomrl.judging.judgements import Judgements
from pomrl.report import pages
from pomrl.store.derived import DerivedFiles

pytestmark = pytest.mark.slow


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
        assert set(downloads) == {f"{name}.csv.gz" for name in DRAWN}
        for name, address in downloads.items():
            packed = base64.b64decode(str(address).removeprefix("data:application/gzip;base64,"))
            assert gzip.decompress(packed) == (of_study(folder) / "figures" / str(name)[:-3]).read_bytes()

    def test_a_number_without_an_interval_is_shown_without_one(self, page: str, judged: Judgements) -> None:
        exact = [part for each in judged.main if (part := each.decisive).found.startswith("exactly ")]
        assert exact
        assert all(f'<span class="numbers">{part.found}</span>' in page for part in exact)
        assert "[nan" not in page

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
        second = "computed"
        table = pd.read_csv(of_study(folder) / "claims.csv", keep_default_na=False)
        first = table.loc[table["variant"] == "repaired"]
        word = {"verdict": "does not hold", "part_verdict": "does not hold"}
        others = [first.loc[first["claim"] == "Q1.1"].assign(variant=name, **word) for name in (second, "further")]
        content = pd.concat([first, *others]).to_csv(index=False).encode()
        DerivedFiles(of_study(empty_outputs) / "claims.json").write({"claims.csv": content}, {})
        found = html_of("pomrl")
        beside = f'<span class="alone">{second}:</span> <span class="chip does-not-hold">'
        assert beside in found.partition('id="claim-Q1.1"')[2].partition("</article>")[0]
        assert found.count(beside) == 1
        matrix = found.partition('<table class="matrix">')[2].partition("</table>")[0]
        assert set(re.findall(r'<tr><th scope="row">(\w+)</th>', matrix)) == {"repaired", second, "further"}
        assert len(re.findall(r'title="(\S+) under repaired: ', matrix)) == sum(
            bool(each.verdict) for each in judged.of("repaired").values()
        )
        for name in (second, "further"):
            assert re.findall(rf'title="(\S+ under {name}: [a-z ]+), ', matrix) == [f"Q1.1 under {name}: does not hold"]

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
