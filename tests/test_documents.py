"""Documents that say what the code says: they cannot go stale."""

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.settings import ROOT

from pomrl.commands import run
from pomrl.configuration.reference import configuration
from pomrl.configuration.sources import PUBLISHED


def test_the_reference_of_the_configuration_is_up_to_date(request: pytest.FixtureRequest) -> None:
    path = ROOT / "docs" / "configuration.md"
    found = configuration(PUBLISHED)
    if request.config.getoption("force_regen"):
        path.write_text(found)
    assert path.read_text() == found


def test_every_name_in_the_map_from_the_paper_exists() -> None:
    text = (ROOT / "docs" / "paper-to-code.md").read_text()
    names = re.findall(r"`pomrl\.([\w.]+)`", text)
    assert len(names) > 40
    for name in names:
        found, *parts = _module(name)
        for part in parts:
            found = getattr(found, part)


def _module(name: str) -> list[Any]:
    """The longest part of a dotted name that is a module, and the names that are left."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            return [import_module(".".join(["pomrl", *parts[:length]])), *parts[length:]]
        except ModuleNotFoundError:
            continue
    raise AssertionError(f"pomrl.{name} does not exist")


def test_every_test_that_the_document_on_reliability_names_exists() -> None:
    text = (ROOT / "docs" / "reliability.md").read_text()
    named = re.findall(r"`(tests/\w+\.py)::(?:(\w+)::)?(test_\w+)`", text)
    assert len(named) == text.count("`tests/") > 50
    for path, group, test in named:
        source = (ROOT / path).read_text()
        assert not group or f"class {group}:" in source, (path, group)
        assert f"def {test}(" in source, (path, test)


HELP = (ROOT / "conf" / "config.yaml").read_text().partition("template: |")[2]
EXAMPLES = re.findall(r"^ +python -m src\.run(.*?)(?:   ?\w.*)?$", HELP, flags=re.MULTILINE)


@pytest.mark.parametrize("arguments", EXAMPLES)
def test_examples_of_the_help_work(
    arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["run", *shlex.split(arguments), "dry_run=true"])
    with pytest.raises(SystemExit) as end:
        run.main()
    said = capsys.readouterr()
    assert end.value.code == 0, said.err
    assert "to compute" in said.err


def test_the_help_fits_a_terminal() -> None:
    assert len(EXAMPLES) == 9
    assert max(len(line.removeprefix(" " * 6)) for line in HELP.splitlines()) <= 80


@pytest.mark.parametrize(
    "document", ["README.md", "ERRATA.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target
