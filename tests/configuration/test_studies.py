"""The sweeps of the studies that are shipped: what they promise, what is stored of them, and the figures of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.computed import two_runs_of

from pomrl import store
from pomrl.configuration.composition import Composer
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.study import Study, find, shipped
from pomrl.configuration.sweeps import experiment, sweep
from pomrl.drawing.figure import Figure, figures_of
from pomrl.drawing.figures_of_study import Selection, stored_sweeps
from pomrl.drawing.figures_of_study import drawn as drawn_version
from pomrl.judging.claim import claims_of
from pomrl.results.stored_sweeps import stored_sweep

pytestmark = pytest.mark.slow

PAPER, BEYOND = find("pomrl"), find("beyond")
SWEEPS = [(study, name) for study in shipped() for name in study.sweeps]

COMPUTED = [(PAPER, "initial_similarity"), (BEYOND, "unequal_data")]
"""A sweep of either study: the others would take minutes even with two runs.

`tests/report` draws figures of several others, and `tests/drawing` figures of all with made-up tables.
"""

FIGURES = {study.name: figures_of(study) for study in shipped()}


def drawn_of(study: Study) -> dict[str, Figure]:
    """The figures of the computed sweeps alone, by their names."""
    computed = {name for of, name in COMPUTED if of == study}
    return {figure.name: figure for figure in FIGURES[study.name] if figure.sweeps and set(figure.sweeps) <= computed}


def ids(of_study: tuple[Study, str]) -> str:
    return f"{of_study[0].name}/{of_study[1]}"


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of outputs, with two runs of each of these sweeps, computed by one command."""
    folder = tmp_path_factory.mktemp("computed")
    with two_runs_of([",".join(study.option(name) for study, name in COMPUTED)], folder):
        yield folder


@pytest.mark.parametrize("of_study", COMPUTED, ids=ids)
@pytest.mark.usefixtures("computed")
def test_tables_of_a_sweep_have_the_settings_that_vary(of_study: tuple[Study, str]) -> None:
    study, name = of_study
    settings = study.settings(name)
    stored = stored_sweep(settings, most=2)
    assert len(stored.table.groupby(list(settings[0].varied))) == len(settings)
    signatures = [store.signature(setting.experiment) for setting in settings]
    assert [source.signature for source in stored.sources] == signatures
    assert all(source.runs == 2 for source in stored.sources)
    assert [source.settings for source in stored.sources] == [setting.varied for setting in settings]
    assert all(name.startswith("runs-000000-000001-") for source in stored.sources for name in source.blocks)


@pytest.mark.parametrize("study", [PAPER, BEYOND], ids=lambda study: study.name)
@pytest.mark.usefixtures("computed")
def test_every_figure_is_drawn_from_the_published_sweeps_and_lacks_nothing_but_runs(study: Study) -> None:
    figures = drawn_of(study)
    sweeps = {sweep for figure in figures.values() for sweep in figure.sweeps}
    only_in_claims = {name for claim in claims_of(study) for name in claim.sweeps} - sweeps
    assert sweeps == {name for of, name in COMPUTED if of == study} - only_in_claims
    selection = Selection(study, list(figures))
    for name, figure in figures.items():
        stored = stored_sweeps(selection, name)
        assert all(stored[sweep].lacking for sweep in figure.sweeps)
        (promised,) = {
            experiment(PUBLISHED, [f"experiment={study.option(sweep)}"]).request.runs for sweep in figure.sweeps
        }
        drawing, sidecar = drawn_version(selection, name, stored)
        said = drawing.figure.get_suptitle()
        assert "missing" not in said
        assert said.endswith(f"provisional: 2 of {promised} runs"), name
        shown = [stored[sweep].sources for sweep in figure.sweeps]
        assert [*sidecar.sweeps.values()] == shown


@pytest.mark.parametrize("of_study", SWEEPS, ids=ids)
def test_every_published_sweep_is_used_and_has_one_number_of_runs(of_study: tuple[Study, str]) -> None:
    """A sweep is in a figure or in a claim."""
    study, name = of_study
    assert any(name in each.sweeps for each in (*FIGURES[study.name], *claims_of(study)))
    assert "runs" not in Composer.of_sources(PUBLISHED).axes(study.option(name))


@pytest.mark.parametrize("name", PAPER.sweeps)
def test_a_sweep_of_the_paper_has_a_short_name_and_a_full_one(name: str) -> None:
    composer = Composer.of_sources(PUBLISHED)
    short, full = f"experiment={name}", f"experiment=pomrl/{name}"
    assert composer.axes(f"pomrl/{name}") == composer.axes(name)
    assert composer.one([full]).values == composer.one([short]).values


def test_tables_of_what_is_not_stored_are_empty_and_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    stored = stored_sweep(sweep(PUBLISHED, "gamma_0"))
    assert stored.table.empty
    assert stored.sources == []
    assert list(stored.table.columns[:2]) == ["gamma_schedule.gamma_0", "run"]
    assert "6 of 6 settings have fewer than " in (stored.lacking or "")
