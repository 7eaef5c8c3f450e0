"""Imports add what is missing to stored experiments, and never lose what is stored."""

import random
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
from tests.support.computed import call
from tests.support.sample_experiment import add, experiment, table

from pomrl import store
from pomrl.commands import import_
from pomrl.store import StoredBlock, StoredExperiment, archives, files
from pomrl.store.block_files import encode
from pomrl.store.merging import Merge

pytestmark = pytest.mark.usefixtures("empty_outputs")

N_RUNS = 410


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    return table(range(N_RUNS))


def stored(rows: pd.DataFrame, n_runs: int, tags: Sequence[str] = ()) -> StoredExperiment:
    record = store.open_experiment(experiment())
    for block in store.divide_into_blocks(n_runs):
        add(record, block, rows[rows["run"].isin(block)])
    store.complete(record)
    for tag in tags:
        store.label(record, tag, note=f"about {tag}")
    return record


def make_archive(rows: pd.DataFrame, n_runs: int, path: Path, tags: Sequence[str] = ()) -> Path:
    """Export runs of an experiment, and remove it from the store."""
    record = stored(rows, n_runs, tags)
    archives.export(path, [record])
    store.remove(record)
    return path


def content(record: StoredExperiment) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in record.folder.iterdir()}


def flip(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"x")


def test_a_longer_archive_extends_what_is_stored(rows: pd.DataFrame, tmp_path: Path) -> None:
    whole = content(stored(rows, N_RUNS, ["theirs"]))
    path = make_archive(rows, N_RUNS, tmp_path / "long.zip", ["theirs"])
    record = stored(rows, 20, ["mine"])
    status, out, _ = call(import_, str(path))
    added = "390 runs added to 20 stored, tag theirs added, 1 note added"
    assert (status, out) == (0, f"{record.folder}: {added}\n")
    assert {name: content(record)[name] for name in whole if name != "experiment.json"}.items() < content(
        record
    ).items()
    assert (record.tags(), record.notes()) == (["mine", "theirs"], ["about mine", "about theirs"])
    assert len([*record.folder.glob("*.parquet")]) == 3
    assert record.faults() == []
    before = content(record)
    assert call(import_, str(path))[2].startswith("nothing new; ")
    assert content(record) == before


def test_a_shorter_archive_takes_nothing_away(rows: pd.DataFrame, tmp_path: Path) -> None:
    path, before = make_archive(rows, 7, tmp_path / "short.zip"), content(record := stored(rows, N_RUNS))
    assert call(import_, str(path))[2].startswith("nothing new; ")
    assert content(record) == before


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("runs-000000-*", "1 damaged block restored"),
        ("runs-000400-*", "1 damaged block restored"),
        ("experiment.json", "description restored"),
        ("note-*", "1 note added"),
    ],
)
def test_damage_is_mended_from_an_archive(name: str, change: str, rows: pd.DataFrame, tmp_path: Path) -> None:
    path, record = make_archive(rows, N_RUNS, tmp_path / "backup.zip", ["same"]), stored(rows, N_RUNS, ["same"])
    flip(next(record.folder.glob(name)))
    assert call(import_, str(path))[:2] == (0, f"{record.folder}: {change}\n")
    assert record.faults() == []
    assert record.table().equals(rows)


def test_unmended_damage_is_named(rows: pd.DataFrame, tmp_path: Path) -> None:
    path, record = make_archive(rows, 200, tmp_path / "short.zip"), stored(rows, N_RUNS)
    for block in record.blocks():
        flip(record.folder / block.name)
    status, out, err = call(import_, str(path))
    assert (status, len(record.blocks()), len(record.faults())) == (0, 3, 2)
    assert re.fullmatch(rf"{record.folder}: 1 damaged \w+ restored\n", out)
    assert f"{record.folder}: " in err
    assert "2 damaged" in err


def test_missing_runs_of_the_log_are_named(rows: pd.DataFrame, tmp_path: Path) -> None:
    path, record = make_archive(rows, 200, tmp_path / "short.zip"), stored(rows, 400)
    store.log(record, "stored runs 200 to 399")
    for lost in (record.folder / record.blocks()[-1].name, *record.folder.glob("*.complete")):
        lost.unlink()
    status, out, err = call(import_, str(path))
    assert (status, out) == (0, f"{record.folder}: 200 runs recorded as complete\n")
    assert f"{record.folder}: the archive lacks 200 runs of its log; pomrl run computes them again" in err


def test_differing_runs_are_refused(rows: pd.DataFrame, tmp_path: Path) -> None:
    other = rows.assign(planning_loss=rows["planning_loss"] + (rows["run"] == 3))
    path, before = make_archive(other, N_RUNS, tmp_path / "other.zip", ["theirs"]), content(record := stored(rows, 20))
    status, _, err = call(import_, str(path))
    assert (status, err.count("\n")) == (1, 1)
    assert f"runs/{record.signature}: runs 0 to 19 differ from the stored ones" in err
    assert content(record) == before


def test_other_package_versions_are_refused_by_name(
    rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for module in ("experiments", "block_files"):
            patch.setattr(f"pomrl.store.{module}.decisive_versions", lambda: {"numpy": "1.0", "scipy": "1.1"})
        path = make_archive(rows, N_RUNS, tmp_path / "older.zip")
    before = content(record := stored(rows, 20))
    err = call(import_, str(path))[2]
    versions = record.read_manifest().versions
    assert f"(numpy 1.0, stored {versions['numpy']}, scipy 1.1, stored {versions['scipy']})" in err
    assert content(record) == before


@pytest.mark.parametrize("n_written", range(7))
def test_a_second_import_completes_a_killed_one(
    n_written: int, rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, record = make_archive(rows, N_RUNS, tmp_path / "long.zip", ["theirs"]), stored(rows, 20)
    write, written = files.write, list[Path]()

    def stop(path: Path, content: bytes) -> None:
        if len(written) == n_written:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", stop)
        call(import_, str(path))
    assert record.table(20).equals(rows[rows["run"] < 20])
    archives.import_(path)
    assert record.faults() == []
    assert record.table().equals(rows)
    assert record.tags() == ["theirs"]


LENGTHS = (7, 200, 250, N_RUNS)


def damage(record: StoredExperiment, rng: random.Random) -> None:
    """Lose or flip up to two files but the record of the number of runs."""
    paths = sorted(path for path in record.paths() if path.suffix in (".json", ".parquet"))
    for path in rng.sample(paths, rng.randint(0, 2)):
        rng.choice([Path.unlink, flip])(path)


@pytest.mark.parametrize(("before", "meanwhile"), [(0, 7), (20, 100), (20, N_RUNS), (200, N_RUNS)])
@pytest.mark.parametrize("imported", [20, 150, N_RUNS])
def test_runs_stored_during_an_import_are_kept(
    before: int, meanwhile: int, imported: int, rows: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process, or a second import of the archive, stores runs after the import has looked for missing ones."""
    path, original = make_archive(rows, imported, tmp_path / "sent.zip"), Merge.apply
    if before:
        stored(rows, before)

    def apply(merge: Merge) -> None:
        stored(rows, meanwhile)
        monkeypatch.setattr(Merge, "apply", original)
        archives.import_(path)
        original(merge)

    monkeypatch.setattr(Merge, "apply", apply)
    archives.import_(path)
    (record,) = store.all_experiments()
    assert record.table().equals(rows[rows["run"] < max(before, meanwhile, imported)])
    assert record.faults() == []


@pytest.mark.parametrize("seed", range(40))
def test_the_union_of_sound_runs_is_stored(seed: int, rows: pd.DataFrame, tmp_path: Path) -> None:
    rng = random.Random(seed)
    n_sent, n_stored = rng.choice(LENGTHS), rng.choice(LENGTHS)
    path = make_archive(rows, n_sent, tmp_path / "sent.zip", rng.sample("abC", 2))
    record = stored(rows, n_stored, rng.sample("abC", 2))
    tags = record.tags()
    damage(record, rng)
    sound = [block for block in record.files() if not record.block_fault(block)]
    is_unknown = record.manifest() is None and sound and not any(block.runs.start < n_sent for block in sound)
    before = content(record)
    if is_unknown:
        with pytest.raises(store.StoreError, match="description is missing or damaged"):
            archives.import_(path)
        assert content(record) == before
        return
    archives.import_(path)
    stops = {block.runs.start: block.runs.stop for block in sound}
    for block in store.divide_into_blocks(N_RUNS):
        stop = max(stops.get(block.start, 0), min(block.stop, n_sent))
        assert stop <= block.start or encode_block(record, rows, range(block.start, stop)) in record.files()
    assert {*record.tags()} >= {*tags}
    if n_sent >= n_stored:
        assert record.faults() == []
        assert record.table().equals(rows[rows["run"] < n_sent])
    assert [merge.changes() for merge in archives.import_(path)] == [[]]


def encode_block(record: StoredExperiment, rows: pd.DataFrame, runs: range) -> StoredBlock:
    return StoredBlock.from_content(runs, encode(rows[rows["run"].isin(runs)], record.signature, runs))
