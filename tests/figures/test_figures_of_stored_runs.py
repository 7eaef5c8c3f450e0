"""The runs of stored experiments that the command puts into figures."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pomrl.commands import figures, run
from pomrl.configuration import studies
from pomrl.configuration.sources import PUBLISHED, Sources
from pomrl.configuration.sweeps import Setting
from pomrl.figures import versions
from pomrl.drawing.files import Sidecar, save

STORED = {"pomrl": 3, "ada_pomrl": 4, "oracle": 1, "without_meta": 4}
"""Numbers of runs that are stored at the smallest sigma, by estimator."""

PROMISED = 2


def promising_two(sources: Sources, name: str) -> list[Setting]:
    """Return the experiments of a published sweep as if it promised two runs."""
    settings = studies_sweep(sources, name)
    requests = [replace(setting.experiment.request, runs=PROMISED) for setting in settings]
    return [
        replace(setting, experiment=replace(setting.experiment, request=request))
        for setting, request in zip(settings, requests, strict=True)
    ]


studies_sweep = studies.sweep


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outputs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(folder))
        for estimator, runs in STORED.items():
            arguments = ["run", "experiment=task_similarity", "sigma=0.01", f"estimator={estimator}", f"runs={runs}"]
            patch.setattr(sys, "argv", arguments)
            with pytest.raises(SystemExit) as end:
                run.main()
            assert end.value.code == 0
        patch.setattr(studies, "sweep", promising_two)
        yield folder


def runs_of(folder: Path, name: str) -> list[int]:
    """Return the number of runs of each experiment that a figure shows, after checking that its table has the same."""
    runs = [source.runs for source in Sidecar.read(folder / f"{name}.json").sweeps["task_similarity"]]
    assert set(pd.read_csv(folder / f"{name}.csv")["n"]) == set(runs)
    return runs


def test_a_figure_shows_the_runs_that_all_its_curves_share(outputs: Path, tmp_path: Path) -> None:
    for name in ("pomrl_vs_adapomrl", "omrl_baselines"):
        names = versions(name)  # so few that this process draws them, in which sweeps promise two runs
        assert figures.draw(names, tmp_path, save)[0] == set(names)
    assert runs_of(tmp_path, "pomrl_vs_adapomrl") == [PROMISED] * 2
    assert runs_of(tmp_path, "pomrl_vs_adapomrl_intervals") == [STORED["pomrl"]] * 2
    assert runs_of(tmp_path, "omrl_baselines") == [STORED["oracle"]] * 3
    assert runs_of(tmp_path, "omrl_baselines_intervals") == [STORED["oracle"]] * 3


@pytest.mark.usefixtures("outputs")
def test_sweeps_that_lack_runs_of_what_a_figure_shows_are_named(tmp_path: Path) -> None:
    assert figures.draw(["pomrl_vs_adapomrl"], tmp_path, save)[1] == {}
    (line,) = figures.draw(["omrl_baselines"], tmp_path, save)[1].values()
    assert line == "1 of 3 settings have fewer than 2 runs (sigma=0.01, estimator=oracle has 1)"


@pytest.mark.usefixtures("outputs")
def test_several_selections_are_drawn_by_one_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    names = ["dirichlet_task_dist", "pomrl_vs_adapomrl"]
    selections = [figures.Selection(names, one), figures.Selection([*names[1:], "gaussian_tasks"], other, PUBLISHED)]
    outcomes = figures.draw_all(selections, save)
    assert [outcome.drawn for outcome in outcomes] == [set(names), set(names[1:])]
    assert [outcome.problems for outcome in outcomes] == [
        [],
        ["gaussian_tasks is not drawn: nothing is stored of gaussian_tasks"],
    ]
    for suffix in ("pdf", "png", "csv"):
        file = f"pomrl_vs_adapomrl.{suffix}"
        assert (one / file).read_bytes() == (other / file).read_bytes()
    assert set(capsys.readouterr().out.splitlines()) == {str(path) for each in outcomes for path in each.files}
