"""The data files that a component declares are part of its signature."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from tests.support.computed import call

from pomrl import store
from pomrl.commands import run
from pomrl.configuration import sweeps
from pomrl.configuration.composed import ConfigError
from pomrl.configuration.sources import PUBLISHED
from pomrl.store import code_digest

FROM_FILE = """
import numpy as np

from pomrl.components import DataFile, GammaSchedule, TaskState


class FromFile(GammaSchedule):
    path: DataFile

    def select(self, state: TaskState) -> np.ndarray:
        gamma = np.loadtxt(self.path, ndmin=1)[state.t - 1]
        return np.full((len(state.alpha), 1), gamma)
"""


@pytest.fixture
def folder(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which commands run, whose modules Python finds."""
    monkeypatch.syspath_prepend(str(cwd))
    return cwd


def signature(*overrides: str) -> str:
    """The signature of an experiment, as a new process would find it."""
    code_digest.module_digest.cache_clear()
    importlib.invalidate_caches()
    return store.signature(sweeps.experiment(PUBLISHED, ["gamma_schedule=fixed", *overrides]))


def with_data(path: str) -> tuple[str, ...]:
    return ("gamma_schedule._target_=mine.FromFile", "~gamma_schedule.gamma", f"+gamma_schedule.path={path}", "T=2")


def test_contents_of_data_files_are_signed(folder: Path) -> None:
    (folder / "mine.py").write_text(FROM_FILE)
    (folder / "data.txt").write_text("0.5\n0.9\n")
    (folder / "copy.txt").write_text("0.5\n0.9\n")
    before = signature(*with_data("data.txt"))
    assert signature(*with_data("copy.txt")) == signature(*with_data(str(folder / "data.txt"))) == before
    (folder / "data.txt").write_text("0.5\n0.95\n")
    assert signature(*with_data("data.txt")) != before


def test_experiments_with_data_files_are_stored(folder: Path) -> None:
    (folder / "mine.py").write_text(FROM_FILE)
    (folder / "data.txt").write_text("0.5\n0.9\n")
    arguments = ("gamma_schedule=fixed", *with_data("data.txt"), "runs=2")
    assert call(run, *arguments)[0] == 0
    (stored,) = store.all_experiments()
    assert np.unique(stored.columns(["gamma"])["gamma"]).tolist() == [0.5, 0.9]
    assert stored.faults() == []
    assert "1 of 1 experiment stored already" in call(run, *arguments)[2]


def test_a_missing_data_file_is_one_line(folder: Path) -> None:
    (folder / "mine.py").write_text(FROM_FILE)
    status, _, err = call(run, "gamma_schedule=fixed", *with_data("nowhere.txt"))
    assert (status, err.count("\n")) == (1, 1)
    assert f"gamma_schedule.path='nowhere.txt': must be an existing file, got {folder}/nowhere.txt" in err


@pytest.mark.parametrize(("value", "got"), [("print", "<built-in"), ("float('inf')", "inf")])
def test_unsigned_fields_are_one_line(value: str, got: str, folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from typing import Any\nfrom pomrl.science.gamma_schedules import Fixed\n"
        f"class Mine(Fixed):\n    what: Any = {value}\n"
    )
    with pytest.raises(ConfigError, match=rf"gamma_schedule\.what must be a JSON value .* got {got}"):
        signature("gamma_schedule._target_=mine.Mine")
