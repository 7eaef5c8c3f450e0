"""Simulations: computed once, stored, checked when they are read, and computed again where anything has changed."""

import pandas as pd
import pytest
from tests.support.sample_simulation import noise

from pomrl.results.sweep_results import simulation_origin
from pomrl.running.work import store_simulations
from pomrl.store import StoreError
from pomrl.store.derived import Simulation

SAMPLE = Simulation(noise, {"sequences": 5})

pytestmark = pytest.mark.usefixtures("empty_outputs")


def announced(simulation: Simulation = SAMPLE) -> list[str]:
    lines: list[str] = []
    store_simulations([simulation], lines.append)
    return lines


def test_missing_simulations_are_computed_once():
    with pytest.raises(StoreError, match=r"noise is missing or damaged; run pomrl reproduce"):
        SAMPLE.load()
    assert announced() == ["simulating noise"]
    assert announced() == []
    pd.testing.assert_frame_equal(SAMPLE.load(), noise(sequences=5), check_exact=True)
    source = simulation_origin(SAMPLE)
    assert (source.signature, source.runs) == (SAMPLE.signature, 5)


@pytest.mark.parametrize("name", ["table.parquet", "table.json"])
@pytest.mark.parametrize("content", [None, b"{}", b"\xff"])
def test_damaged_simulations_are_computed_again(name: str, content: bytes | None):
    announced()
    path = SAMPLE.files.sidecar.with_name(name)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=r"noise|table"):
        SAMPLE.load()
    assert announced()
    assert SAMPLE.is_stored


def test_signatures_cover_parameters_and_code(monkeypatch: pytest.MonkeyPatch):
    assert Simulation(noise, {"sequences": 5, "scale": 1.0}).signature == SAMPLE.signature
    assert Simulation(noise, {"sequences": 6}).signature != SAMPLE.signature
    before = SAMPLE.signature
    monkeypatch.setattr("pomrl.store.derived.module_digest", lambda modules: f"another of {modules}")
    assert SAMPLE.signature != before
