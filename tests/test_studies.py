from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.computed import two_runs_of

from pomrl import store
from pomrl.commands import figures
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED
from pomrl.figures import FIGURES
from pomrl.figures.parts.drawing import Drawing
from pomrl.figures.parts.files import Sidecar, save
from pomrl.results.stored_sweeps import stored_sweep

SWEEPS = studies.names(PUBLISHED)

PROMISED = {"gamma_schedules": 600, "gamma_0": 600, "states_20": 20, "states_30": 20}
PROMISED |= {f"notebook_{name}": runs for name, runs in PROMISED.items() if name != "gamma_schedules"}
PROMISED |= {"notebook_schedules": 600, "horizon_or_prior": 1200, "wrong_priors": 300}
"""Numbers of runs that the paper states for a sweep; those of the others are 100."""


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of outputs, with two runs of every published sweep, computed by the command."""
    folder = tmp_path_factory.mktemp("outputs")
    with two_runs_of(SWEEPS, folder):
        yield folder


@pytest.mark.parametrize("name", SWEEPS)
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
    """The files of a figure, and beside them what it says of itself."""
    paths = save(drawing, folder, name, sidecar)
    (folder / f"{name}.txt").write_text(drawing.figure.get_suptitle())
    return paths


def test_every_figure_is_drawn_from_the_published_sweeps_and_lacks_nothing_but_runs(
    computed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = computed / "figures"
    drawn, lacking = figures.draw(list(FIGURES), folder, save_with_note)
    assert drawn == set(FIGURES)
    for suffix in ("pdf", "png", "csv", "json"):
        assert {path.stem for path in folder.glob(f"*.{suffix}")} == set(FIGURES)
    assert all(line.startswith("simulating ") for line in capsys.readouterr().err.splitlines())
    assert sorted(lacking) == sorted(dict.fromkeys(sweep for figure in FIGURES.values() for sweep in figure.SWEEPS))
    for name, figure in FIGURES.items():
        (promised,) = {PROMISED.get(sweep, 100) for sweep in figure.SWEEPS} or {0}
        expected = f"provisional: 2 of {promised} runs" if figure.SWEEPS else ""
        assert (folder / f"{name}.txt").read_text() == expected, name
    sidecar = Sidecar.read(folder / "varyingSmT.json")
    assert [len(sources) for sources in sidecar.sweeps.values()] == [6, 6]


@pytest.mark.parametrize("name", SWEEPS)
def test_every_published_sweep_is_used_by_a_figure_and_promises_the_number_of_runs_of_the_paper(name: str) -> None:
    assert any(name in figure.SWEEPS for figure in FIGURES.values())
    promised = {setting.experiment.request.runs for setting in studies.sweep(PUBLISHED, name)}
    assert promised == {PROMISED.get(name, 100)}


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
