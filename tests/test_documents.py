"""Documents that say what the code says: they cannot go stale."""

import re
from importlib import import_module
from typing import Any

import pytest
from tests.test_config import CONF, OURS

from pomrl.reference import configuration

ROOT = CONF.parent


def test_the_reference_of_the_configuration_is_up_to_date(request: pytest.FixtureRequest) -> None:
    path = ROOT / "docs" / "configuration.md"
    found = configuration(OURS)
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


@pytest.mark.parametrize(
    "document", ["README.md", "ERRATA.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target
