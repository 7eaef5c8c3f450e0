"""Without pomrl-papers, its studies and stored experiments are named with the remedy, and nothing is lost."""

import sys
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.settings import ROOT

from pomrl import store
from pomrl.commands import runs
from pomrl.configuration import sources
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.composition_errors import describe_unknown_sweep
from pomrl.configuration.sources import OF_PAPERS, PAPERS_REMEDY
from pomrl.configuration.studies import check_study_name, find


def hide_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pomrl-papers be missing."""
    for name in ("shipped_packages", "installed_packages"):
        packages = {folder: value for folder, value in getattr(sources, name)().items() if folder.name not in OF_PAPERS}
        monkeypatch.setattr(sources, name, lambda packages=packages: packages)
    for module in [module for module in sys.modules if module.startswith("pomrl_papers.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pomrl_papers", None)


def test_names_of_its_studies_are_known() -> None:
    studies = (ROOT / "packages" / "pomrl-papers").glob("src/*/*/study.yaml")
    assert sorted(path.parent.name for path in studies) == sorted(OF_PAPERS)


@pytest.mark.parametrize("name", OF_PAPERS)
def test_its_studies_are_named_with_remedy(name: str, monkeypatch: pytest.MonkeyPatch, cwd: Path) -> None:
    hide_papers(monkeypatch)
    with pytest.raises(ConfigError, match=f"^{name} needs pomrl-papers: pip install"):
        find(name)
    assert describe_unknown_sweep(f"{name}/any", []) == f"experiment={name}/any {PAPERS_REMEDY}"
    with pytest.raises(ConfigError, match="reserved"):
        check_study_name(name, name)


def test_its_stored_experiments_stay_valid(monkeypatch: pytest.MonkeyPatch, empty_outputs: Path) -> None:
    status, _, err = call("run", "agent=q_learning", "S=3", "T=1", "runs=2", "execution.workers=1")
    assert status == 0, err
    hide_papers(monkeypatch)
    status, _, err = call(runs, "--verify")
    assert (status, "remove the folder" in err) == (0, False)
    assert len(store.all_experiments()) == 1
