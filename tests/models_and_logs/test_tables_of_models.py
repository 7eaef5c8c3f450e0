"""Models of somebody else's in a file: they go from the file to results, and a bad file is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from examples.models import FILE, models
from tests.support.computed import call

from pomrl import store
from pomrl.commands import run
from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.tasks.families.table import Table

Arrays = dict[str, np.ndarray]


def elevators() -> Arrays:
    """Two floors, and being stuck between them; tasks differ in how often the lift sticks. The stairs are safe."""
    stuck = np.array([0.1, 0.2, 0.5])
    P, R = np.zeros((3, 3, 2, 3)), np.zeros((3, 3, 2, 3))
    for floor in range(2):
        P[:, floor, 0, 1 - floor], P[:, floor, 0, 2], P[:, floor, 1, 1 - floor] = 1 - stuck, stuck, 1
        R[:, floor, 0, 1 - floor], R[:, floor, 0, 2], R[:, floor, 1, 1 - floor] = 100, -300, 50
    P[:, 2, :, 0] = 1
    return {"P": P, "R": R}


def rows(arrays: Arrays) -> pd.DataFrame:
    index = np.nonzero(arrays["P"])
    columns = dict(zip(("model", "state", "action", "next_state"), index, strict=True))
    return pd.DataFrame({**columns, "probability": arrays["P"][index], "reward": arrays["R"][index]})


def test_a_strangers_models_go_from_the_file_to_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    np.savez(tmp_path / "lift.npz", allow_pickle=False, **elevators())
    options = ["task_distribution=table", f"task_distribution.file={tmp_path / 'lift.npz'}", "T=3", "runs=4"]
    status, _, wrong = call(run, "-m", *options, "estimator=without_meta,exact_posterior,oracle")
    assert (status, wrong.count("Error")) == (0, 0), wrong
    experiment = sweeps.experiment(PUBLISHED, [*options, "estimator=exact_posterior"])
    assert (experiment.problem.S, experiment.problem.A) == (3, 2)
    table = store.load(experiment)
    assert (table["run"].nunique(), table["task"].nunique(), table["gamma"].nunique()) == (4, 3, 21)
    assert table["planning_loss"].between(0, 400 / 0.01).all()
    assert table["planning_loss"].max() > 1  # rewards are not in [0, 1]


def test_both_formats_give_the_same_models(tmp_path: Path) -> None:
    np.savez(tmp_path / "lift.npz", allow_pickle=False, **elevators())
    rows(elevators()).to_parquet(tmp_path / "lift.parquet")
    one, other = (Table(file=str(tmp_path / f"lift.{kind}")).candidate_models() for kind in ("npz", "parquet"))
    np.testing.assert_allclose(one.P, other.P, rtol=0, atol=1e-15)
    seen = one.P > 0
    np.testing.assert_array_equal(one.R[seen], other.R[seen])


def test_the_file_of_the_example_is_what_the_example_writes() -> None:
    candidates = Table(file=str(FILE)).candidate_models()
    np.testing.assert_allclose(candidates.P, models()["P"], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(candidates.R[0], models()["R"])


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    tasks = elevators()
    np.savez(tmp_path / "lift.npz", allow_pickle=False, **tasks)
    before = Table(file=str(tmp_path / "lift.npz")).candidate_models()
    np.savez(tmp_path / "lift.npz", P=tasks["P"][:1], R=tasks["R"][:1])
    after = Table(file=str(tmp_path / "lift.npz")).candidate_models()
    assert (len(before.P), len(after.P)) == (3, 1)


def changed(name: str, index: tuple[int, ...], value: float) -> Callable[[], Arrays]:
    def arrays() -> Arrays:
        arrays = elevators()
        arrays[name][index] = value
        return arrays

    return arrays


BAD_ARRAYS = {
    "a row's sum": (changed("P", (2, 0, 1, 2), 0.9), r"the sum of the row P\[2, 0, 1\] = .* is not 1"),
    "a reward": (changed("R", (0, 2, 1, 2), np.nan), r"R\[0, 2, 1\] = nan is not finite"),
    "no rewards": (lambda: {"P": elevators()["P"]}, "the array R is missing; it has P"),
    "the shape of P": (lambda: {"P": np.ones((3, 2)), "R": np.ones(3)}, r"P has to be \[k, S, A, S\] .*is \[3, 2\]"),
    "a probability that is NaN": (changed("P", (1, 0, 1, 2), np.nan), r"P\[1, 0, 1, 2\] = nan is not a probability"),
    "the shape of R": (lambda: {"P": elevators()["P"], "R": np.ones((2, 3))}, r"R has to be .* and is \[2, 3\]"),
    "complex rewards": (lambda: elevators() | {"R": elevators()["R"] + 0j}, "R has the dtype complex128"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    arrays, message = BAD_ARRAYS[name]
    np.savez(tmp_path / "bad.npz", allow_pickle=False, **arrays())
    with pytest.raises(ValueError, match=rf"bad\.npz: {message}") as error:
        Table(file=str(tmp_path / "bad.npz")).candidate_models()
    assert "\n" not in str(error.value)


def test_rewards_of_all_models_and_of_other_kinds_become_doubles_of_each(tmp_path: Path) -> None:
    table = rows(elevators()).assign(reward=lambda table: (table["state"] > 0).astype("bool"))
    table.to_parquet(tmp_path / "models.parquet")
    of_pairs = np.arange(6).reshape(3, 2).astype("int8")
    np.savez(tmp_path / "lift.NPZ.npz", allow_pickle=False, P=elevators()["P"], R=of_pairs)
    (tmp_path / "lift.NPZ.npz").rename(tmp_path / "lift.NPZ")
    of_rows, of_arrays = (Table(file=str(tmp_path / end)).candidate_models() for end in ("models.parquet", "lift.NPZ"))
    assert of_rows.R.dtype == of_arrays.R.dtype == np.float64
    assert (of_rows.R[:, 1:][of_rows.P[:, 1:] > 0] == 1.0).all()
    np.testing.assert_array_equal(of_arrays.R, np.broadcast_to(of_pairs, (3, 3, 2)))


BAD_ROWS = {
    "rewards that are texts": (lambda table: table.assign(reward="1"), "reward has the dtype"),
    "a column": (lambda table: table.drop(columns="reward"), "the column reward is missing"),
    "twice": (
        lambda table: pd.concat([table, table[3:4]], ignore_index=True),
        "row 24: this transition is there twice",
    ),
    "no rows": (lambda table: table[:0], "it has no rows"),
    "a negative index": (lambda table: table.assign(action=table["action"] - 1), "row 0: action=-1 is negative"),
    "words": (lambda table: table.assign(state="up"), "the column state has to be integers"),
    "a missing pair": (
        lambda table: table.query("state != 1 or action != 0"),
        r"the sum of the row P\[0, 1, 0\] = 0.0 is not 1",
    ),
    "models from 1 on": (lambda table: table.assign(model=table["model"] + 1), "there is no row for model 0"),
    "a huge index": (
        lambda table: table.assign(next_state=table["next_state"].replace(2, 10**9)),
        "row 1: next_state=1000000000: .* GiB",
    ),
    "an index that is missing": (
        lambda table: table.assign(state=table["state"].astype("Int64").where(table.index != 4)),
        "row 4: state is missing",
    ),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    change, message = BAD_ROWS[name]
    change(rows(elevators())).to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=rf"bad\.parquet: {message}"):
        Table(file=str(tmp_path / "bad.parquet")).candidate_models()


@pytest.mark.parametrize("name", ["bad.npz", "bad.parquet", "bad.txt"])
def test_files_that_are_none_are_refused_by_the_command(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("no models")
    status, _, wrong = call(run, "task_distribution=table", f"task_distribution.file={tmp_path / name}", "runs=1")
    assert (status, wrong.count("\n")) == (1, 1)
    assert f"{name}: " in wrong
