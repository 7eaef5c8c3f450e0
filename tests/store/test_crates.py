"""Crates are written, checked and added; forged ones are refused, or found when they are recomputed."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import ANY

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.computed import call, view
from tests.support.computed import table as table_command
from tests.support.sample_experiment import experiment, stored, table

from pomrl import store
from pomrl.commands import import_, runs
from pomrl.running.work import is_recomputed
from pomrl.store import StoredBlock, block_files, crates, manifests
from pomrl.store.files import json_with_checksum

pytestmark = pytest.mark.usefixtures("empty_outputs")

Contents = dict[str, bytes]


@pytest.fixture
def crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a crate of an experiment that is not stored any more."""
    monkeypatch.chdir(tmp_path)
    kept, path = stored(range(4)), tmp_path / "crate.zip"
    assert crates.export(path, [kept]) == 2
    shutil.rmtree(kept.folder)
    return path


def forged(crate: Path, change: Callable[[Contents], object]) -> Path:
    with zipfile.ZipFile(crate) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    change(contents)
    with zipfile.ZipFile(crate, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return crate


def block_in(contents: Contents) -> str:
    return next(name for name in contents if name.endswith(".parquet"))


def other_settings(contents: Contents) -> None:
    """Let the description say another sigma, with a checksum that fits."""
    name = next(name for name in contents if name.endswith("experiment.json"))
    said = json.loads(contents[name])
    del said["check"]
    said["settings"]["sigma"] = 0.5
    contents[name] = json_with_checksum(said)


def test_what_is_exported_is_imported_once(crate: Path) -> None:
    added, _ = crates.import_(crate)
    assert store.load(experiment()).equals(table(range(4)))
    assert crates.import_(crate) == ([], added)


FORGED: dict[str, Callable[[Contents], object]] = {
    "flipped": lambda it: it.update({block_in(it): it[block_in(it)][:-1] + b"x"}),
    "no block": lambda it: it.pop(block_in(it)),
    "no description": lambda it: it.pop(next(name for name in it if name.endswith("experiment.json"))),
    "no metadata": lambda it: it.pop(crates.METADATA),
    "up": lambda it: it.update({"../outside": b""}),
    "from a block": lambda it: it.update({f"{block_in(it)}/../../outside": b""}),
    "root": lambda it: it.update({"/outside": b""}),
    "beside": lambda it: it.update({"runs/../experiment.json": b""}),
    "another file": lambda it: it.update({f"{block_in(it)}.sh": b""}),
    "hidden code": lambda it: it.update({"code/.profile": b""}),
    "code above": lambda it: it.update({"code/../outside": b""}),
    "code in the store": lambda it: it.update({"code/runs/outside": b""}),
    "code in the place of a file": lambda it: it.update({"code/crate.zip": b""}),
    "moved": lambda it: it.update({block_in(it).replace("runs/", "runs/f", 1): it[block_in(it)]}),
    "other settings": other_settings,
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_forged_crates_are_refused(crate: Path, change: Callable[[Contents], object], tmp_path: Path) -> None:
    before = {*tmp_path.rglob("*")}
    with pytest.raises(store.StoreError, match=r"crate\.zip"):
        crates.import_(forged(crate, change))
    assert store.all_experiments() == []
    assert not any("outside" in path.name for path in {*tmp_path.rglob("*")} - before)


def test_what_is_no_archive_or_too_large_is_refused(crate: Path, tmp_path: Path) -> None:
    with pytest.raises(store.StoreError, match="--most"):
        crates.import_(crate, most=100)
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(store.StoreError, match="no zip archive"):
        crates.import_(tmp_path / "text.zip")
    with pytest.raises(store.StoreError, match="no such file"):
        crates.import_(tmp_path / "missing.zip")


def test_false_numbers_are_found_when_they_are_recomputed(crate: Path) -> None:
    crates.import_(crate)
    kept = store.lookup(experiment())
    assert is_recomputed(kept, kept.blocks()[0], experiment())
    false = table(range(4)).assign(planning_loss=0.0)
    content = block_files.encode(false, kept.signature, range(4))
    (kept.folder / StoredBlock.of(range(4), content).name).write_bytes(content)
    assert not all(is_recomputed(kept, block, experiment()) for block in kept.files())


def poisoned(contents: Contents, settings: dict[str, object], provenance: dict[str, str]) -> None:
    """Let the description say other settings, and let its folder and block have the signature of these."""
    name = next(name for name in contents if name.endswith("experiment.json"))
    said = json.loads(contents.pop(name))
    del said["check"]
    said["settings"] |= settings
    said["provenance"] |= provenance
    signature = manifests.signature_of(said["settings"], schema=said["schema"], code=said["code"])
    block = block_in(contents)
    table = pq.read_table(pa.BufferReader(contents.pop(block)))
    owner = {**table.schema.metadata, b"pomrl.signature": signature.encode()}
    pq.write_table(table.replace_schema_metadata(owner), buffer := io.BytesIO(), compression="zstd")
    contents[f"runs/ {signature}/experiment.json"] = json_with_checksum(said)
    contents[f"runs/ {signature}/{StoredBlock.of(range(4), buffer.getvalue()).name}"] = buffer.getvalue()


GRID = "pomrl.science.gamma_schedules.Grid"


@pytest.mark.parametrize(
    ("settings", "provenance"),
    [
        ({"T": "abc"}, {}),
        ({"T": True}, {}),
        ({"gamma_schedule": 3}, {}),
        ({"gamma_schedule": [1]}, {}),
        ({"gamma_schedule": {"gammas": [0.5]}}, {}),
        ({"gamma_schedule": {"_target_": 7, "gammas": [0.5]}}, {}),
        ({"gamma_schedule": {"_target_": GRID, "gammas": 5}}, {}),
        ({"estimator": [1]}, {}),
        ({"sigma": {"a": 1}}, {}),
        ({"=1+1": 2}, {}),
        ({}, {"start": "yesterday"}),
    ],
)
def test_settings_of_no_experiment_are_one_line_for_every_command(
    settings: dict[str, object], provenance: dict[str, str], crate: Path
) -> None:
    forged(crate, lambda contents: poisoned(contents, settings, provenance))
    assert call(import_, str(crate))[::2] == (1, ANY)
    assert not store.all_experiments()
    with zipfile.ZipFile(crate) as archive:
        archive.extractall(store.root().parent)  # as by hand
    (folder,) = store.root().iterdir()
    folder.rename(folder.with_name(name := folder.name.strip()))
    for command, words in ((table_command, ()), (view, ("--once",))):
        status, _, err = call(command, *words)
        assert (status, err.count(name)) == (1, 1)
    assert call(runs, "--since", "2020-01-01")[2].count(name) <= 1
    assert call(runs, "--verify")[0] == 1
