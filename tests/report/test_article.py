import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from tests.support.settings import ROOT

from pomrl.configuration.sources import SWEEPS
from pomrl.configuration.studies import Study, find
from pomrl.judging.judgements import read_published
from pomrl.judging.study_claims import load_judgements
from pomrl.store import StoreError
from pomrl_report import article
from verdicts.parts import Verdict

pytestmark = pytest.mark.slow

PAPER = find("pomrl2023")
TEXT = PAPER.article.read_text(encoding="utf-8")


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (30, 20)).save(made, "PNG")
    return made.getvalue()


PICTURES = dict.fromkeys(re.findall(r'#figure-of\("([^"]+)"', TEXT), picture())


@pytest.fixture
def own(tmp_path: Path) -> Study:
    """A study with an article of its own, and the outputs and tables of the paper's."""
    shutil.copy(PAPER.path, tmp_path)
    shutil.copytree(PAPER.folder / "pages", tmp_path / "pages")
    shutil.copytree(PAPER.folder / SWEEPS / PAPER.name, tmp_path / SWEEPS / tmp_path.name)
    (tmp_path / "article").mkdir()
    return replace(PAPER, folder=tmp_path)


def typeset(study: Study, text: str) -> bytes:
    study.article.write_text(f'#import "study.typ": *\n{text}', encoding="utf-8")
    return article.typeset(study, article.values(study, load_judgements(PAPER), text), {})


def test_no_number_of_the_shipped_article_is_written_out() -> None:
    """Digits stand in comments, code, the arguments of lookups and references, and one by one in formulas."""
    left = re.sub(r"//[^\n]*|`[^`\n]*`|#[\w-]+\((?:[^()\"]|\"[^\"\n]*\"|\([^()]*\))*\)|[@<][A-Za-z][\w-]*>?", " ", TEXT)
    left = re.sub(r"^#(?:set|show|import|bibliography)\b[^\n]*", "", left, flags=re.MULTILINE)
    left = re.sub(r"\$[^$]*\$", lambda formula: re.sub(r"(?<![\d.])\d(?![\d.])", "", formula[0]), left)
    assert re.findall(r".*\d.*", left) == []


def test_the_shipped_article_says_what_is_published_and_its_bytes_are_the_same_twice() -> None:
    named = article.values(PAPER, read_published(PAPER), TEXT)
    first, second = (article.typeset(PAPER, named, PICTURES) for _ in range(2))
    assert first.startswith(b"%PDF")
    assert first == second


def test_a_sentence_of_the_shipped_article_whose_verdict_turned_is_one_line_that_names_it() -> None:
    published = read_published(PAPER)
    turned = published.of("printed")["Q1.1"].model_copy(update={"verdict": Verdict.DOES_NOT_HOLD})
    by_variant = {**published.by_variant, "printed": {**published.of("printed"), "Q1.1": turned}}
    said = "claim Q1.1 under printed: the sentence needs holds, got does not hold"
    with pytest.raises(StoreError, match=re.escape(said)):
        article.typeset(PAPER, article.values(PAPER, replace(published, by_variant=by_variant), TEXT), PICTURES)


def test_the_article_has_the_counts_of_readme() -> None:
    named = article.values(PAPER, read_published(PAPER), TEXT)
    assert "#answer()" in TEXT
    assert named["answer"] in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["", "https://example.org/pomrl"])
def test_the_first_page_links_to_the_code_where_it_is_hosted(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(article, "repository_address", lambda: address)
    named = article.values(PAPER, read_published(PAPER), TEXT)
    assert named["links"] == {**PAPER.config.links, **({"code": address} if address else {})}
    pdf = article.typeset(PAPER, named, PICTURES)
    assert all(f"/URI({link})".encode() in pdf.replace(b" ", b"") for link in named["links"].values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('\n\n#estimate("Q9.9", "repaired")', "unknown claim under repaired: Q9.9"),
        ('#estimate("Q1.1", "repaired", part: "no such words")', "has 0 comparisons with the words no such words"),
        ('#cell("notebook_ladder", (rung: "no such"), "estimate")', "the table notebook_ladder has 0 rows"),
        ('#figure-of("no_such", [A figure.])', "the figure no_such is not drawn"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_wrong_name_is_one_line_that_names_it(own: Study, text: str, said: str) -> None:
    with pytest.raises(StoreError, match=re.escape(said)) as raised:
        typeset(own, text)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("folder")
def test_values_are_those_of_the_results(own: Study) -> None:
    text = '#setting("task_similarity", "sigma")#setting("task_similarity", "m")'
    named = article.values(PAPER, load_judgements(PAPER), text)
    assert named["settings"]["task_similarity"]["sigma"] == "0.01, 0.025, 0.047"
    assert named["settings"]["task_similarity"]["m"] == "5"
    judged = load_judgements(PAPER).of("repaired")["Q1.1"]
    assert [part["estimate"] for part in named["claims"]["repaired"]["Q1.1"]["parts"]] == [
        part.estimate for part in judged.comparisons
    ]
    assert typeset(
        own, '#cell("notebook_ladder", (rung: "repaired", number: "ada-POMRL\'s loss, tasks 11 to 15"), "estimate")'
    )


@pytest.mark.usefixtures("folder")
def test_provisional_results_have_no_article_and_neither_has_a_study_without_one() -> None:
    with pytest.raises(StoreError, match="provisional"):
        article.write(PAPER)
    with pytest.raises(StoreError, match=r"article\.typ is missing"):
        article.write(find("jiang2015"))
