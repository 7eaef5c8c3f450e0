"""Claims are read from text, and a fault has its place."""

import json
from pathlib import Path

import pytest

from verdicts import ClaimError, parse, read_claims
from verdicts.language import Cell

A, B = Cell(name="A"), Cell(name="B")


def test_a_comparison_is_two_sums_of_cells():
    claim = parse("x: 0.5 * A - score[method=B, n=10] + 1 >= B")
    assert (claim.id, claim.kind, claim.sign) == ("x", "less", 1)
    assert claim.left == {A: 0.5, Cell("score", (("method", "B"), ("n", "10"))): -1.0, None: 1.0}
    assert claim.right == {B: 1.0}


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("A < B", {"kind": "less", "sign": -1}),
        ("A ~ B within 10 %", {"kind": "equal", "margin": 0.1, "is_relative": True}),
        ("A ~ B within 0.5", {"kind": "equal", "margin": 0.5, "is_relative": False}),
        ("A > B in > 50 % of game", {"kind": "share", "number": 0.5, "is_percent": True, "column": "game"}),
        ("A > B in >= 40 of game", {"kind": "share", "number": 39.5, "is_percent": False}),
        ("A is lowest over method", {"kind": "best", "sign": -1, "column": "method"}),
        ("A is lowest at gamma in 0.3..0.6", {"kind": "extreme", "sign": -1, "range": (0.3, 0.6)}),
        ("A is highest at x in -2 .. -1e-1", {"kind": "extreme", "sign": 1, "range": (-2.0, -0.1)}),
        ("A falls with n at every step", {"kind": "trend", "sign": -1, "is_stepwise": True}),
        ("A is flat with n within 10 %", {"kind": "flat", "margin": 0.1, "column": "n"}),
        (
            'A > B where game="space, the game", n=3 for each year',
            {"where": (("game", "space, the game"), ("n", "3")), "each": "year"},
        ),
        ("A > B for each year where n=3", {"where": (("n", "3"),), "each": "year"}),
    ],
)
def test_every_kind_of_claim_is_read(line, fields):
    claim = parse(line)
    assert {name: getattr(claim, name) for name in fields} == fields


@pytest.mark.parametrize("name", ["gpt-4o", "7b", "2024.1.2", "ResNet-50", "ä_1"])
def test_names_may_have_digits_points_and_hyphens(name):
    assert parse(f"{name} > B").left == {Cell(name=name): 1.0}


def test_comments_are_no_part_of_a_claim():
    assert parse('A > "C # 1"   # as stated').text == 'A > "C # 1"'
    assert [claim.id for claim in read_claims("# head\n\nA > B\n  # more\nx: A < B")] == ["C1", "x"]


@pytest.mark.parametrize(
    ("line", "position", "expected"),
    [
        ("A >", 4, "a cell"),
        ("A B", 3, "'is best over'"),
        ("A[x] > B", 4, "'='"),
        ("A[n=1 > B", 10, "']'"),
        ("A > B within 3", 7, "the end"),
        ("A ~ B", 6, "'within 10 %'"),
        ("A is best", 10, "'over'"),
        ("A is lowest at n in 3", 22, "'..'"),
        ("A > B in > 50 game", 15, "'of'"),
        ("A > B where game", 17, "'='"),
        ("A > (B + C) / 2", 5, "a cell"),
    ],
)
def test_errors_name_place_and_remedy(line, position, expected):
    with pytest.raises(ClaimError, match=f"^character {position} of ") as error:
        parse(line)
    assert expected in str(error.value).split("must be")[1]
    assert "\n" not in str(error.value)


def test_all_kinds_of_files_are_equivalent(tmp_path: Path):
    pytest.importorskip("yaml")
    texts = {"x": "A > B", "y": "A ~ B within 5 %"}
    files = {
        "c.txt": "x: A > B\r\ny: A ~ B within 5 %\n",
        "c.toml": '[claims]\nx = "A > B"\ny = "A ~ B within 5 %"\n',
        "c.yaml": "claims:\n- 'x: A > B'\n- 'y: A ~ B within 5 %'\n",
        "d.yaml": json.dumps(texts),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8-sig" if name == "c.txt" else "utf-8")
        assert read_claims(tmp_path / name) == read_claims(texts)
    assert read_claims(["x: A > B", parse("y: A ~ B within 5 %")]) == read_claims(texts)


def test_errors_in_files_name_the_line(tmp_path: Path):
    (tmp_path / "c.txt").write_text("A > B\n\nA >\n")
    with pytest.raises(ClaimError, match=r"c\.txt, line 3: character 4"):
        read_claims(tmp_path / "c.txt")


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([], "at least one claim"),
        ("# nothing\n", "at least one"),
        (["x: A > B", "x: A < B"], "ids"),
        ([3], "line of text"),
        (3, "lines"),
    ],
)
def test_bad_lists_of_claims_are_refused(claims, message):
    with pytest.raises(ClaimError, match=message):
        read_claims(claims)


@pytest.mark.parametrize(("name", "text"), [("c.toml", "claims = ["), ("c.yaml", "a: [")])
def test_a_broken_file_is_one_line(tmp_path: Path, name, text):
    pytest.importorskip("yaml")
    (tmp_path / name).write_text(text)
    with pytest.raises(ClaimError, match="cannot be read") as error:
        read_claims(tmp_path / name)
    assert "\n" not in str(error.value)


def test_list_signs_are_no_minus():
    assert parse("- A > B").left == parse("A > B").left
    assert parse("-A > B").left == {Cell(name="A"): -1.0}


def test_a_number_on_the_left_moves_right():
    claim, turned = parse("0.9 < A"), parse("A > 0.9")
    assert (claim.left, claim.right, claim.sign) == (turned.left, turned.right, turned.sign)
