"""Blocks are grouped into dispatches, and workers are asked for the versions that they must have."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.settings import CONF

from pomrl import store
from pomrl.configuration.sources import Sources
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.execution import ExecutionError, Local
from pomrl.running import dispatches, sweeps, versions
from pomrl.running.blocks import Block
from pomrl.running.dispatches import MOST_BLOCKS, SECONDS, group
from pomrl.running.ensuring import checked_jobs
from pomrl.science.solvers import compiled


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))


def blocks(*overrides: str) -> list[Block]:
    experiment = experiment_of(Sources(CONF), list(overrides))
    return sweeps.divide(checked_jobs([experiment]))


@pytest.mark.parametrize("capacity", [1, 2, 100])
@pytest.mark.parametrize("overrides", [("runs=2000", "T=2"), ("runs=500", "T=60", "S=20"), ("runs=10",)])
def test_each_block_is_in_one_dispatch_of_about_a_second(overrides: tuple[str, ...], capacity: int) -> None:
    work = blocks(*overrides)
    grouped = group(work, capacity)
    assert [block for dispatch in grouped for block in dispatch] == work
    for dispatch in grouped:
        assert 1 <= len(dispatch) <= MOST_BLOCKS
        assert sum(block.seconds for block in dispatch[:-1]) < SECONDS
    if len(work) >= 4 * capacity * MOST_BLOCKS and work[0].seconds * MOST_BLOCKS < SECONDS:
        assert len(grouped[0]) == MOST_BLOCKS
    assert len(grouped) >= min(len(work), 4 * capacity)


@pytest.mark.slow
def test_bytes_do_not_depend_on_how_blocks_are_grouped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stored = []
    for most in (1, 5, 12):
        monkeypatch.setattr(dispatches, "MOST_BLOCKS", most)
        monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / str(most)))
        asked = experiment_of(Sources(CONF), ["runs=1230", "T=1", "S=3", "execution.workers=1"])
        seen: list[sweeps.Tally] = []
        assert sweeps.compute(checked_jobs([asked]), seen.append) == {}
        assert [each.done for each in seen] == list(range(1, 26))
        stored.append({path.name: path.read_bytes() for path in store.lookup(asked).folder.glob("*.parquet")})
    assert len(stored[0]) == 25
    assert stored[0] == stored[1] == stored[2]


def test_a_dispatch_is_listed_under_one_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[int] = []
    real = store.add_blocks

    def counted(stored: store.StoredExperiment, tables: list, *, replace: bool) -> None:
        listed.append(len(tables))
        real(stored, tables, replace=replace)

    monkeypatch.setattr(store, "add_blocks", counted)
    asked = experiment_of(Sources(CONF), ["runs=1200", "T=1", "S=3"])

    asked = replace(asked, execution=Local(workers=1))
    assert sweeps.compute(checked_jobs([asked]), lambda _: None) == {}
    assert listed == [6, 6, 6, 6]


def test_a_worker_without_the_engine_that_is_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = {**versions.versions((), "compiled"), "execution.engine": "compiled"}
    monkeypatch.setattr(compiled, "is_built", lambda: False)
    versions.versions.cache_clear()
    with pytest.raises(ExecutionError, match=r"execution\.engine numpy there and compiled here"):
        versions.require(wanted, (), "compiled")
    versions.require(versions.versions((), "auto"), (), "auto")
    versions.versions.cache_clear()
