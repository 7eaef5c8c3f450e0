"""Judgements are readable in every format."""

import json
from importlib.resources import files
from io import StringIO

import pandas as pd
import pytest
from tables_of_tests import games, normal, sweep, two_methods

from verdicts import judge
from verdicts.forest import forest
from verdicts.output import FORMATS, LATEX, notes, to_csv, to_html, to_json, to_latex, to_markdown, to_text

SCHEMA = json.loads(files("verdicts").joinpath("judgement.schema.json").read_text("utf-8"))


@pytest.fixture
def result() -> pd.DataFrame:
    data = sweep().replace({"method": {"a": "a_1|x & co"}})
    claims = ['holds: "a_1|x & co" < b where n=4', 'not: "a_1|x & co" > b where n=4', 'few: "a_1|x & co" > 0 where n=1']
    return judge(data, claims, value="loss")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_all_claims(result, form):
    text = FORMATS[form](result)
    assert all(name in text for name in ("holds", "not", "few", "undecided"))
    assert not text.endswith("\n")


def test_text_has_signs_and_80_columns(result):
    lines = to_text(result).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines if line[:1] in "✓✗≈?" and line.strip()] == ["✓", "✗", "?"]


def test_json_follows_its_schema(result):
    loaded = json.loads(to_json(result))
    try:
        from jsonschema import validate
    except ImportError:
        assert {*loaded} == {*SCHEMA["required"]} == {*SCHEMA["properties"]}
        assert {*loaded["claims"][0]} == {*SCHEMA["properties"]["claims"]["items"]["required"]}
    else:
        validate(loaded, SCHEMA)
    assert loaded["schema"] == SCHEMA["properties"]["schema"]["const"]
    assert loaded["claims"][2]["lower"] is None  # too few units for an interval


def test_csv_has_the_numbers_in_full(result):
    table = pd.read_csv(StringIO(to_csv(result)))
    assert [*table["estimate"]] == [*result["estimate"]]
    assert [*table.columns] == [*result.columns]


def test_signs_of_other_languages_are_escaped(result):
    assert r"a\_1\|x & co" in to_markdown(result)
    assert r"a\_1|x \& co" in to_latex(result)
    assert "a_1|x &amp; co" in to_html(result)
    assert "50 % of $~$".translate(LATEX).replace("$\\sim$", r"\sim") == r"50 \% of \$\sim\$"


def test_notes_say_units_roles_and_error():
    assert notes(judge(games(), ["a > b", "a < b"])) == [
        "Units: game, means of 3 runs, paired; numbers: score by method.",
        "Any wrong verdict: at most about 5 %, shared by 2 claims.",
    ]
    unequal, narrow = judge(games()[1:], ["a > b"]), judge(games(), ["a > b"], unit="run")
    assert "means of 2 to 3 runs (unequal numbers)" in notes(unequal)[0]
    assert "Units: seed, within each game (only about these), not paired" in notes(narrow)[0]
    assert "In C1: runs of single problems, not paired." in notes(judge(games(), ["a > b where game=g1"]))
    assert "With unit=run, C1 would be about these very problems." in notes(judge(games(games=4), ["a > b"]))


def test_a_forest_has_every_claim(tmp_path):
    from matplotlib.figure import Figure

    pages = []
    save = Figure.savefig
    claims = ["a ~ b within 1 % where n=1", "a < b where n=2", "a < 1000 * b where n=3", "a > 0 where n=4"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Figure, "savefig", lambda figure, *args, **keywords: (pages.append(figure), save(figure, *args, **keywords))
        )
        forest(judge(sweep(), claims), tmp_path / "f.png")
        forest(judge(two_methods(normal(3), normal(3)), ["a > b"]), tmp_path / "few.pdf")  # an infinite interval
    assert (tmp_path / "f.png").stat().st_size > 10_000
    assert (tmp_path / "few.pdf").exists()
    limits = [axes.get_xlim() for axes in pages[0].axes]
    assert len({*limits}) == 4  # each claim has its own scale
    texts = " ".join(" ".join(text.get_text().split()) for axes in pages[0].axes for text in axes.texts)
    assert all(claim in texts for claim in claims)
