"""The runs of stored experiments that are put into figures."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call

from pomrl.commands import run
from pomrl.commands.reproduce_stages import draw_all
from pomrl.configuration.studies import Study, find
from pomrl.configuration.sweeps import Setting
from pomrl.configuration.variants import of_keys
from pomrl.drawing import figures_of_study
from pomrl.drawing.figures_of_study import DrawnFigure, Selection, draw, file_stem, versions
from pomrl.drawing.picture_files import Sidecar

pytestmark = pytest.mark.slow

STORED = {"pomrl": 3, "ada_pomrl": 4, "oracle": 1, "without_meta": 4}
"""Numbers of runs that are stored at the smallest sigma, by estimator."""

REQUESTED_RUNS = 2

settings_of_study = Study.settings


def promising_two(*arguments, **options) -> list[Setting]:
    """Return the experiments of a sweep of a study as if it planned two runs."""
    settings = settings_of_study(*arguments, **options)
    requests = [replace(setting.experiment.request, runs=REQUESTED_RUNS) for setting in settings]
    return [
        replace(setting, experiment=replace(setting.experiment, request=request))
        for setting, request in zip(settings, requests, strict=True)
    ]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        for estimator, runs in STORED.items():
            arguments = ["experiment=task_similarity", "sigma=0.01", f"estimator={estimator}", f"runs={runs}"]
            assert call(run, *arguments)[0] == 0
        patch.setattr(Study, "settings", promising_two)
        yield folder / "studies" / "pomrl2023" / "figures"


def draw_here(*names: str) -> list[DrawnFigure]:
    """Draw so few figures that this process draws them, in which sweeps promise two runs."""
    return list(draw([Selection(find("pomrl2023"), names)]))


def source_runs(folder: Path, name: str) -> list[int]:
    """Return the number of runs of each experiment that a figure shows, after checking that its table has the same."""
    path = folder / file_stem(find("pomrl2023"), name)
    runs = [source.runs for source in Sidecar.read(path.with_suffix(".json")).sweeps["task_similarity"]]
    assert set(pd.read_csv(path.with_suffix(".csv"))["n"]) == set(runs)
    return runs


def test_curves_of_a_figure_share_their_runs(outputs: Path) -> None:
    for name in ("pomrl_vs_adapomrl", "omrl_baselines"):
        names = versions(find("pomrl2023"), [name])
        files = {path.stem for outcome in draw_here(*names) for path in outcome.files}
        assert files == {file_stem(find("pomrl2023"), name) for name in names}
    assert source_runs(outputs, "pomrl_vs_adapomrl") == [REQUESTED_RUNS] * 2
    assert source_runs(outputs, "pomrl_vs_adapomrl_intervals") == [STORED["pomrl"]] * 2
    assert source_runs(outputs, "omrl_baselines") == [STORED["oracle"]] * 3


@pytest.mark.usefixtures("outputs")
def test_intervals_use_at_most_the_judged_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a picture would depend on what else is stored, and show up to 32,000 runs."""
    requests: list[int] = []
    monkeypatch.setattr(figures_of_study, "shared_runs", lambda settings: 32_000)
    monkeypatch.setattr(figures_of_study, "load_sweep", lambda settings, max_runs: requests.append(max_runs))
    for name in ("pomrl_vs_adapomrl", "pomrl_vs_adapomrl_intervals"):
        figures_of_study.load_sweeps(Selection(find("pomrl2023"), [name]), name)
    assert requests == [REQUESTED_RUNS, find("pomrl2023").config.runs]


@pytest.mark.parametrize(("missing", "expected"), [(0, [300, 150, 30]), (1, [29, 29, 29])])
def test_sweeps_with_all_runs_are_shown_whole(
    missing: int, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    max_runs_loaded: list[int] = []
    monkeypatch.setattr(Study, "settings", settings_of_study)
    monkeypatch.setattr(
        figures_of_study,
        "shared_runs",
        lambda settings: min(setting.experiment.request.runs for setting in settings) - missing,
    )
    monkeypatch.setattr(figures_of_study, "load_sweep", lambda settings, max_runs: max_runs_loaded.append(max_runs))
    figures_of_study.load_sweeps(Selection(find("board"), ["horizon"]), "horizon")
    assert max_runs_loaded == expected


@pytest.mark.usefixtures("outputs")
def test_sweeps_with_missing_runs_are_named() -> None:
    assert [outcome.missing_runs for outcome in draw_here("pomrl_vs_adapomrl")] == [{}]
    ((line,),) = [outcome.missing_runs.values() for outcome in draw_here("omrl_baselines")]
    assert line == "1 of 3 experiments has fewer than 2 runs (sigma=0.01, estimator=oracle has 1)"


def test_several_variants_are_drawn_by_one_call(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["dirichlet_task_dist", "pomrl_vs_adapomrl"]
    same, other = of_keys("same", {"sigma": 0.01}), of_keys("other", {"m": 6})  # which the sweep varies, and does not
    study = find("pomrl2023")
    selections = [Selection(study, names), Selection(study, names[1:], same), Selection(study, names[1:], other)]
    missing, missing_runs = draw_all(selections, shows_paths=True)
    assert (missing, list(missing_runs)) == (["pomrl_vs_adapomrl"], ["task_similarity"])
    output = capsys.readouterr()
    assert "pomrl_vs_adapomrl is not drawn: no stored runs of task_similarity" in output.err
    for suffix in ("pdf", "png", "csv"):
        file = f"figure_3_pomrl_vs_adapomrl.{suffix}"
        assert (outputs / file).read_bytes() == (outputs / "same" / file).read_bytes()
    sidecars = [Sidecar.read(folder / "figure_3_pomrl_vs_adapomrl.json") for folder in (outputs, outputs / "same")]
    assert [sidecar.variant for sidecar in sidecars] == ["repaired", "same"]
    assert [sidecar.command for sidecar in sidecars] == [
        "pomrl reproduce pomrl2023 figures --only pomrl_vs_adapomrl",
        "pomrl reproduce pomrl2023 figures --variants same --only pomrl_vs_adapomrl",
    ]
    folders = [path.parent.relative_to(outputs).as_posix() for path in map(Path, output.out.splitlines())]
    assert (sorted(set(folders)), len(folders)) == ([".", "same"], 3 * 4)
