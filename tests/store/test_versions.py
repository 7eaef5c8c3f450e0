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


def contents(kept: StoredExperiment) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in kept.folder.glob("runs-*")}


def rewrite(kept: StoredExperiment, versions: dict[str, str], factor: float = 1.0) -> None:
    """Let blocks be those of other versions, or of version 2.0.0 if there are none, with losses times a factor."""
    for block in kept.files():
        table = pq.read_table(kept.folder / block.name)
        metadata = {key: value for key, value in table.schema.metadata.items() if key != b"pomrl.versions"}
        metadata |= {b"pomrl.versions": ",".join(map("=".join, versions.items())).encode()} if versions else {}
        losses = np.multiply(table["planning_loss"].to_numpy(), factor)
        index = table.schema.get_field_index("planning_loss")
        table = table.set_column(index, "planning_loss", pa.array(losses)).replace_schema_metadata(metadata)
        pq.write_table(table, buffer := io.BytesIO(), compression="zstd")
        (kept.folder / block.name).unlink()
        (kept.folder / StoredBlock.from_content(block.runs, buffer.getvalue()).name).write_bytes(buffer.getvalue())


def test_blocks_name_versions_and_are_equal_for_any_request() -> None:
    kept = stored(450)
    whole = contents(kept)
    assert all(block_files.versions(kept.folder / block.name) == decisive_versions() for block in kept.files())
    store.remove(kept)
    for number in (3, 250, 450):
        assert stored(number) == kept
    assert contents(kept).items() >= {name: whole[name] for name in whole if name.endswith(".parquet")}.items()


def test_blocks_of_version_2_0_0_are_read_continued_and_reproduced() -> None:
    kept = stored(3)
    rewrite(kept, {})
    before = kept.table()
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
def test_blocks_without_description_are_kept_only_if_proven(
    versions: dict[str, str], factor: float, is_kept: bool
) -> None:
    kept = stored(250)
    sound = contents(kept)
    rewrite(kept, versions, factor)
    rewritten = contents(kept)
    (kept.folder / DESCRIPTION).unlink()
    status, _, err = call(run, *RUN, "runs=20")
    assert status == 0, err
    assert ("package versions" in err) is (versions != decisive_versions())
    assert contents(kept) == (rewritten if is_kept else sound)
    assert call(runs, "--verify")[0] == 0


def test_blocks_of_different_versions_are_named_and_mended() -> None:
    kept = stored(250)
    sound = contents(kept)
    (first, _) = kept.files()
    content = (kept.folder / first.name).read_bytes()
    rewrite(kept, OTHER_RELEASE)
    next(kept.folder.glob("runs-000000-*.parquet")).unlink()
    (kept.folder / first.name).write_bytes(content)
    numpy = decisive_versions()["numpy"]
    status, named, _ = call(runs, "--verify")
    assert (status, named.count("\n")) == (1, 1)
    assert f"runs were computed with other package versions (numpy 0.1.0, not {numpy})" in named
    assert call(run, *RUN, "runs=20")[0] == call(runs, "--verify")[0] == 0
    assert contents(kept) == sound


@pytest.mark.parametrize("call_of_system", ["stat", "read"])
def test_an_unreadable_description_ends_run_and_changes_nothing(
    call_of_system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = stored(3)
    before = {path: path.read_bytes() for path in kept.folder.iterdir()}
    stat, content = os.stat, files.content

    def refuse(path: object) -> None:
        if str(path).endswith(DESCRIPTION):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    if call_of_system == "stat":
        monkeypatch.setattr("pomrl.store.manifests.os.stat", lambda path, **words: refuse(path) or stat(path, **words))
    else:
        monkeypatch.setattr(files, "content", lambda path: refuse(path) or content(path))
        os.utime(kept.folder / DESCRIPTION)  # so that it is read again
    before = {path: path.read_bytes() for path in kept.folder.iterdir()}
    for force in ("false", "true"):
        status, out, err = call(run, *RUN, "runs=5", f"force={force}")
        assert (status, out, err) == (1, "", f"{kept.folder / DESCRIPTION}: Input/output error\n")
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in kept.folder.iterdir()} == before
