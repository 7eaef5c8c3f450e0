"""One key of the metadata is the address of the project: all pages show it, or have no link if nobody hosts it."""

from email.message import Message
from pathlib import Path

import pytest
import yaml
from docs.build import documents, hooks
from mkdocs.config import load_config
from tests.support.computed import call
from tests.support.settings import ROOT
from tests.support.study_folders import SMALL, write

from pomrl.commands import reproduce

ADDRESS = "https://example.org/pomrl"


@pytest.fixture(params=["", ADDRESS])
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address in the metadata of the package; empty if they have none."""
    metadata = Message()
    metadata["Project-URL"] = "Paper, https://arxiv.org/abs/2212.14530"
    if request.param:
        metadata["Project-URL"] = f"Repository, {request.param}"
    monkeypatch.setattr("pomrl_report.address.metadata", lambda name: metadata)
    return request.param


def test_readme_links_to_it(address: str) -> None:
    text = documents.document(ROOT / "README.md.in")
    assert ("[This repository](https://example.org/pomrl)" in text) == bool(address)
    assert "]()" not in text
    assert "This repository" in text


def test_the_citation_has_it(address: str) -> None:
    assert yaml.safe_load(documents.citation()).get("repository-code", "") == address


def test_the_site_links_to_it(address: str) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"))
    hooks.on_config(config)
    assert (config.repo_url or "") == address


def test_reports_link_to_it(address: str, cwd: Path) -> None:
    write(cwd / "mine", {name: SMALL[name] for name in ("study.yaml", "sweeps/first.yaml")})
    assert call(reproduce, "mine", "--runs", "3")[0] == 0
    page = (cwd / "outputs/studies/mine/report/index.html").read_text()
    assert (f'<a href="{ADDRESS}">' in page) == bool(address)
    assert 'href=""' not in page
