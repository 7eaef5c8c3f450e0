"""What Hydra's documentation says works here too: its flags, folders, launchers, sweepers and callbacks.

The other promises that its users know are tested in their places: composition and golden files in
`tests/configuration`, one-line errors in `test_run` and `test_bad_inputs`, estimates in `tests/running`.
"""

import os
import shutil
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.support.computed import called, folders
from tests.support.settings import ROOT

import pomrl
from pomrl.commands import run
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.studies import shipped_studies

command = partial(called, run)
SMALL = ("T=2", "runs=3")

pytestmark = pytest.mark.usefixtures("cwd")


def hydra_folder(cwd: Path) -> Path:
    (folder,) = (cwd / "outputs" / "hydra").glob("*/*")
    return folder


def in_process(*arguments: str) -> list[str]:
    """Run `pomrl run` in a process of its own; return the lines of its output."""
    process = [sys.executable, "-m", "pomrl", "run", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    ended = subprocess.run(process, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def blocks(folders: list[str]) -> list[list[str]]:
    """Return the names of blocks, which are digests of their content."""
    return [sorted(path.name for path in Path(folder).glob("*.parquet")) for folder in folders]


def test_hydras_version_is_pinned_for_internals() -> None:
    assert version("hydra-core") == "1.3.8"
    users = [path for path in (ROOT / "src").rglob("*.py") if "hydra._internal" in path.read_text()]
    assert [path.name for path in users] == ["composition.py"]


class TestFilesOfHydra:
    def test_files_of_one_experiment_lie_beside_results(self, cwd: Path) -> None:
        _, lines, _ = command(*SMALL, "sigma=0.02")
        folder = hydra_folder(cwd)
        assert {path.name for path in (folder / ".hydra").iterdir()} == {"config.yaml", "overrides.yaml", "hydra.yaml"}
        assert yaml.safe_load((folder / ".hydra" / "config.yaml").read_text())["sigma"] == 0.02
        assert yaml.safe_load((folder / ".hydra" / "overrides.yaml").read_text()) == [*SMALL, "sigma=0.02"]
        assert "3 of 3 runs" in (folder / "run.log").read_text()
        jobs = pd.read_csv(folder / "jobs.csv")
        assert jobs.to_numpy().tolist() == [[0, Path(lines[-1]).name, "T=2 runs=3 sigma=0.02"]]

    def test_a_sweep_has_a_folder_per_job(self, cwd: Path) -> None:
        _, lines, _ = command("-m", *SMALL, "sigma=0.01,0.02")
        folder = hydra_folder(cwd)
        assert {path.name for path in folder.iterdir()} == {"multirun.yaml", "jobs.csv", "run.log", "0", "1"}
        assert yaml.safe_load((folder / "1" / ".hydra" / "config.yaml").read_text())["sigma"] == 0.02
        assert pd.read_csv(folder / "jobs.csv")["signature"].tolist() == [
            Path(folder).name for folder in folders(lines)
        ]

    def test_many_jobs_have_folders_on_request(self, cwd: Path) -> None:
        arguments = ("-m", "T=1", "runs=1", "seed=range(0,3)", "dry_run=true")
        command(*arguments, "hydra.launcher.job_folders=2")
        assert {path.name for path in hydra_folder(cwd).iterdir()} == {"multirun.yaml", "jobs.csv", "run.log"}
        assert len(pd.read_csv(hydra_folder(cwd) / "jobs.csv")) == 3

    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02")])
    def test_they_can_be_turned_off(self, arguments: tuple[str, ...], cwd: Path) -> None:
        command(*arguments, *SMALL, "hydra.output_subdir=null")
        assert {path.name for path in hydra_folder(cwd).rglob("*") if path.is_file()} <= {"run.log", "multirun.yaml"}

    def test_folders_have_the_requested_names(self, cwd: Path) -> None:
        command(*SMALL, "hydra.run.dir=one", "hydra.job.name=mine", "hydra.verbose=true")
        assert (cwd / "one" / ".hydra" / "config.yaml").exists()
        assert (cwd / "one" / "mine.log").exists()
        subdir = "hydra.sweep.subdir=${hydra.job.override_dirname}"
        command("-m", *SMALL, "sigma=0.01,0.02", "hydra.sweep.dir=many", subdir)
        assert (cwd / "many" / "T=2,runs=3,sigma=0.02" / ".hydra" / "hydra.yaml").exists()

    def test_results_stay_if_a_job_changes_folder(self, cwd: Path) -> None:
        _, lines, _ = command(*SMALL, "hydra.job.chdir=true")
        assert Path(lines[-1]).parent == cwd / "outputs" / "runs"
        assert command(*SMALL)[1][-1] == f"outputs/runs/{Path(lines[-1]).name}"


CALLBACK = "+hydra.callbacks.{0}._target_=hydra.experimental.callbacks.{0}"


class TestFlags:
    @pytest.mark.parametrize("arguments", [(), ("-m", "sigma=0.01,0.02")])
    def test_callbacks_are_called_and_jobs_rerun(self, arguments: tuple[str, ...], cwd: Path) -> None:
        status, lines, err = command(*arguments, *SMALL, CALLBACK.format("PickleJobInfoCallback"))
        assert status == 0, err
        pickles = sorted((cwd / "outputs" / "hydra").rglob("config.pickle"))
        assert len(pickles) == len(folders(lines))
        with pytest.warns(UserWarning, match="rerun"):
            _, rerun, _ = command("--experimental-rerun", str(pickles[-1]))
        assert folders(rerun) == lines[-1:]

    def test_primary_configuration_and_folder_can_be_named(self, cwd: Path) -> None:
        (cwd / "conf").mkdir()
        (cwd / "conf" / "mine.yaml").write_text("defaults: [config, _self_]\nsigma: 0.02\nT: 2\nruns: 3\n")
        _, lines, err = command("--config-dir", "conf", "-cn", "mine")
        assert lines == command(*SMALL, "sigma=0.02")[1], err
        sweep = command("-m", "--config-dir", "conf", "-cn", "mine", "sigma=0.02,0.03")[1]
        assert folders(sweep)[0] == lines[-1]
        folder = ROOT / "conf"
        assert command("-cp", str(folder), *SMALL, "sigma=0.02")[1] == lines

    def test_printing_a_configuration_runs_nothing(self, cwd: Path) -> None:
        assert yaml.safe_load("\n".join(command("--cfg", "job", "tag=x")[1]))["tag"] == "x"
        assert command("--cfg", "hydra", "-p", "hydra.launcher")[1][1:] == [
            "_target_: hydra_plugins.pomrl.launcher.JointLauncher",
            "job_folders: 200",
        ]
        assert any("studies/beyond/conf" in line for line in command("--info", "searchpath")[1])
        assert not (cwd / "outputs").exists()

    @pytest.mark.parametrize(
        "arguments", [("--info", "estimator=pomrl"), ("estimator=pomrl", "T=3", "-cn", "config", "--info"), ("-i",)]
    )
    def test_info_lists_options_sweeps_and_keys(self, arguments: tuple[str, ...]) -> None:
        status, lines, err = command(*arguments)
        assert status == 0, err
        listed = {line.partition(": ")[0]: line.partition(": ")[2].split(", ") for line in lines}
        assert {*listed["estimator"]} == {path.stem for path in PUBLISHED.options("estimator")}
        sweeps = {f"{study.name}/{name}" for study in shipped_studies() for name in study.sweeps}
        groups = [(key.partition("/")[2], names) for key, names in listed.items() if key.startswith("experiment/")]
        assert {f"{study}/{name}" for study, names in groups for name in names} == sweeps
        assert ("  similarity: known" in lines) is ("estimator=pomrl" in arguments)
        assert f"T: {3 if 'T=3' in arguments else 15}" in lines

    @pytest.mark.parametrize("arguments", [("--info", "config"), ("--info=config",), ("-i", "config", "T=3")])
    def test_an_info_with_a_word_is_hydras(self, arguments: tuple[str, ...]) -> None:
        status, lines, err = command(*arguments)
        assert status == 0, err
        assert "Config" in lines
        assert "Options of groups" not in "".join(lines)

    def test_tags_need_no_plus(self) -> None:
        command(*SMALL, "tag=one")
        command("-m", *SMALL, "+tag=two")
        assert pomrl.find()["tags"].tolist() == ["one, two"]


class TestSweeps:
    @pytest.mark.parametrize(
        ("axis", "values"),
        [
            ("sigma=0.01,0.02", [0.01, 0.02]),
            ("sigma=choice(0.01,0.02)", [0.01, 0.02]),
            ("m=range(2,5)", [2, 3, 4]),
            ("m=sort(4,2,3,reverse=true)", [4, 3, 2]),
            ("estimator=glob(*pomrl,exclude=ada*)", ["pomrl"]),
            ("T='${m}',3", [5, 3]),
        ],
    )
    def test_axes_are_those_of_hydras_grammar(self, axis: str, values: list[object], cwd: Path) -> None:
        status, lines, err = command("-m", axis, "runs=1", "dry_run=true")
        assert (status, len(lines)) == (0, len(values)), err
        configurations = sorted(hydra_folder(cwd).glob("*/.hydra/config.yaml"))
        key = axis.partition("=")[0]
        if key != "estimator":
            assert [yaml.safe_load(path.read_text())[key] for path in configurations] == values

    def test_each_published_sweep_has_its_own_axes(self) -> None:
        joint = command("-m", "experiment=theory,pomrl2023/gamma_0", "dry_run=true")[1]
        single = [command(f"experiment={name}", "dry_run=true")[1] for name in ("theory", "gamma_0")]
        assert joint == [*single[0], *single[1]]
        assert min(map(len, single)) > 1

    @pytest.mark.parametrize("by", [("--config-dir", "conf"), ("hydra.searchpath=[file://{here}/conf]",)])
    def test_a_sweep_of_ones_own_is_found(self, by: tuple[str, ...], cwd: Path) -> None:
        (cwd / "conf" / "experiment").mkdir(parents=True)
        text = "# @package _global_\nT: 2\nhydra: {mode: MULTIRUN, sweeper: {params: {sigma: '0.01,0.02'}}}\n"
        (cwd / "conf" / "experiment" / "mine.yaml").write_text(text)
        arguments = [argument.format(here=cwd) for argument in by]
        assert len(command(*arguments, "experiment=mine", "dry_run=true")[1]) == 2

    def test_hydras_own_sweeper_launches_the_same_jobs(self) -> None:
        arguments = ("-m", *SMALL, "sigma=0.01,0.02")
        assert command(*arguments, "hydra/sweeper=basic")[1] == command(*arguments)[1]


class TestLaunchers:
    @pytest.mark.parametrize(
        "launcher", ["basic", *(pytest.param(name, marks=pytest.mark.slow) for name in ("joblib", "submitit_local"))]
    )
    def test_others_store_the_same_bytes(self, launcher: str, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        arguments = ("-m", *SMALL, "sigma=0.01,0.02")
        folders = command(*arguments)[1]
        expected = blocks(folders)
        monkeypatch.setenv("POMRL_OUTPUTS", "other")
        in_process(*arguments, f"hydra/launcher={launcher}")
        assert blocks([folder.replace("outputs", "other") for folder in folders]) == expected
        assert len([*(cwd / "other" / "hydra").glob("*/*/[01]/.hydra/config.yaml")]) == 2

    def test_failures_in_other_launchers_are_one_line(self) -> None:
        status, _, err = command("-m", "sigma=0.01,-1", *SMALL, "hydra/launcher=basic")
        assert (status, err.splitlines()[-1]) == (1, "sigma=-1: Input should be greater than or equal to 0")
        assert "Traceback" not in err


@pytest.mark.slow
def test_optuna_finds_what_a_grid_finds(cwd: Path) -> None:
    arguments = ("-m", "T=3", "runs=20", "seed=7")
    grid = np.linspace(0.01, 1, 34).round(4).tolist()
    in_process(
        *arguments, "hydra/sweeper=optuna", "hydra.sweeper.n_trials=20", "hydra.sweeper.sampler.seed=1",
        "estimator.start_deviation=interval(0.01,1)",
    )  # fmt: skip
    actual = yaml.safe_load(next((cwd / "outputs" / "hydra").rglob("optimization_results.yaml")).read_text())
    losses = pomrl.sweep(T=3, runs=20, seed=7, estimator__start_deviation=grid)
    losses = losses[losses["gamma"] == 0.99]
    grid_means = losses.groupby("estimator.start_deviation", observed=True)["planning_loss"].mean()
    assert 0.01 <= actual["best_params"]["estimator.start_deviation"] <= 1
    assert actual["best_value"] <= grid_means.min() + 0.05 * (grid_means.max() - grid_means.min())


def test_a_copied_configuration_is_ours(cwd: Path) -> None:
    shutil.copytree(ROOT / "conf", cwd / "mine")
    (folder,) = in_process("-cp", str(cwd / "mine"), *SMALL, "reading=printed")[-1:]
    assert Path(folder).is_dir()
