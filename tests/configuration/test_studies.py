"""The sweeps of the studies that are shipped: each is used, and has one number of runs and the names that are said."""

import pytest

from pomrl.configuration import sources
from pomrl.configuration.composition import Composer
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.drawing.figure import figures_of
from pomrl.judging.claim import claims_of

pytestmark = pytest.mark.slow

PAPER = find("pomrl2023")
SWEEPS = [(study, name) for study in shipped_studies() for name in study.sweeps]

FIGURES = {study.name: figures_of(study) for study in shipped_studies()}


def ids(sweep: tuple[Study, str]) -> str:
    return f"{sweep[0].name}/{sweep[1]}"


@pytest.mark.parametrize("study_sweep", SWEEPS, ids=ids)
def test_published_sweeps_are_used_with_one_size(study_sweep: tuple[Study, str]) -> None:
    """A sweep is in a figure or in a claim."""
    study, name = study_sweep
    assert any(name in user.sweeps for user in (*FIGURES[study.name], *claims_of(study)))
    assert "runs" not in Composer.from_sources(PUBLISHED).axes(study.option(name))


@pytest.mark.parametrize("name", PAPER.sweeps)
def test_paper_sweeps_have_short_and_full_names(name: str) -> None:
    composer = Composer.from_sources(PUBLISHED)
    short, full = f"experiment={name}", f"experiment=pomrl2023/{name}"
    assert composer.axes(f"pomrl2023/{name}") == composer.axes(name)
    assert composer.compose([full]).values == composer.compose([short]).values


def test_studies_of_other_papers_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SHIPPED", ("pomrl", "not-installed"))
    folders = sources.shipped_packages.__wrapped__()
    assert [folder.name for folder in folders] == ["beyond", "board", "pomrl2023", "prior_cost"]
