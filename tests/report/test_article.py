import io
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from pomrl.configuration.study import Study, find
from pomrl.judging.claim import claims_of
from pomrl.judging.claims_of_variants import stored
from pomrl.report import ReportError, article

PAPER = find("pomrl")
TEXT = PAPER.article.read_text(encoding="utf-8")


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (30, 20)).save(made, "PNG")
    return made.getvalue()


@pytest.fixture
def own(tmp_path: Path) -> Study:
    """A study with an article of its own, and the outputs and tables of the paper's."""
    shutil.copy(PAPER.path, tmp_path)
    for part in ("pages", "sweeps"):
        shutil.copytree(PAPER.folder / part, tmp_path / part)
    (tmp_path / "article").mkdir()
    return replace(PAPER, folder=tmp_path)


def typeset(study: Study, text: str) -> bytes:
    study.article.write_text(f'#import "study.typ": *\n{text}', encoding="utf-8")
    return article.typeset(study, article.values(study, stored(PAPER), text), {})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The loss is 0.437.", "0.437"),
        ("It falls by 12 %.", "12"),
        ("In 7 families.", "7"),
        ("The loss is $0.437$.", "0.437"),
        ("It is $L = 42$.", "42"),
        ("#let x = 0.437", "0.437"),
        ("#let x = 3\n#x", "3"),
        ('#"0.437"', "0.437"),
        ('#paper("0.437")', "0.437"),
        ('#paper("Figure 5 shows 0.437")', "Figure 5 shows 0.437"),
        ('#text("0.437")', "0.437"),
        ("#(0.4 + 0.037)", "0.4"),
        ('#estimate("Q1.1", "repaired") or 0.437', "0.437"),
        ("@fig:0.437", "0.437"),
        ("It falls by a tenth.", "tenth"),
        ("After Sixty-four thousand runs", "Sixty"),
    ],
)
def test_a_number_that_is_written_out_is_found_with_its_line(text: str, found: str) -> None:
    line, number = next(article.written_out(f"\n\n{text}"))
    assert (line, number) == (3, found)


@pytest.mark.parametrize(
    "text",
    [
        '#estimate("Q1.1", "repaired", part: "task 15 less task 1")',
        '#cell("table", (rung: "1.1 oracle", number: "2"), "estimate", digits: 1)',
        '#paper("Figures 5a and 5c"), #paper("Sec. 6.2"), #paper("Theorems 1 and 2")',
        "$1 \\/ (1 - gamma)^3$ and $p (1 - p)$",
        "@jiang2015 // 0.437",
        '#set text(size: 10pt)\n#bibliography("works2.bib")',
        "Two of them are often tested, and nine are not.",
    ],
)
def test_names_formulas_and_places_of_the_paper_may_have_digits(text: str) -> None:
    assert not list(article.written_out(text))


def test_no_number_of_the_shipped_article_is_written_out() -> None:
    assert not list(article.written_out(TEXT))


@pytest.mark.usefixtures("folder")
def test_every_name_of_the_shipped_article_is_among_the_results_and_its_bytes_are_the_same_twice() -> None:
    found = stored(PAPER)
    some = dict.fromkeys((each.id for each in claims_of(PAPER)), found.main[0])  # for those that need more than 2 runs
    of_all = {**some, **{each.id: each for each in found.main}}
    alike = replace(found, by_variant=dict.fromkeys(PAPER.described.headline, of_all))
    named = article.values(PAPER, alike, TEXT)
    figures = set(re.findall(r'#figure-of\("([^"]+)"', TEXT))
    assert figures
    drawn = dict.fromkeys(figures, picture())
    first, second = (article.typeset(PAPER, named, drawn) for _ in range(2))
    assert first.startswith(b"%PDF")
    assert first == second


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('\n\n#estimate("Q9.9", "repaired")', "there is no claim under repaired: Q9.9"),
        ('#estimate("Q1.1", "repaird")', "there is no variant repaird"),
        ('#estimate("Q1.1", "repaired", part: "no such words")', "has 0 comparisons with the words no such words"),
        ('#setting("task_similarity", "sigm")', "there is no setting of task_similarity: sigm"),
        ('#cell("notebook_ladder", (rung: "no such"), "estimate")', "the table notebook_ladder has 0 rows"),
        ('#figure-of("no_such", [A figure.])', "the figure no_such is not drawn"),
        ("#no-such-function()", "unknown variable: no-such-function"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_wrong_name_is_one_line_that_names_it(own: Study, text: str, said: str) -> None:
    with pytest.raises(ReportError, match=re.escape(said)) as raised:
        typeset(own, text)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("folder")
def test_values_are_those_of_the_results(own: Study) -> None:
    text = '#setting("task_similarity", "sigma")#setting("task_similarity", "m")'
    named = article.values(PAPER, stored(PAPER), text)
    assert named["settings"]["task_similarity"]["sigma"] == "0.01, 0.025, 0.047"
    assert named["settings"]["task_similarity"]["m"] == "5"
    judged = stored(PAPER).of("repaired")["Q1.5"]
    assert [part["estimate"] for part in named["claims"]["repaired"]["Q1.5"]["parts"]] == [
        part.estimate for part in judged.comparisons
    ]
    assert typeset(
        own, '#cell("notebook_ladder", (rung: "text", number: "ada-POMRL\'s loss, tasks 11 to 15"), "estimate")'
    )


@pytest.mark.usefixtures("folder")
def test_provisional_results_have_no_article_and_neither_has_a_study_without_one() -> None:
    with pytest.raises(ReportError, match="provisional"):
        article.write(PAPER)
    with pytest.raises(ReportError, match="no article"):
        article.write(find("jiang2015"))
