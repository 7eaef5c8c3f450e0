"""Tags and notes: labels of experiments that no signature and no number depends on."""

import json
from pathlib import Path

import pytest
from tests.support.computed import call

import pomrl
from pomrl import store
from pomrl.commands import run, runs

SMALL = ("T=1", "S=4", "runs=1")


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))


def test_labels_collect_on_what_is_stored_and_change_neither_signature_nor_bytes(tmp_path: Path) -> None:
    _, plain, _ = call(run, *SMALL)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    _, labelled, _ = call(run, *SMALL, "+tag=first", "+note='a remark, with a comma'")
    call(run, *SMALL, "+tag=2")
    assert labelled == plain
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
    (row,) = json.loads(call(runs, "tag=first", "--format", "json")[1])
    assert (row["tags"], row["notes"]) == (["first", "2"], ["a remark, with a comma"])
    assert call(runs, "--verify")[0] == 0
    assert call(runs, "tag=third")[0] == 1


def test_a_sweep_is_found_by_its_tag() -> None:
    pomrl.run(T=1, S=4, runs=1, seed=5)
    pomrl.sweep(sigma=[0.01, 0.02], T=1, S=4, runs=1, tag="mine")
    assert {each.settings()["sigma"] for each in store.find(tag="mine")} == {0.01, 0.02}
    assert len(pomrl.table(tag="mine")) == 2
    with pytest.raises(store.StoreError, match="has tag=yours"):
        pomrl.find(tag="yours")
