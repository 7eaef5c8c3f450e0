"""Models of somebody else's in a file: they go from the file to results, and a bad file is refused in one line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
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


def test_the_file_of_the_example_is_what_the_example_writes() -> None:
    candidates = Table(file=str(FILE)).candidate_models()
    np.testing.assert_allclose(candidates.P, models()["P"], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(candidates.R[0], models()["R"])


def changed(name: str, index: tuple[int, ...], value: float) -> Callable[[], Arrays]:
    def arrays() -> Arrays:
        arrays = elevators()
        arrays[name][index] = value
        return arrays

    return arrays


BAD_ARRAYS = {
    "a row's sum": (changed("P", (2, 0, 1, 2), 0.9), r"the sum of the row P\[2, 0, 1\] = .* is not 1"),
    "a reward": (changed("R", (0, 2, 1, 2), np.nan), r"R\[0, 2, 1\] = nan is not finite"),
    "no rewards": (lambda: {"P": elevators()["P"]}, "it is no file of NumPy's format npz with the arrays P and R"),
    "a probability that is NaN": (changed("P", (1, 0, 1, 2), np.nan), r"P\[1, 0, 1, 2\] = nan is not a probability"),
    "the shape of R": (lambda: {"P": elevators()["P"], "R": np.ones((2, 3))}, r"R has to be .* and is \[2, 3\]"),
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_bad_arrays_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    arrays, message = BAD_ARRAYS[name]
    np.savez(tmp_path / "bad.npz", allow_pickle=False, **arrays())
    with pytest.raises(ValueError, match=rf"bad\.npz: {message}") as error:
        Table(file=str(tmp_path / "bad.npz")).candidate_models()
    assert "\n" not in str(error.value)
