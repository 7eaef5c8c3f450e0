"""Damaged files and files of another experiment are noticed in the store, and mended or refused, but never used."""

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from tests.support.sample_experiment import WHOLE, experiment, stored, table

from pomrl import store
from pomrl.science.experiment import tables
from pomrl.store import blocks, files

pytestmark = pytest.mark.usefixtures("empty_outputs")


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_a_damaged_block_is_noticed_and_computed_again(damage: str) -> None:
    kept = stored(range(50), range(50, 60))
    file = kept.folder / "runs-000000-000049.parquet"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    {
        "flip": lambda: file.write_bytes(content),
        "truncate": lambda: file.write_bytes(content[:99]),
        "remove": file.unlink,
    }[damage]()
    parts, faults = store.missing(kept, 60)
    assert parts == [range(50)]
    assert len(faults) == 1
    assert file.name in faults[0]
    with pytest.raises(store.StoreError, match=file.name):
        kept.table()
    store.add_blocks(kept, [(range(50), table(range(50)))])
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


def look(kept: store.StoredExperiment) -> tuple[list[str], dict[str, object]]:
    kept.refuse_damage()
    return kept.faults(), kept.flat_settings()


def test_a_file_that_does_not_change_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored(range(50), range(50, 60))
    monkeypatch.setattr(files, "SETTLED", 0)
    time.sleep(0.05)  # the clock of file systems ticks slowly
    first = look(kept)
    monkeypatch.setattr(files, "read", None)
    assert look(kept) == first
    assert store.missing(kept, 60) == ([], [])


def test_what_is_changed_in_settings_that_were_read_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored(range(10))
    monkeypatch.setattr(files, "SETTLED", 0)
    time.sleep(0.05)
    for _ in range(2):
        kept.settings().clear()
    assert kept.settings()


def overwrite(file: Path, content: bytes) -> None:
    """Change a file in its place, and give it its old time."""
    times = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


def exchange(file: Path, content: bytes) -> None:
    """Put another file of the same time into the place of a file."""
    other, times = file.with_name(".other"), file.stat()
    other.write_bytes(content)
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(file)


@pytest.mark.slow
@pytest.mark.parametrize("settled", [0, files.SETTLED])
@pytest.mark.parametrize("change", [overwrite, exchange, Path.write_bytes])
@pytest.mark.parametrize("name", [WHOLE, "manifest.json", "config.yaml", "blocks.jsonl"])
def test_damage_after_the_first_look_is_found(
    name: str, change: Callable[[Path, bytes], object], settled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = stored(range(50), range(50, 60))
    monkeypatch.setattr(files, "SETTLED", settled)
    time.sleep(0.0 if settled else 0.05)
    assert look(kept)[0] == []
    time.sleep(0.0 if settled else 0.05)
    file = kept.folder / name
    content = file.read_bytes()
    change(file, content[:40] + bytes([content[40] ^ 1]) + content[41:])
    assert kept.faults() != []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0}'])
def test_a_manifest_that_cannot_be_read_or_is_of_another_version_counts_for_nothing(text: str) -> None:
    kept = stored(range(10))
    (kept.folder / "manifest.json").write_text(text)
    parts, faults = store.missing(kept, 10)
    assert parts == [range(10)]
    assert len(faults) == 1
    assert "manifest.json" in faults[0]
    store.add_blocks(store.open_experiment(experiment(), force=False), [(range(10), table(range(10)))])
    assert kept.complete() == 10


def other() -> store.StoredExperiment:
    """Another experiment, with a block of the same runs."""
    described = experiment(sigma=0.02)
    kept = store.open_experiment(described)
    store.add_blocks(kept, [(range(50), tables(described.problem, [described.method], range(50))[0])])
    return kept


def swap_in(kept: store.StoredExperiment, name: str, content: bytes, said: range) -> None:
    """Put content in the place of a block, and list it with its true digest."""
    (kept.folder / name).write_bytes(content)
    blocks.rewrite(kept.folder, [blocks.described(said, content)])


def test_the_block_of_another_experiment_is_refused_even_with_its_digest() -> None:
    kept = stored(range(50))
    swap_in(kept, WHOLE, (other().folder / WHOLE).read_bytes(), range(50))
    assert store.missing(kept, 50)[0] == [range(50)]
    with pytest.raises(store.StoreError, match="those of another experiment"):
        kept.table()


def test_a_block_is_refused_under_another_range_of_runs_even_with_its_digest() -> None:
    kept = stored(range(40))
    content = (kept.folder / "runs-000000-000039.parquet").read_bytes()
    swap_in(kept, WHOLE, content, range(50))
    parts, faults = store.missing(kept, 50)
    assert parts == [range(50)]
    assert "it holds other runs" in faults[0]


def test_a_folder_that_was_copied_under_another_signature_is_refused() -> None:
    kept = stored(range(10))
    copy = store.root() / ("0" * 12)
    shutil.copytree(kept.folder, copy)
    copied = store.by_signature("000000")
    assert copied.manifest() is None
    assert copied.settings() == {}
    assert copied.outdated() is None
    with pytest.raises(store.StoreError, match="0 of 1 runs"):
        store.load("000000", 1)
    assert "another experiment" in copied.faults()[0]


@pytest.mark.parametrize(("old", "new"), [("sigma: 0.01", "sigma: 0.02"), ("prior: inclusive", "prior: exclusive")])
def test_a_changed_value_in_the_settings_is_named_and_mended(old: str, new: str) -> None:
    kept = stored(range(10))
    store.close_experiment(kept, "complete", 1.0)
    path = kept.folder / "config.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert kept.settings() == {}
    assert not kept.is_closed()
    assert "config.yaml" in kept.faults()[0]
    store.open_experiment(experiment())
    assert path.read_text() == text
    assert kept.faults() == []
    assert kept.complete() == 10


def test_every_damaged_byte_of_the_small_files_is_noticed_or_makes_no_difference() -> None:
    kept = stored(range(50), range(50, 60))
    rows, settings, said = kept.table(), kept.settings(), kept.manifest()
    moments = random.Random(0)
    for name in ("config.yaml", "manifest.json", "blocks.jsonl"):
        path = kept.folder / name
        content = path.read_bytes()
        for _ in range(60):
            damaged = bytearray(content)
            damaged[moments.randrange(len(content))] ^= 1 << moments.randrange(8)
            path.write_bytes(damaged)
            assert kept.settings() in ({}, settings)
            assert kept.manifest() in (None, said)
            assert kept.complete() in (0, 50, 60)
            if kept.complete():
                pd.testing.assert_frame_equal(kept.table(), rows[: len(kept.table())])
        path.write_bytes(content)


@pytest.mark.parametrize("end", ["{", '{"runs": [50, 60], "size"', "\0\0\0"])
def test_an_unfinished_last_line_is_ignored_and_replaced(end: str) -> None:
    kept = stored(range(50))
    with (kept.folder / "blocks.jsonl").open("a") as file:
        file.write(end)
    assert kept.sound_blocks()[1] == []
    store.add_blocks(kept, [(range(50, 100), table(range(50, 100)))])
    assert kept.complete() == 100
    assert kept.faults() == []


def test_a_damaged_line_in_the_middle_is_named_and_mended() -> None:
    kept = stored(range(50), range(50, 60))
    path = kept.folder / "blocks.jsonl"
    path.write_text(path.read_text().replace('"runs": [0, 50]', '"runs": [0, 49]'))
    parts, faults = store.missing(kept, 60)
    assert parts == [range(50)]
    assert "blocks.jsonl: line 1 is damaged" in faults[0]
    store.add_blocks(store.open_experiment(experiment()), [(range(50), table(range(50)))])
    assert kept.faults() == []
    pd.testing.assert_frame_equal(kept.table(), table(range(60)))


def test_what_only_looks_damaged_is_not_outdated() -> None:
    kept = stored(range(10))
    assert kept.outdated() is None
    for name in ("config.yaml", "manifest.json"):
        content = (kept.folder / name).read_bytes()
        (kept.folder / name).write_bytes(content[:-20])
        assert kept.outdated() is None
        (kept.folder / name).write_bytes(content)
    (kept.folder / "manifest.json").write_text('{"schema": 1, "blocks": {}}')
    assert kept.outdated() == "another version of the store wrote it"
    assert kept.status() == "other version"
    assert kept.is_removable()
