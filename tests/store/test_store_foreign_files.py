"""The store follows, reads, imports and removes nothing that it did not write itself."""

import contextlib
import os
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from tests.support.sample_experiment import WHOLE, experiment, stored, table

from pomrl import store
from pomrl.store import files, manifest
from pomrl.store.signatures import signature_of

pytestmark = pytest.mark.usefixtures("empty_outputs")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "blocks.jsonl", WHOLE, "run.log", ".lock"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_ordinary_file_is_never_followed_or_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    kept = stored(range(50))
    path, victim = kept.folder / name, tmp_path / "victim"
    path.unlink(missing_ok=True)
    victim.write_text("theirs")
    {"link": lambda: path.symlink_to(victim), "fifo": lambda: os.mkfifo(path), "folder": path.mkdir}[kind]()
    assert not kept.is_removable()
    for action in (
        kept.faults,
        lambda: store.open_experiment(experiment()),
        lambda: store.add_blocks(kept, [(range(50), table(range(50)))]),
        lambda: store.log(kept, "a line"),
        lambda: store.remove(kept),
    ):
        with contextlib.suppress(store.StoreError, OSError):
            action()
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("name", ["manifest.json", "config.yaml", "blocks.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_refused_before_anything_is_removed(name: str) -> None:
    kept = stored(range(10))
    (kept.folder / name).unlink()
    (kept.folder / name).mkdir()
    before = sorted(kept.folder.glob("*.parquet"))
    with pytest.raises(store.StoreError, match=f"{name}: it is a folder in the place of a file"):
        store.open_experiment(experiment())
    assert sorted(kept.folder.glob("*.parquet")) == before != []


@pytest.mark.parametrize("name", ["config.yaml", "manifest.json", "blocks.jsonl", WHOLE])
def test_a_file_of_absurd_size_is_refused_without_reading_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kept = stored(range(50))
    os.truncate(kept.folder / name, 2**33)
    reads: list[Path] = []
    real = files.read
    monkeypatch.setattr(files, "read", lambda path, most: (reads.append(path), real(path, min(most, 2**30)))[1])
    assert kept.faults()
    assert kept.folder / name in reads


def test_aliases_and_deep_nesting_in_settings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = stored(range(10))
    monkeypatch.setattr("pomrl.store.reading.signature_of", lambda *_, **__: kept.signature)
    bomb = "a: &a [1, 1]\n" + "".join(f"{y}: &{y} [*{x}, *{x}]\n" for x, y in pairwise("abcdefghijklmnopqrstuvwxyz"))
    for text in (bomb, "a: " + "[" * 10_000, "!!python/object/apply:os.system [exit 1]", "a: !!python/name:os.system"):
        (kept.folder / "config.yaml").write_text(text)
        assert kept.settings() == {}
        assert "config.yaml" in kept.faults()[0]


def test_nothing_that_is_stored_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_package").mkdir()
    for name in ("hostile_package/__init__.py", "hostile_package/module.py"):
        (tmp_path / name).write_text("raise SystemExit('this code was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    kept = stored(range(10))
    said = kept.manifest()
    assert said
    settings = kept.settings()
    settings["estimator"]["_target_"] = "hostile_package.module.Estimator"
    signature = signature_of(settings, schema=said.schema, code=said.code)
    folder = kept.folder.rename(store.root() / signature)
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    manifest.write(folder, replace(said, signature=signature))
    assert store.StoredExperiment(folder).outdated() == "the code has changed since"
    assert not [name for name in sys.modules if name.startswith("hostile_package")]


def test_names_in_a_list_cannot_lead_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("theirs")
    kept = stored(range(10))
    with (kept.folder / "blocks.jsonl").open("a") as file:
        file.write('{"runs": [0, 50], "name": "../../victim.txt", "size": 6, "sha256": "", "check": ""}\n' * 2)
    store.open_experiment(experiment(), force=True)
    store.remove(kept)
    assert victim.read_text() == "theirs"


@pytest.mark.parametrize("name", ["notes.txt", "runs-1-2.parquet", "runs-000000-000009.parquet.bak", "mine"])
def test_a_folder_with_files_of_someone_else_is_left_alone(name: str) -> None:
    kept = stored(range(10))
    (kept.folder / name).write_text("mine")
    with pytest.raises(store.StoreError, match="left alone"):
        store.remove(kept)
    store.open_experiment(experiment(), force=True)
    assert (kept.folder / name).read_text() == "mine"
    assert kept.complete() == 10


def test_folders_of_ones_own_and_links_are_no_experiments() -> None:
    kept = stored(range(10))
    (store.root() / "notes").mkdir()
    (store.root() / ("0" * 12)).symlink_to(kept.folder)
    assert store.all_experiments() == [kept]
