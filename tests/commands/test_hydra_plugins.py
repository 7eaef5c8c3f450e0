"""The pages of the Optuna sweeper and of the joblib and submitit launchers apply here, word for word."""

import os
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
import yaml
from tests.support.computed import folders
from tests.support.hydra_sweeps import BASIC, SMALL, command, composed, experiment, files, succeed, without_time, write
from tests.support.settings import ROOT

pytestmark = pytest.mark.usefixtures("cwd", "quiet_root")

SEARCH = ("hydra/sweeper=optuna", "hydra.sweeper.n_trials=2", "hydra.sweeper.n_jobs=1", "hydra.sweeper.sampler.seed=1")
SEARCHED = "estimator.start_deviation=interval(0.1,1)"


@pytest.mark.filterwarnings("ignore")
class TestOptuna:
    def test_its_parameters_are_printed(self) -> None:
        printed = yaml.safe_load("\n".join(succeed("hydra/sweeper=optuna", "--cfg", "hydra", "-p", "hydra.sweeper")))
        assert printed["sampler"]["_target_"] == "optuna.samplers.TPESampler"
        assert {"direction", "storage", "study_name", "n_trials", "n_jobs", "max_failure_rate", "params"} <= {*printed}

    @pytest.mark.parametrize("how", [(), ("hydra/launcher=basic",), ("hydra/hydra_logging=default",)])
    def test_a_search_prints_trials_and_best_parameters(self, how: tuple[str, ...]) -> None:
        status, lines, err = command("-m", *SMALL, *SEARCH, SEARCHED, *how)
        assert status == 0, err
        output = "\n".join([*lines, err])
        for text in (
            "\t#0 : estimator.start_deviation=",
            "\t#1 : estimator.start_deviation=",
            "Best parameters: {",
            "Best value: ",
        ):
            assert output.count(text) == 1, text

    @pytest.mark.parametrize(
        ("arguments", "kinds"),
        [
            (("m=int(interval(2,5))", "sigma=tag(log,interval(0.01,0.1))"), (int, float)),
            (("m=range(2,5)", "sigma=choice(0.01,0.02)"), (int, float)),
            (("m=shuffle(range(2,5))", "estimator=choice(pomrl,ada_pomrl)"), (int, str)),
        ],
    )
    def test_search_spaces_are_as_documented(self, arguments: tuple[str, ...], kinds: tuple[type, type]) -> None:
        succeed("-m", *SMALL, *SEARCH, *arguments, "hydra.sweep.dir=sweep")
        actual = yaml.safe_load(Path("sweep/optimization_results.yaml").read_text())
        assert tuple(map(type, actual["best_params"].values())) == kinds
        assert isinstance(actual["best_value"], float)

    def test_an_invalid_trial_fails_alone(self) -> None:
        arguments = ("hydra.sweeper.n_trials=4", "hydra.sweeper.n_jobs=2", "hydra.sweeper.max_failure_rate=1.0")
        status, lines, err = command("-m", *SMALL, *SEARCH, *arguments, "seed=choice(1,-1)", "hydra.sweep.dir=sweep")
        assert status == 0, err
        assert folders(lines)
        best = yaml.safe_load(Path("sweep/optimization_results.yaml").read_text())
        assert best["best_params"] == {"seed": 1}

    def test_each_trial_has_a_numbered_folder(self) -> None:
        arguments = ("-m", *SMALL, *SEARCH, SEARCHED)
        succeed(*arguments, "hydra/launcher=basic", "hydra.sweep.dir=basic")
        succeed(*arguments, "hydra.sweep.dir=shipped")
        assert files("shipped") == files("basic")
        assert pd.read_csv("shipped/jobs.csv")["job"].tolist() == [0, 1]

    def test_files_choose_sweeper_and_space(self) -> None:
        settings = (
            "T: 2\nruns: 3\nS: 3\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    n_trials: 2\n"
            "    n_jobs: 1\n    params:\n      estimator.start_deviation: interval(0.1,1)\n"
        )
        for folder in ("experiment", "hparams_search"):
            arguments = experiment("/hydra/sweeper: optuna", settings, folder)
            succeed(*arguments, f"hydra.sweep.dir={folder}")
            actual = yaml.safe_load((Path(folder) / "optimization_results.yaml").read_text())
            assert [*actual["best_params"]] == ["estimator.start_deviation"]

    def test_a_function_adds_parameters(self) -> None:
        space = "hydra.sweeper.custom_search_space=tests.support.recorded.search_space"
        succeed("-m", *SMALL, *SEARCH, "m=choice(2,3)", space, "hydra.sweep.dir=sweep")
        actual = yaml.safe_load(Path("sweep/optimization_results.yaml").read_text())
        assert {*actual["best_params"]} == {"m", "estimator.start_deviation"}

    def test_a_stored_search_is_resumed(self) -> None:
        arguments = ("hydra.sweeper.storage=sqlite:///x.db", "hydra.sweeper.study_name=mine")
        for _ in range(2):
            succeed("-m", *SMALL, *SEARCH, SEARCHED, *arguments)
        connection = sqlite3.connect("x.db")
        assert connection.execute("select count(*) from trials").fetchone() == (4,)
        connection.close()


@pytest.mark.slow
class TestOtherLaunchers:
    """The launchers of plugins start processes; their pages show the log of Hydra."""

    @pytest.mark.parametrize(
        ("name", "key"), [("joblib", "n_jobs"), ("submitit_slurm", "partition"), ("submitit_local", "name")]
    )
    def test_their_parameters_are_printed(self, name: str, key: str) -> None:
        arguments = (f"hydra/launcher={name}", "--cfg", "hydra", "-p", "hydra.launcher")
        assert key in yaml.safe_load("\n".join(succeed(*arguments)))

    @pytest.mark.parametrize(
        ("name", "message"),
        [("joblib", "is launching 2 jobs"), ("submitit_local", "Submitit 'local' sweep output dir : sweep")],
    )
    @pytest.mark.filterwarnings("ignore")
    def test_their_configurations_equal_serial_ones(
        self, name: str, message: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "src", ROOT))))
        arguments = ("-m", *SMALL, "sigma=0.01,0.02")
        succeed(*arguments, *BASIC, "hydra.sweep.dir=basic")
        lines = succeed(*arguments, f"hydra/launcher={name}", "hydra.sweep.dir=sweep", "hydra/hydra_logging=default")
        assert any(message in line for line in lines)
        listed = [line for line in without_time(lines) if "#" in line]
        assert ["0.01" in line for line in listed] == [True, False]
        assert composed("sweep", "sigma") == composed("basic", "sigma") == [0.01, 0.02]
        jobs = pd.read_csv("sweep/jobs.csv").sort_values("job")
        assert jobs["job"].tolist() == [0, 1]
        assert jobs["overrides"].tolist() == [" ".join([*SMALL, f"sigma={sigma}"]) for sigma in (0.01, 0.02)]

    @pytest.mark.filterwarnings("ignore")
    def test_joblib_uses_at_most_all_cores(self, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = (
            "import os\nimport threading\nfrom pathlib import Path\nfrom pomrl.components import ModelEstimator\n\n"
            "class Recorded(ModelEstimator):\n    def estimate(self, memory, batch, truth):\n"
            "        if 'PYTHONHASHSEED' not in os.environ:  # not in the new process of a first use\n"
            f"            Path({str(cwd)!r}, f'{{os.getpid()}}-{{threading.get_ident()}}.seen').touch()\n"
            "        return batch.P_bar\n"
        )
        write(cwd / "recording.py", text)
        write(cwd / "own" / "estimator" / "mine.yaml", "_target_: recording.Recorded\n")
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
        arguments = ("-m", "--config-dir", "own", "T=2", "runs=6", "S=3", "estimator=mine", "hydra/launcher=joblib")
        succeed(*arguments, "seed=1,2,3,4")
        assert 1 <= len([*cwd.glob("*.seen")]) <= 2
        succeed(*arguments, "seed=5,6", "execution.workers=2")
        assert len([*cwd.glob("*.seen")]) > 2
