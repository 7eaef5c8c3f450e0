"""The store: what it keeps, what it adds, and what it reads."""

import errno
import fcntl
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from tests.support.sample_experiment import GAMMAS, WHOLE, experiment, stored, table

from pomrl import store
from pomrl.configuration.parsing import Request
from pomrl.execution import Isolation, Local
from pomrl.running import sweeps
from pomrl.running.ensuring import checked_jobs
from pomrl.science.gamma_schedules import Hindsight
from pomrl.science.loss_tables import SCHEMA
from pomrl.store import blocks, files
from pomrl.store.provenance import DECISIVE, decisive_versions

pytestmark = pytest.mark.usefixtures("empty_outputs")


def test_what_is_stored_is_what_is_read() -> None:
    stored(range(10))
    pd.testing.assert_frame_equal(store.load(experiment()), table(range(10)))
    pd.testing.assert_frame_equal(store.load(experiment(), runs=4), table(range(4)))
    pd.testing.assert_frame_equal(store.load(store.signature(experiment())[:6]), table(range(10)))


def test_a_block_is_completed_and_its_bytes_are_those_of_a_whole_one() -> None:
    whole = next(stored(range(50)).folder.glob("*.parquet")).read_bytes()
    store.remove(store.lookup(experiment()))
    kept = stored(range(3), range(3, 20), range(20, 50))
    files = list(kept.folder.glob("*.parquet"))
    assert [file.name for file in files] == ["runs-000000-000049.parquet"]
    assert files[0].read_bytes() == whole


def test_a_block_is_never_replaced_by_one_with_fewer_runs() -> None:
    kept = stored(range(10), range(5))
    assert kept.complete() == 10


def test_only_what_is_missing_is_asked_for() -> None:
    kept = stored(range(50), range(50, 60))
    assert store.missing(kept, 60) == ([], [])
    assert store.missing(kept, 40) == ([], [])
    assert store.missing(kept, 120)[0] == [range(60, 100), range(100, 120)]


def test_who_reads_while_another_process_writes_meets_no_fault() -> None:
    """The writer puts a longer block in the place of a shorter one, again and again."""
    rows, kept = table(range(50)), stored(range(1))
    parts = [range(stop - 1, stop) for stop in range(2, 51)]
    with ThreadPoolExecutor(1) as others:
        writing = others.submit(
            lambda: [store.add_blocks(kept, [(part, rows.loc[rows["run"].isin(part)])]) for part in parts]
        )
        while not writing.done():
            assert kept.sound_blocks()[1] == []
            read = kept.table()
            pd.testing.assert_frame_equal(read, rows[: len(read)])
        writing.result()
    assert kept.complete() == 50


def test_a_run_whose_first_manifest_is_being_written_has_no_fault() -> None:
    kept = stored()
    (kept.folder / "manifest.json").unlink()
    assert store.missing(kept, 50) == ([range(50)], [])


@pytest.mark.parametrize("package", DECISIVE)
def test_a_run_is_not_continued_under_another_version(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    stored(range(10))
    other = decisive_versions() | {package: "0.0"}
    monkeypatch.setattr("pomrl.store.writing.decisive_versions", lambda: other)
    with pytest.raises(store.StoreError, match=f"computed with {package} .*, this is 0.0; force=true"):
        store.open_experiment(experiment(), force=False)
    assert store.open_experiment(experiment(), force=True).complete() == 0


def test_missing_runs_are_an_error_and_not_a_shorter_table() -> None:
    stored(range(10))
    with pytest.raises(store.StoreError, match="10 of 11 runs"):
        store.load(experiment(), runs=11)
    with pytest.raises(store.StoreError, match="no stored experiment has a signature that starts with ffff"):
        store.load("ffff")


@pytest.mark.parametrize("choice", ["population", "per_run"])
def test_hindsight_is_chosen_from_the_grid_when_it_is_read(choice: str) -> None:
    stored(range(10))
    grid = table(range(10))
    mean = grid.groupby(["task", "gamma"])["planning_loss"].mean().unstack()
    best = Hindsight(gammas=GAMMAS, scope="each_task", choice=choice)  # type: ignore[arg-type]
    chosen = store.load(experiment(best))
    assert len(chosen) == 20
    if choice == "population":
        assert chosen.groupby("task")["planning_loss"].mean().to_numpy() == pytest.approx(mean.min(axis=1).to_numpy())
    else:
        smallest = grid.groupby(["run", "task"])["planning_loss"].min().to_numpy()
        assert (chosen["planning_loss"].to_numpy() == smallest).all()


def test_runs_are_found_by_their_settings() -> None:
    kept = stored(range(10))
    assert store.find(sigma=0.01, estimator="fixed_mixing") == [kept]
    assert store.find(**{"estimator.mixing": 0.5}) == [kept]
    assert store.find(sigma=0.02) == []
    with pytest.raises(store.StoreError, match="sigam: no stored experiment has this key"):
        store.find(sigam=0.01)


def test_the_manifest_says_when_a_computation_has_come_to_its_end() -> None:
    kept = stored(range(10))
    assert not kept.is_closed()
    store.close_experiment(kept, "complete", 1.0)
    assert kept.is_closed()
    (kept.folder / "config.yaml").unlink()
    assert not kept.is_closed()
    assert kept.settings() == {}
    assert store.open_experiment(experiment(), force=False).settings()["S"] == 4
    assert kept.complete() == 10


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Local):
    """Its workers store what they compute, in a folder that is not ours."""

    def map_unordered(self, function, work, isolation=Isolation.PROCESS):
        return ((index, [[None]] * len(each.item)) for index, each in enumerate(work))


def test_a_computation_is_complete_only_where_its_runs_are_here() -> None:
    asked = replace(experiment(), request=Request(runs=60), execution=Elsewhere())
    (job,) = checked_jobs([asked])
    failures = sweeps.compute([job], lambda tally: None)
    assert "0 of 60 runs are stored here" in failures[job.stored.signature].reason
    assert not job.stored.is_closed()


def test_adding_a_block_reads_and_writes_as_much_to_a_long_list_as_to_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counts bytes that are read and written, and files that are looked at."""
    kept, rows = stored(), table(range(50))
    costs = []
    for count in (1, 20_000):
        have = len(kept.blocks())
        parts = [range(50 * i, 50 * i + 50) for i in range(have, count)]
        blocks.append(kept.folder, [store.StoredBlock(part, 1, "0" * 64) for part in parts])
        calls: list[tuple[str, int]] = []
        with monkeypatch.context() as counted:
            for name in ("open", "pread", "pwrite", "ftruncate", "scandir", "listdir", "read"):
                counted.setattr(os, name, counting(getattr(os, name), calls))
            runs = range(50 * count, 50 * count + 50)
            store.add_blocks(kept, [(runs, rows.assign(run=rows["run"] + runs.start))])
        costs.append(calls)
    short, long = costs
    assert [name for name, _ in short] == [name for name, _ in long]
    assert sum(size for _, size in long) < sum(size for _, size in short) + 2 * 4096


def counting(call: Callable[..., Any], calls: list[tuple[str, int]]) -> Callable[..., Any]:
    """Return a function that makes the call, and appends its name and the number of its bytes to `calls`."""

    def counted(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        size = len(result) if isinstance(result, bytes) else result if call.__name__ == "pwrite" else 0
        calls.append((call.__name__, size))
        return result

    return counted


def test_blocks_of_one_dispatch_are_flushed_before_one_lock_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, events = stored(), []
    real_lock, real_sync = fcntl.flock, os.fsync
    lock = (kept.folder / ".lock").stat().st_ino

    def flock(descriptor: int, operation: int) -> None:
        if os.fstat(descriptor).st_ino == lock:
            events.append("locked")
        real_lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(os, "fsync", lambda descriptor: (events.append("flushed"), real_sync(descriptor)))
    store.add_blocks(kept, [(range(50), table(range(50))), (range(50, 60), table(range(50, 60)))])
    assert events == ["flushed", "flushed", "locked"]
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


def test_one_column_is_read_without_the_others() -> None:
    kept, rows = stored(range(50), range(50, 60)), table(range(60))
    assert_array_equal(kept.column("alpha"), rows["alpha"])
    assert_array_equal(kept.column("run", 55), rows["run"][rows["run"] < 55])
    loss, gammas = kept.losses(55)
    assert loss.shape == (55, 2, 3)
    assert_array_equal(loss.ravel(), rows["planning_loss"][rows["run"] < 55])
    assert_array_equal(gammas, GAMMAS)
    at_largest, average, _ = kept.mean_losses(55)
    assert_array_equal(at_largest, loss[..., -1])
    assert_array_equal(average, loss.mean(1))


def test_a_table_is_encoded_as_pandas_and_arrow_do_it() -> None:
    rows = table(range(50)).assign(measured=0.5)
    rows.loc[3:90, ["sigma_hat", "measured"]] = np.nan
    buffer = pa.BufferOutputStream()
    expected = pa.Table.from_pandas(rows.astype(SCHEMA), preserve_index=False).replace_schema_metadata(
        {b"pomrl.signature": b"0123456789ab", b"pomrl.runs": b"0-49"}
    )
    pq.write_table(expected, buffer, compression="zstd")
    assert blocks.encode(rows, "0123456789ab", range(50)) == buffer.getvalue().to_pybytes()


def test_temporary_files_of_a_killed_writer_go_and_those_of_a_living_one_stay() -> None:
    kept = stored(range(10))
    orphan = kept.folder / f".{WHOLE}.{'0' * 16}.tmp"
    orphan.write_bytes(b"torn")
    with files.flushed(kept.folder / WHOLE, b"content") as living:
        store.open_experiment(experiment())
        assert living.exists()
        assert not orphan.exists()
    assert not living.exists()


def test_a_file_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    files.write(path, b"before")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: .*table\.csv"):
        files.write(path, b"after")
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["table.csv"]
