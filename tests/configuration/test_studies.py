"""The sweeps of the studies that are shipped: each is used, and has one number of runs and the names that are said."""

import pytest

from pomrl.configuration.composition import Composer
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import Study, find, shipped_studies
from pomrl.drawing.figure import figures_of
from pomrl.judging.claim import claims_of

pytestmark = pytest.mark.slow

PAPER = find("pomrl2023")
SWEEPS = [(study, name) for study in shipped_studies() for name in study.sweeps]

FIGURES = {study.name: figures_of(study) for study in shipped_studies()}


def ids(of_study: tuple[Study, str]) -> str:
    return f"{of_study[0].name}/{of_study[1]}"


@pytest.mark.parametrize("of_study", SWEEPS, ids=ids)
def test_every_published_sweep_is_used_and_has_one_number_of_runs(of_study: tuple[Study, str]) -> None:
    """A sweep is in a figure or in a claim."""
    study, name = of_study
    assert any(name in part.sweeps for part in (*FIGURES[study.name], *claims_of(study)))
    assert "runs" not in Composer.from_sources(PUBLISHED).axes(study.option(name))


@pytest.mark.parametrize("name", PAPER.sweeps)
def test_a_sweep_of_the_paper_has_a_short_name_and_a_full_one(name: str) -> None:
    composer = Composer.from_sources(PUBLISHED)
    short, full = f"experiment={name}", f"experiment=pomrl2023/{name}"
    assert composer.axes(f"pomrl2023/{name}") == composer.axes(name)
    assert composer.compose([full]).values == composer.compose([short]).values
