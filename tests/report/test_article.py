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
    buffer = io.BytesIO()
    Image.new("RGB", (30, 20)).save(buffer, "PNG")
    return buffer.getvalue()


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


def test_the_article_writes_out_no_numbers() -> None:
    """Digits stand in comments, code, the arguments of lookups and references, and one by one in formulas."""
    remainder = re.sub(
        r"//[^\n]*|`[^`\n]*`|#[\w-]+\((?:[^()\"]|\"[^\"\n]*\"|\([^()]*\))*\)|[@<][A-Za-z][\w-]*>?", " ", TEXT
    )
    remainder = re.sub(r"^#(?:set|show|import|bibliography)\b[^\n]*", "", remainder, flags=re.MULTILINE)
    remainder = re.sub(r"\$[^$]*\$", lambda formula: re.sub(r"(?<![\d.])\d(?![\d.])", "", formula[0]), remainder)
    assert re.findall(r".*\d.*", remainder) == []


def test_the_article_has_the_same_bytes_twice() -> None:
    named = article.values(PAPER, read_published(PAPER), TEXT)
    first, second = (article.typeset(PAPER, named, PICTURES) for _ in range(2))
    assert first.startswith(b"%PDF")
    assert first == second


def test_a_turned_sentence_is_one_line() -> None:
    published = read_published(PAPER)
    turned = published.of("printed")["Q1.1"].model_copy(update={"verdict": Verdict.DOES_NOT_HOLD})
    by_variant = {**published.by_variant, "printed": {**published.of("printed"), "Q1.1": turned}}
    message = "claim Q1.1 under printed: the sentence needs holds, got does not hold"
    with pytest.raises(StoreError, match=re.escape(message)):
        article.typeset(PAPER, article.values(PAPER, replace(published, by_variant=by_variant), TEXT), PICTURES)


def test_the_article_has_the_counts_of_readme() -> None:
    named = article.values(PAPER, read_published(PAPER), TEXT)
    assert "#answer()" in TEXT
    assert named["answer"] in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["", "https://example.org/pomrl"])
def test_the_first_page_links_to_the_code(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(article, "repository_address", lambda: address)
    named = article.values(PAPER, read_published(PAPER), TEXT)
    assert named["links"] == {**PAPER.config.links, **({"code": address} if address else {})}
    pdf = article.typeset(PAPER, named, PICTURES)
    assert all(f"/URI({link})".encode() in pdf.replace(b" ", b"") for link in named["links"].values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\n\n#estimate("Q9.9", "repaired")', "unknown claim under repaired: Q9.9"),
        ('#estimate("Q1.1", "repaired", part: "no such words")', "has 0 comparisons with the words no such words"),
        ('#cell("notebook_ladder", (rung: "no such"), "estimate")', "the table notebook_ladder has 0 rows"),
        ('#figure-of("no_such", [A figure.])', "the figure no_such is not drawn"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_names_are_one_line(own: Study, text: str, message: str) -> None:
    with pytest.raises(StoreError, match=re.escape(message)) as raised:
        typeset(own, text)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("folder")
def test_values_are_those_of_the_results(own: Study) -> None:
    text = '#setting("task_similarity", "sigma")#setting("task_similarity", "m")'
    named = article.values(PAPER, load_judgements(PAPER), text)
    assert named["settings"]["task_similarity"]["sigma"] == "0.01, 0.025, 0.047"
    assert named["settings"]["task_similarity"]["m"] == "5"
    judgement = load_judgements(PAPER).of("repaired")["Q1.1"]
    assert [comparison["estimate"] for comparison in named["claims"]["repaired"]["Q1.1"]["parts"]] == [
        comparison.estimate for comparison in judgement.comparisons
    ]
    assert typeset(
        own, '#cell("notebook_ladder", (rung: "repaired", number: "ada-POMRL\'s loss, tasks 11 to 15"), "estimate")'
    )


@pytest.mark.usefixtures("folder")
def test_provisional_results_have_no_article() -> None:
    with pytest.raises(StoreError, match="provisional"):
        article.write(PAPER)
    with pytest.raises(StoreError, match=r"article\.typ is missing"):
        article.write(find("jiang2015"))
