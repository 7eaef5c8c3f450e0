"""Tags and notes: labels of experiments that no signature and no number depends on."""

import io
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call

from pomrl.commands import run, runs

SMALL = ("T=1", "S=4", "runs=1")


def test_labels_collect_on_what_is_stored_and_change_neither_signature_nor_bytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    _, plain, _ = call(run, *SMALL)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    _, labelled, _ = call(run, *SMALL, "+tag=first", "+note='a remark, with a comma'")
    for tag in (2, "first"):
        call(run, *SMALL, f"+tag={tag}")
    assert labelled == plain
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
    (row,) = pd.read_csv(io.StringIO(call(runs, "tag=first", "--format", "csv")[1])).to_dict("records")
    assert (row["tags"], row["notes"]) == ("first, 2", "a remark, with a comma")
    assert call(runs, "--verify")[0] == 0
    assert call(runs, "tag=third")[0] == 1
