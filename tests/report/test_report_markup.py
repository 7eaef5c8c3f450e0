"""Symbols, captions and documents as the report shows them."""

import pytest

from pomrl_report.markup import document, paragraphs, symbols


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
def test_symbols(text: str, expected: str) -> None:
    assert symbols(text) == expected


def test_captions_have_paragraphs() -> None:
    assert paragraphs('loss of gamma.\n\nThe paper: "it\nis so."\n') == ["Loss of γ.", "The paper: “it is so.”"]
    assert paragraphs("") == []


def test_documents() -> None:
    text = "# Title\n\n## E1. One\n\n$x_t$ [in](docs/a.md) [out](src/b.py) <script>\n\n$$y$$\n"
    actual = document(text, "errata", {"a.md": "#a"})
    assert '<h3 id="errata-e1">E1. One</h3>' in actual
    assert "Title" not in actual
    assert '<a href="#a">in</a> <a>out</a> &lt;script&gt;' in actual
    assert actual.count("<math") == 2


def test_pictures_of_documents_become_links() -> None:
    actual = document("![a <b>](../x/shown.png) ![c](other.png)", "notes", {"shown.png": "#figure-shown"})
    assert actual == '<p><a href="#figure-shown">a &lt;b&gt;</a> c</p>\n'
