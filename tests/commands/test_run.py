"""The whole command, as people use it: pomrl run."""

import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import called, folders

from pomrl.commands import run
from pomrl.commands.computing import mean_loss
from pomrl.configuration.sources import PUBLISHED
from pomrl.configuration.sweeps import experiment
from pomrl.science.stored_columns import SCHEMA

SMALL = ("T=3", "runs=4")

command = partial(called, run)

pytestmark = pytest.mark.usefixtures("cwd")


def stored_bytes(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("*.parquet"))}


def test_a_run_stores_its_table_once() -> None:
    status, lines, _ = command(*SMALL)
    table = pd.read_parquet(next(Path(lines[-1]).glob("runs-000000-000003-*.parquet")))
    assert status == 0
    assert lines[-1].startswith("outputs/runs/")
    assert {name: str(dtype) for name, dtype in table.dtypes.items()} == SCHEMA
    assert len(table) == 4 * 3 * 21
    assert (Path(lines[-1]) / "experiment.json").exists()
    log = (Path(lines[-1]) / "run.log").read_text()
    status, repeated, err = command(*SMALL)
    assert (status, repeated) == (0, lines)
    assert "1 of 1 experiment stored already" in err
    assert (Path(lines[-1]) / "run.log").read_text() == log


def test_outputs_below_the_home_folder_stay_there(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(cwd / "home"))
    monkeypatch.setenv("POMRL_OUTPUTS", "~/x")
    (cwd / "home").mkdir()
    status, _, err = command(*SMALL)
    assert status == 0, err
    assert [path.name for path in cwd.iterdir()] == ["home"]
    assert {"hydra", "runs"} <= {path.name for path in (cwd / "home" / "x").iterdir()}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name[0] != "."} if folder.exists() else set()


def test_extended_runs_have_the_same_bytes() -> None:
    command("T=2", "runs=3")
    _, lines, _ = command("T=2", "runs=205")
    extended = stored_bytes(lines[-1])
    assert (Path(lines[-1]) / "run.log").read_text().count("stored runs") == 3
    command("T=2", "runs=205", "force=true")
    assert stored_bytes(lines[-1]) == extended
    assert [name[:18] for name in extended] == ["runs-000000-000199", "runs-000200-000204"]


@pytest.mark.slow
def test_bytes_do_not_depend_on_workers() -> None:
    base = ("runs=60", "T=3", "estimator.scope=per_pair", "task_distribution.varying=0.3", "force=true")
    ways = [("workers=1", "runs_at_a_time=50"), ("workers=2",), ("runs_at_a_time=7",)]
    stored = []
    for way in ways:
        status, lines, _ = command(*base, *(f"execution.{key}" for key in way))
        assert status == 0
        stored.append(stored_bytes(lines[-1]))
    assert all(bytes_ == stored[0] != {} for bytes_ in stored)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("sigma=0.01",), "sigma: the largest variance of an entry over tasks"),
        (("reading=printed",), "sigma: the largest standard deviation of an entry over tasks"),
        (("-m", "reading=printed,repaired"), "sigma as std: the largest standard deviation of an entry"),
        (("task_distribution=forest", "sigma=null", "S=null", "A=null"), None),
    ],
)
def test_the_table_says_what_sigma_is(arguments: tuple[str, ...], line: str | None) -> None:
    _, _, err = command(*arguments, "T=2", "runs=2")
    assert line in err if line else "sigma: " not in err


BAD = {
    "+estimator.foo=1": ("estimator.foo=1", "estimator.prior"),
    "S=ten": ("S='ten'", "integer"),
    "sigma=0.25": ("sigma must be below 0.2", "got 0.25", "run 0"),
    "sigma=nan": ("sigma=nan", "finite"),
    "m=0": ("m=0", "greater than or equal to 1"),
    "gamma_schedule=fixed gamma_schedule.gamma=0.995": ("gamma_schedule.gamma must be at most gamma_eval=0.99",),
    "~estimator._target_": ("_target_",),
    "-m sigma=range(1,0)": ("sigma=range(1,0): an axis must have values",),
    "-m seed=range(0,1e12)": ("at most 100,000 values",),
    "runs=0": ("runs=0: ",),
    "gamma_schedule.gammas=[0.5,1.5,-1]": ("gamma_schedule.gammas[1]=1.5: Input should be less than or equal to 1\n",),
    "-m execution.workers=1,2": ("execution.workers must have one value in a sweep, got 1 and 2",),
    "-m force=false,true": ("force must have one value in a sweep",),
    "-m hydra.launcher._target_=mine.Launcher": ("mine.Launcher",),
    "-m --cfg job": ("only one of --multirun, --cfg",),
    "-m sigma=interval(0,1)": ("sigma=interval(0,1): an interval cannot be listed",),
    "gamma_eval=1": ("gamma_eval must be below 1", "never end"),
    "~sigma": ("sigma: a value is missing",),
    "hydra/launcher=job": ("hydra/launcher=job", "basic"),
    "hydra.foo=1": ("hydra.foo",),
    "estimator={}": ("estimator={}", "name of an option"),
    "estimator=best": ("ada_pomrl", "--config-dir"),
    "experiment=best": ("experiment=best", "task_similarity"),
    "estimator.prior=none": ("estimator.prior='none'", "'inclusive', 'exclusive', 'known', 'unsmoothed' or 'uniform'"),
    "estimator._target_=no.Such": ("estimator._target_=no.Such", "cannot be imported"),
    "planner=null": ("planner=null", "name of an option"),
    "execution.workers=0": ("execution.workers=0", "greater than or equal to 1"),
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input_is_one_line_without_results(cwd: Path, arguments: str) -> None:
    status, lines, err = command(*arguments.split())
    assert (status, lines) == (2 if "--cfg" in arguments else 1, [])
    assert len(err.splitlines()) == 1
    for text in BAD[arguments]:
        assert text in err
    assert names_in(cwd / "outputs") <= {"hydra"}


@pytest.mark.parametrize("axis", ["sigma=0.01,-1,0.02", "sigma=0.01,0.02,0.3"])
def test_one_bad_job_stops_the_sweep(cwd: Path, axis: str) -> None:
    status, lines, err = command("-m", *SMALL, axis)
    assert (status, lines) == (1, [])
    assert len(err.splitlines()) == 1
    assert names_in(cwd / "outputs") == {"hydra"}


def test_a_traceback_is_there_for_the_asking(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(ValueError, match="sigma=-1"):
        run.run(["sigma=-1"])


def test_a_sweep_over_runs_computes_the_most() -> None:
    status, lines, err = command("-m", "T=1", "runs=210,200")
    assert (status, len(set(folders(lines)))) == (0, 1)
    assert "210 of 210 runs" in err
    assert [name[:18] for name in stored_bytes(lines[-1])] == ["runs-000000-000199", "runs-000200-000209"]


def test_classes_of_another_kind_are_not_called(cwd: Path) -> None:
    for target in ("os.getcwd", "pomrl.science.planners.PolicyIteration", "pomrl.configuration.parsing.parse"):
        status, _, err = command(f"estimator._target_={target}")
        assert status == 1
        assert (
            err
            == f"estimator._target_ must be a subclass of pomrl.science.estimators.estimator.Estimator, got {target}\n"
        )
    assert names_in(cwd / "outputs") == {"hydra"}


def printed_rows(lines: list[str]) -> list[list[str]]:
    """Return the cells of the printed table, without its header."""
    return [line.split("\t") for line in lines if "\t" in line][1:]


def test_printed_means_use_the_requested_runs() -> None:
    first = printed_rows(command("T=2", "S=4", "runs=6")[1])
    command("T=2", "S=4", "runs=20")
    assert printed_rows(command("T=2", "S=4", "runs=6")[1]) == first
    assert first[0][0] == "6"


def test_jobs_with_other_runs_have_rows() -> None:
    assert [runs for runs, _ in printed_rows(command("-m", "T=2", "S=4", "runs=3,2")[1])] == ["3", "2"]


@pytest.mark.parametrize("schedule", ["grid", "best_fixed", "dong"])
def test_searches_minimise_the_printed_mean(schedule: str) -> None:
    settings = ["T=2", "S=4", "runs=5", "estimator=pomrl", f"gamma_schedule={schedule}"]
    (row,) = printed_rows(command(*settings)[1])
    minimised = mean_loss(experiment(PUBLISHED, settings), {})
    assert row[1].split()[0] == f"{minimised:.3f}"


def test_a_failed_experiment_leaves_the_others_printed() -> None:
    status, lines, err = command("-m", "T=2", "S=4", "runs=3", "estimator=pomrl,action_prior")
    assert (status, len(printed_rows(lines))) == (1, 1)
    assert [line.endswith(" (failed)") for line in folders(lines)] == [False, True]
    assert "failed: estimator=action_prior: ValueError" in err


def test_one_process_is_explained() -> None:
    assert re.search(r"^3 runs computed in one process: .+$", command("T=2", "S=4", "runs=3")[2], re.MULTILINE)
    assert "in 2 processes" in command("T=2", "S=4", "runs=401", "execution.workers=2")[2]
