"""The documents show what their commands and code print."""

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

PACKAGE = Path(__file__).parents[1]


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["README.md", "docs/examples.md"])
def test_pages_show_the_output_of_commands(page, capsys):
    text = (PACKAGE / page).read_text("utf-8")
    assert load(PACKAGE / "docs" / "render.py").rendered(text) == text
    assert not capsys.readouterr().err


def test_the_readme_shows_its_claims():
    claims = (PACKAGE / "examples" / "games.txt").read_text().splitlines()
    assert all(f"    {claim}\n" in (PACKAGE / "README.md").read_text() for claim in claims)


def test_generated_tables_are_those_of_their_seed():
    module = load(PACKAGE / "examples" / "make_tables.py")
    for name in ("games", "agents", "sweep"):
        pd.testing.assert_frame_equal(getattr(module, name)(), pd.read_csv(PACKAGE / "examples" / f"{name}.csv"))


def test_every_line_of_the_grammar_works():
    from verdicts import parse

    table = (PACKAGE / "README.md").read_text().split("## Claims")[1].split("##")[0]
    lines = [code for row in re.findall(r"^\| (`.*`) \|", table, re.MULTILINE) for code in re.findall("`([^`]+)`", row)]
    assert len(lines) > 12
    for line in lines:
        assert parse(line.replace("...", "A > B")).cells


def test_no_document_needs_another_distribution():
    sources = (PACKAGE / "src" / "verdicts").glob("*.py")
    imported = {name for path in sources for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.M)}
    assert imported <= {*sys.stdlib_module_names, "verdicts", "numpy", "scipy", "pandas", "matplotlib", "yaml"}
