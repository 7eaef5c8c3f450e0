"""Forged archives are refused, or their false numbers show when they are recomputed."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import hashlib
import io
import json
import re
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import ANY

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.computed import call
from tests.support.sample_archives import Contents, archive, block_in, forge
from tests.support.sample_experiment import experiment, table

from pomrl import store
from pomrl.commands import import_, runs
from pomrl.configuration.composed import ConfigError
from pomrl.running.stored_settings import from_settings
from pomrl.running.work import is_recomputed
from pomrl.store import StoredBlock, archives, block_files, manifests
from pomrl.store.files import json_with_checksum

pytestmark = pytest.mark.usefixtures("empty_outputs")

__all__ = ["archive"]  # a fixture


def other_settings(contents: Contents) -> None:
    """Let the description say another sigma, with a checksum that fits."""
    name = next(name for name in contents if name.endswith("experiment.json"))
    description = json.loads(contents[name])
    del description["check"]
    description["settings"]["sigma"] = 0.5
    contents[name] = json_with_checksum(description)


FORGED: dict[str, Callable[[Contents], object]] = {
    "flipped": lambda it: it.update({block_in(it): it[block_in(it)][:-1] + b"x"}),
    "no block": lambda it: it.pop(block_in(it)),
    "no description": lambda it: it.pop(next(name for name in it if name.endswith("experiment.json"))),
    "up": lambda it: it.update({"../outside": b""}),
    "from a block": lambda it: it.update({f"{block_in(it)}/../../outside": b""}),
    "root": lambda it: it.update({"/outside": b""}),
    "beside": lambda it: it.update({"runs/../experiment.json": b""}),
    "another file": lambda it: it.update({f"{block_in(it)}.sh": b""}),
    "hidden code": lambda it: it.update({"code/.profile": b""}),
    "code above": lambda it: it.update({"code/../outside": b""}),
    "code in the store": lambda it: it.update({"code/runs/outside": b""}),
    "code in the simulations": lambda it: it.update({"code/simulations/outside": b""}),
    "code in the place of a file": lambda it: it.update({"code/archive.zip": b""}),
    "moved": lambda it: it.update({re.sub("runs/.", "runs/f", block_in(it)): it[block_in(it)]}),
    "settings in the name": lambda it: it.update({block_in(it).replace("runs/", "runs/S=4 ", 1): it[block_in(it)]}),
    "code below a file": lambda it: it.update({"code/archive.zip/outside": b""}),
    "a file and a folder": lambda it: it.update({"code/outside": b"", "code/outside/more": b""}),
    "a folder and a file": lambda it: it.update({"code/outside/more": b"", "code/outside": b""}),
    "code by itself": lambda it: it.update({"code": b""}),
    "a folder": lambda it: it.update({"code/outside/": b""}),
    "a line feed": lambda it: it.update({"code/outside\n": b""}),
    "a backslash": lambda it: it.update({"code/x\\..\\outside": b""}),
    "twice but for the case": lambda it: it.update({"code/outside": b"", "code/Outside": b""}),
    "other settings": other_settings,
}


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_forged_archives_are_refused(archive: Path, change: Callable[[Contents], object], tmp_path: Path) -> None:
    before = {*tmp_path.rglob("*")}
    with pytest.raises(store.StoreError, match=r"archive\.zip"):
        archives.import_(forge(archive, change))
    assert store.all_experiments() == []
    assert not any("outside" in path.name for path in {*tmp_path.rglob("*")} - before)


def entry(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_entries_must_be_files(archive: Path, kind: int) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(entry("code/outside", kind), "/etc/passwd")
    with pytest.raises(store.StoreError, match="code/outside: not a file"):
        archives.import_(archive)


@pytest.mark.parametrize(
    "name",
    [
        "runs/S=4 {}/experiment.json",
        "runs/{:.11}/experiment.json",
        "runs/{}/run.log",
        "runs/{}/tag-",
        f"runs/{{}}/tag-{'A' * 252}",
        f"code/{'x' * 256}",
        "runs/{}/more/x",
        "runs",
        "more/x",
    ],
)
def test_unknown_names_are_refused_before_unpacking(archive: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = name.format(store.signature(experiment()))
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(name, b"")
    monkeypatch.setattr(zipfile.ZipFile, "extract", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(store.StoreError, match=f"{name}: not a file"):
        archives.import_(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_must_differ(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(opened.namelist()[0], "another")
    with pytest.raises(store.StoreError, match="not have the same name"):
        archives.import_(archive)


def test_large_contents_are_refused_before_unpacking(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("code/zeros", bytes(10**7))
    monkeypatch.setattr(zipfile.ZipFile, "extract", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(store.StoreError, match=r"got 0\.0 GB; set --most 0\.1"):
        archives.import_(archive, max_bytes=10**7)
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    with pytest.raises(store.StoreError, match="at most 2, got 3"):
        archives.import_(archive)


def test_entries_must_have_the_stated_size(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("code/zeros", bytes(10**6))
    content = archive.read_bytes()
    size = (10**6).to_bytes(4, "little")
    assert content.count(size) == 2  # before the file, and in the directory
    archive.write_bytes(content.replace(size, (100).to_bytes(4, "little")))
    with pytest.raises(store.StoreError, match="damaged"):
        archives.import_(archive)


def unpack(archive: Path) -> None:
    """Unpack all files, as by hand."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(store.root().parent)


def rows_of_zeros(contents: Contents, rows: int, padding: bytes = b"") -> None:
    """Let the block have many equal rows in few bytes, in several groups."""
    block = block_in(contents)
    table = pq.read_table(pa.BufferReader(contents.pop(block))).slice(0, 1)
    zeros = pa.concat_tables([table] * rows).replace_schema_metadata({**table.schema.metadata, b"padding": padding})
    pq.write_table(zeros, buffer := io.BytesIO(), compression="zstd", row_group_size=rows // 3)
    name = StoredBlock.from_content(range(4), buffer.getvalue()).name
    contents[f"{block.rpartition('/')[0]}/{name}"] = buffer.getvalue()


def test_large_tables_are_refused_before_reading(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge(archive, lambda contents: rows_of_zeros(contents, 300_000))
    assert archive.stat().st_size < 200_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("it was read"))
    needed = r"runs/\w+/runs-000000-000003-\w+\.parquet: unpacked, it has 300,000 rows and 0\.0 GB, .*set --most 0\.2"
    with pytest.raises(store.StoreError, match=needed):
        archives.import_(archive, max_bytes=10**8)
    monkeypatch.setattr(block_files, "MAX_TABLE_BYTES", 10**7)
    with pytest.raises(store.StoreError, match=r"300,000 rows .*; a block must have at most 0\.0 GB"):
        archives.import_(archive)
    unpack(archive)
    (fault,) = store.lookup(experiment()).faults()
    assert "a block must have at most 0.0 GB unpacked" in fault


def test_long_footers_are_not_parsed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forge(archive, lambda contents: rows_of_zeros(contents, 24, bytes(block_files.MAX_FOOTER_BYTES)))
    monkeypatch.setattr(pq, "ParquetFile", lambda *_: pytest.fail("it was parsed"))
    with pytest.raises(store.StoreError, match="does not match this experiment"):
        archives.import_(archive)


def test_recomputing_finds_false_numbers(archive: Path) -> None:
    archives.import_(archive)
    imported = store.lookup(experiment())
    assert is_recomputed(imported, imported.blocks()[0], experiment())
    false = table(range(4)).assign(planning_loss=0.0)
    content = block_files.encode(false, imported.signature, range(4))
    (imported.folder / StoredBlock.from_content(range(4), content).name).write_bytes(content)
    assert not all(is_recomputed(imported, block, experiment()) for block in imported.files())


def poisoned(contents: Contents, settings: dict[str, object], provenance: dict[str, str]) -> None:
    """Let the description say other settings, and let its folder and block have the signature of these."""
    name = next(name for name in contents if name.endswith("experiment.json"))
    description = json.loads(contents.pop(name))
    del description["check"]
    description["settings"] |= settings
    description["provenance"] |= provenance
    signature = manifests.compute_signature(
        description["settings"], schema=description["schema"], code=description["code"]
    )
    block = block_in(contents)
    table = pq.read_table(pa.BufferReader(contents.pop(block)))
    owner = {**table.schema.metadata, b"pomrl.signature": signature.encode()}
    pq.write_table(table.replace_schema_metadata(owner), buffer := io.BytesIO(), compression="zstd")
    contents[f"runs/{signature}/experiment.json"] = json_with_checksum(description)
    contents[f"runs/{signature}/{StoredBlock.from_content(range(4), buffer.getvalue()).name}"] = buffer.getvalue()


def test_import_loads_no_class_of_strangers(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stranger.py").write_text("class Stranger: ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    forge(archive, lambda contents: poisoned(contents, {"estimator": {"_target_": "stranger.Stranger"}}, {}))
    assert call(import_, str(archive))[0] == 0
    (imported,) = store.all_experiments()
    with pytest.raises(ConfigError, match="must be recomputed with its study"):
        from_settings(imported)
    assert "stranger" not in sys.modules


GRID = "pomrl.science.gamma_schedules.Grid"


@pytest.mark.parametrize(
    ("settings", "provenance"),
    [
        ({"T": "abc"}, {}),
        ({"T": True}, {}),
        ({"T": 0}, {}),
        ({"gamma_schedule": 3}, {}),
        ({"gamma_schedule": [1]}, {}),
        ({"gamma_schedule": {"gammas": [0.5]}}, {}),
        ({"gamma_schedule": {"_target_": 7, "gammas": [0.5]}}, {}),
        ({"gamma_schedule": {"_target_": GRID, "gammas": 5}}, {}),
        ({"estimator": [1]}, {}),
        ({"sigma": {"a": 1}}, {}),
        ({"=1+1": 2}, {}),
        ({"estimator": {"_target_": "mine.Stranger", "weight": float("inf")}}, {}),
        ({"estimator": {"_target_": "mine.Stranger", "weights": [{"a": float("nan")}]}}, {}),
        ({"estimator": {"_target_": "a." * 100_000 + "B"}}, {}),
        ({}, {"start": "yesterday"}),
        ({}, {"start": "0001-01-01T00:00:00+14:00"}),
        ({}, {"start": "9999-12-31T23:00:00-14:00"}),
    ],
)
def test_invalid_settings_are_one_line(settings: dict[str, object], provenance: dict[str, str], archive: Path) -> None:
    forge(archive, lambda contents: poisoned(contents, settings, provenance))
    assert call(import_, str(archive))[::2] == (1, ANY)
    assert not store.all_experiments()
    unpack(archive)
    (name,) = (folder.name for folder in store.root().iterdir())
    for command, arguments in (("table", ()), ("view", ("--once",))):
        status, _, err = call(command, *arguments)
        assert (status, err.count(name)) == (1, 1)
    assert call(runs, "--since", "2020-01-01")[2].count(name) <= 1
    assert call(runs, "--verify")[0] == 1


@pytest.mark.parametrize(
    ("kind", "content"),
    [("note-", b"caf\xe9"), ("looks-", b"[1]"), ("looks-", b'{"estimator": 3}'), ("looks-", b"[" * 10**5)],
)
def test_unreadable_label_removes_no_other(kind: str, content: bytes, archive: Path) -> None:
    name = f"{kind}{hashlib.sha256(content).hexdigest()[:16]}"
    forge(archive, lambda contents: contents.update({f"{block_in(contents).rpartition('/')[0]}/{name}": content}))
    status, _, err = call(import_, str(archive))
    assert (status, err.count("\n"), err.count(name)) == (1, 1, 1)
    unpack(archive)
    for command, arguments in (
        ("view", ("--once",)),
        (runs, ("--prune",)),
        (runs, ("--format", "csv")),
    ):
        assert call(command, *arguments)[0] == 0
    assert name in call(runs, "--verify")[1]
