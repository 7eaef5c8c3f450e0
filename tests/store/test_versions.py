"""Versions in blocks: their bytes are equal for any request, they prove or refute blocks, and mixing is named."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import errno
import io
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.computed import call

from pomrl import store
from pomrl.commands import run, runs
from pomrl.store import StoredBlock, StoredExperiment, block_files, files
from pomrl.store.manifests import DESCRIPTION, decisive_versions

pytestmark = pytest.mark.usefixtures("empty_outputs")

RUN = ("S=4", "T=2", "task_distribution.zeros=1", "execution.workers=1")
OTHER_RELEASE = {**decisive_versions(), "numpy": "0.1.0"}


def stored(number: int) -> StoredExperiment:
    return StoredExperiment(Path(call(run, *RUN, f"runs={number}")[1].split()[-1]))


def contents(record: StoredExperiment) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in record.folder.glob("runs-*")}


def rewrite(record: StoredExperiment, versions: dict[str, str], factor: float = 1.0) -> None:
    """Let blocks be those of other versions, or of version 2.0.0 if there are none, with losses times a factor."""
    for block in record.files():
        table = pq.read_table(record.folder / block.name)
        metadata = {key: value for key, value in table.schema.metadata.items() if key != b"pomrl.versions"}
        metadata |= {b"pomrl.versions": ",".join(map("=".join, versions.items())).encode()} if versions else {}
        losses = np.multiply(table["planning_loss"].to_numpy(), factor)
        index = table.schema.get_field_index("planning_loss")
        table = table.set_column(index, "planning_loss", pa.array(losses)).replace_schema_metadata(metadata)
        pq.write_table(table, buffer := io.BytesIO(), compression="zstd")
        (record.folder / block.name).unlink()
        (record.folder / StoredBlock.from_content(block.runs, buffer.getvalue()).name).write_bytes(buffer.getvalue())


def test_blocks_name_versions_for_any_request() -> None:
    record = stored(450)
    whole = contents(record)
    assert all(block_files.versions(record.folder / block.name) == decisive_versions() for block in record.files())
    store.remove(record)
    for number in (3, 250, 450):
        assert stored(number) == record
    assert contents(record).items() >= {name: whole[name] for name in whole if name.endswith(".parquet")}.items()


def test_blocks_of_version_2_0_0_work() -> None:
    record = stored(3)
    rewrite(record, {})
    before = record.table()
    assert call(runs, "--recompute", "1")[0] == call(runs, "--verify")[0] == 0
    assert stored(5).table(3).equals(before)


@pytest.mark.parametrize(
    ("versions", "factor", "is_kept"),
    [
        (decisive_versions(), 2.0, True),
        ({}, 1.0, True),
        ({}, 2.0, False),
        ({**decisive_versions(), "numpy": decisive_versions()["numpy"] + "9"}, 1.0, True),
        ({**decisive_versions(), "numpy": decisive_versions()["numpy"] + "9"}, 2.0, False),
        (OTHER_RELEASE, 1.0, False),
    ],
    ids=["present", "unknown, same", "unknown, different", "patch, same", "patch, different", "another release"],
)
def test_undescribed_blocks_must_be_proven(versions: dict[str, str], factor: float, is_kept: bool) -> None:
    record = stored(250)
    sound = contents(record)
    rewrite(record, versions, factor)
    rewritten = contents(record)
    (record.folder / DESCRIPTION).unlink()
    status, _, err = call(run, *RUN, "runs=20")
    assert status == 0, err
    assert ("package versions" in err) is (versions != decisive_versions())
    assert contents(record) == (rewritten if is_kept else sound)
    assert call(runs, "--verify")[0] == 0


def test_blocks_of_different_versions_are_mended() -> None:
    record = stored(250)
    sound = contents(record)
    (first, _) = record.files()
    content = (record.folder / first.name).read_bytes()
    rewrite(record, OTHER_RELEASE)
    next(record.folder.glob("runs-000000-*.parquet")).unlink()
    (record.folder / first.name).write_bytes(content)
    numpy = decisive_versions()["numpy"]
    status, named, _ = call(runs, "--verify")
    assert (status, named.count("\n")) == (1, 1)
    assert f"runs were computed with other package versions (numpy 0.1.0, not {numpy})" in named
    assert call(run, *RUN, "runs=20")[0] == call(runs, "--verify")[0] == 0
    assert contents(record) == sound


@pytest.mark.parametrize("call_of_system", ["stat", "read"])
def test_unreadable_descriptions_change_nothing(call_of_system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = stored(3)
    before = {path: path.read_bytes() for path in record.folder.iterdir()}
    stat, content = os.stat, files.content

    def refuse(path: object) -> None:
        if str(path).endswith(DESCRIPTION):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    if call_of_system == "stat":
        monkeypatch.setattr(
            "pomrl.store.manifests.os.stat", lambda path, **keywords: refuse(path) or stat(path, **keywords)
        )
    else:
        monkeypatch.setattr(files, "content", lambda path: refuse(path) or content(path))
        os.utime(record.folder / DESCRIPTION)  # so that it is read again
    before = {path: path.read_bytes() for path in record.folder.iterdir()}
    for force in ("false", "true"):
        status, out, err = call(run, *RUN, "runs=5", f"force={force}")
        assert (status, out, err) == (1, "", f"{record.folder / DESCRIPTION}: Input/output error\n")
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in record.folder.iterdir()} == before
