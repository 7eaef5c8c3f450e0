from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.computed import two_runs_of

from pomrl import store
from pomrl.claims import OURS, REPORTED
from pomrl.commands import figures
from pomrl.configuration import studies
from pomrl.configuration.composition import Composer
from pomrl.configuration.sources import PUBLISHED
from pomrl.figures import FIGURES
from pomrl.drawing.drawing import Drawing
from pomrl.drawing.files import Sidecar, save
from pomrl.drawing.notes import coinciding
from pomrl.results.stored_sweeps import stored_sweep

SWEEPS = studies.names(PUBLISHED)

PROMISED = {"gamma_schedules": 600, "gamma_0": 600, "states_20": 20, "states_30": 20}
PROMISED |= {f"notebook_{name}": runs for name, runs in PROMISED.items() if name != "gamma_schedules"}
PROMISED |= {"notebook_schedules": 600}
PROMISED |= {"horizon_or_prior": 1200, "long_streams": 60}
PROMISED |= dict.fromkeys(["families", "families_schedules", "wrong_priors"], 300)
PROMISED |= dict.fromkeys(["streams", "unequal_data", "unknown_rewards"], 200)
"""Numbers of runs that the paper states for a sweep, or that a sweep beyond the paper has; the others have 100."""

COMPUTED = [*studies.of_the_paper(PUBLISHED), "unequal_data"]
"""The sweeps of the paper and a cheap one beyond it: the others beyond it would take minutes even with two runs.

Their figures are tested with made-up tables in `tests/figures`.
"""

DRAWN = [name for name, figure in FIGURES.items() if set(figure.SWEEPS) <= set(COMPUTED)]
"""The figures of these sweeps and those that need no sweep."""


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of outputs, with two runs of each of these sweeps, computed by the command."""
    folder = tmp_path_factory.mktemp("outputs")
    with two_runs_of(COMPUTED, folder):
        yield folder


@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.usefixtures("computed")
def test_tables_of_a_sweep_have_the_settings_that_vary(name: str) -> None:
    settings = studies.sweep(PUBLISHED, name)
    stored = stored_sweep(settings, 2)
    assert stored.lacking is None
    assert len(stored.table.groupby(list(settings[0].varied))) == len(settings)
    signatures = [store.signature(setting.experiment) for setting in settings]
    assert [source.signature for source in stored.sources] == signatures
    assert all(source.runs == 2 for source in stored.sources)
    assert [source.settings for source in stored.sources] == [setting.varied for setting in settings]
    assert [list(source.blocks) for source in stored.sources] == [["runs-000000-000001.parquet"]] * len(settings)


def save_with_note(drawing: Drawing, folder: Path, name: str, sidecar: Sidecar) -> list[Path]:
    """Write the files of a figure, and beside them its note without blanks and without the curves that coincide."""
    paths = save(drawing, folder, name, sidecar)
    whole, of_curves = "".join(drawing.figure.get_suptitle().split()), "".join(coinciding(drawing.data))
    (folder / f"{name}.txt").write_text(whole.removeprefix("".join(of_curves.split())))
    return paths


def test_every_figure_is_drawn_from_the_published_sweeps_and_lacks_nothing_but_runs(
    computed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = computed / "figures"
    drawn, lacking = figures.draw(DRAWN, folder, save_with_note)
    assert drawn == set(DRAWN)
    assert {sweep for name in DRAWN for sweep in FIGURES[name].SWEEPS} == set(COMPUTED)
    for suffix in ("pdf", "png", "csv", "json"):
        assert {path.stem for path in folder.glob(f"*.{suffix}")} == set(DRAWN)
    assert all(line.startswith("simulating ") for line in capsys.readouterr().err.splitlines())
    assert sorted(lacking) == sorted(COMPUTED)
    for name in DRAWN:
        figure = FIGURES[name]
        (promised,) = {PROMISED.get(sweep, 100) for sweep in figure.SWEEPS} or {0}
        expected = f"provisional:2of{promised}runs" if figure.SWEEPS else ""
        assert (folder / f"{name}.txt").read_text() == expected, name
    sidecar = Sidecar.read(folder / "varyingSmT.json")
    assert [len(sources) for sources in sidecar.sweeps.values()] == [6, 6]


@pytest.mark.parametrize("name", SWEEPS)
def test_every_published_sweep_is_used_and_promises_the_number_of_runs_that_is_stated(name: str) -> None:
    """A sweep of the paper is in a figure; one beyond the paper is in a figure or in a claim of ours."""
    in_figures = any(name in figure.SWEEPS for figure in FIGURES.values())
    in_claims_of_ours = any(name in claim.experiments for claim in OURS + REPORTED)
    assert in_figures or (name in studies.BEYOND and in_claims_of_ours)
    axes, jobs = Composer(PUBLISHED.folders).sweep(name)
    assert "runs" not in axes  # one setting tells the number of all, and composing all would take long
    assert studies.experiment(PUBLISHED, jobs[0]).request.runs == PROMISED.get(name, 100)


def test_tables_of_what_is_not_stored_are_empty_and_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    stored = stored_sweep(studies.sweep(PUBLISHED, "gamma_0"), 600)
    assert stored.table.empty
    assert stored.sources == []
    assert list(stored.table.columns[:2]) == ["gamma_schedule.gamma_0", "run"]
    assert "6 of 6 settings have fewer than 600 runs" in (stored.lacking or "")


@pytest.mark.parametrize("name", ["samples_and_tasks", "illustration"])
def test_a_job_of_a_sweep_is_what_hydra_composes_alone(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    for setting in studies.sweep(PUBLISHED, name):
        alone = studies.experiment(PUBLISHED, [f"experiment={name}", *(f"{k}={v}" for k, v in setting.varied.items())])
        assert setting.experiment == alone
