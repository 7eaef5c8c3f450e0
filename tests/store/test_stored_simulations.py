"""Simulations: computed once, stored, checked when they are read, and computed again where anything has changed."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.support.sample_simulation import noise
from tests.support.settings import ROOT

from pomrl.configuration.study import shipped
from pomrl.drawing.figure import figures_of
from pomrl.judging.claims_of_study import claims_of
from pomrl.results.stored_sweeps import stored_simulation
from pomrl.running.missing_simulations import compute_missing
from pomrl.store import StoreError, stored_simulations
from pomrl.store.code_digest import closure_digest
from pomrl.theory.simulations import SIMULATIONS, Simulation

SAMPLE = Simulation("noise", noise, {"sequences": 5})


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    return tmp_path / "simulations"


def folder(simulation: Simulation = SAMPLE) -> Path:
    return stored_simulations.stored(simulation).sidecar.parent


def test_what_is_missing_is_computed_once_and_announced():
    lines: list[str] = []
    assert compute_missing([SAMPLE], lines.append) == ["noise"]
    assert lines == ["simulating noise"]
    assert compute_missing([SAMPLE], lines.append) == []
    assert len(lines) == 1
    pd.testing.assert_frame_equal(stored_simulations.load(SAMPLE), SAMPLE.table(), check_exact=True)


def test_a_missing_table_is_named_with_the_commands_that_compute_it():
    with pytest.raises(StoreError, match=r"noise is not stored; pomrl figures and pomrl claims"):
        stored_simulations.load(SAMPLE)


@pytest.mark.parametrize("name", ["table.parquet", "table.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"\xff"])
def test_what_is_damaged_is_refused_and_computed_again(name: str, content: bytes | None):
    compute_missing([SAMPLE])
    if content is None:
        (folder() / name).unlink()
    else:
        (folder() / name).write_bytes(content)
    with pytest.raises(StoreError, match=r"noise|table"):
        stored_simulations.load(SAMPLE)
    assert compute_missing([SAMPLE]) == ["noise"]
    assert stored_simulations.fault(SAMPLE) is None


def test_a_table_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="no space left"):
        compute_missing([SAMPLE])
    assert list(folder().iterdir()) == []


def test_the_signature_is_of_the_parameters_and_the_code_that_is_run_through(monkeypatch: pytest.MonkeyPatch):
    same = Simulation("noise", noise, {"sequences": 5, "scale": 1.0})
    assert stored_simulations.signature(same) == stored_simulations.signature(SAMPLE)
    others = [Simulation("noise", noise, {"sequences": 6}), Simulation("other", noise, {"sequences": 5})]
    assert len({stored_simulations.signature(each) for each in (SAMPLE, *others)}) == 3
    before = stored_simulations.signature(SAMPLE)
    monkeypatch.setattr(stored_simulations, "closure_digest", lambda modules: f"another of {modules}")
    assert stored_simulations.signature(SAMPLE) != before


def test_the_digest_of_modules_covers_the_code_of_what_they_import(tmp_path: Path):
    """A changed bound changes the digest of the module that imports it; a new comment changes no digest."""
    shutil.copytree(ROOT / "src" / "pomrl", tmp_path / "pomrl", ignore=shutil.ignore_patterns("__pycache__"))
    with (
        (tmp_path / "pomrl/theory/bounds.py").open("a") as bounds,
        (tmp_path / "pomrl/science/estimators/estimator.py").open("a") as own,
    ):
        bounds.write("CHANGED = True\n")
        own.write("# a comment\n")
    modules = ["pomrl.theory.coverage", "pomrl.theory.squared_error"]
    code = f"from pomrl.store.code_digest import closure_digest; print(*(closure_digest((m,)) for m in {modules}))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    here = [closure_digest((module,)) for module in modules]
    assert [mine == theirs for mine, theirs in zip(here, said.split(), strict=True)] == [False, True]


def test_figures_get_a_simulation_in_the_form_of_a_sweep():
    compute_missing([SAMPLE])
    stored = stored_simulation(SAMPLE)
    np.testing.assert_array_equal(stored.table, SAMPLE.table())
    assert (stored.promised, stored.lacking) == (None, None)
    (source,) = stored.sources
    assert (source.signature, source.runs) == (folder().name, 5)


def test_what_figures_and_claims_ask_for_is_there_by_its_name():
    assert all(name == simulation.name for name, simulation in SIMULATIONS.items())
    of_figures = {name for study in shipped() for figure in figures_of(study) for name in figure.simulations}
    of_claims = {claim.simulation for study in shipped() for claim in claims_of(study)} - {None}
    assert set() < of_claims <= of_figures | of_claims <= set(SIMULATIONS)
