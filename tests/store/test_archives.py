"""Archives are written, checked and added; forged ones are refused, or found when they are recomputed."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import errno
import hashlib
import io
import json
import random
import re
import resource
import shutil
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
from tests.support.judged import HOLDS, NOT, write_judgements
from tests.support.sample_experiment import experiment, stored, table

from pomrl import store
from pomrl.commands import import_, runs
from pomrl.configuration.composed import ConfigError
from pomrl.running.stored_settings import from_settings
from pomrl.running.work import is_recomputed
from pomrl.store import StoredBlock, archives, block_files, manifests
from pomrl.store.files import json_with_checksum

pytestmark = pytest.mark.usefixtures("empty_outputs")

Contents = dict[str, bytes]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an archive of an experiment that is not stored any more."""
    monkeypatch.chdir(tmp_path)
    record, path = stored(range(4)), tmp_path / "archive.zip"
    assert archives.export(path, [record]) == (2, [])
    shutil.rmtree(record.folder)
    return path


def forged(archive: Path, change: Callable[[Contents], object]) -> Path:
    with zipfile.ZipFile(archive) as opened:
        contents = {name: opened.read(name) for name in opened.namelist()}
    change(contents)
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in contents.items():
            opened.writestr(name, content)
    return archive


def block_in(contents: Contents) -> str:
    return next(name for name in contents if name.endswith(".parquet"))


def other_settings(contents: Contents) -> None:
    """Let the description say another sigma, with a checksum that fits."""
    name = next(name for name in contents if name.endswith("experiment.json"))
    description = json.loads(contents[name])
    del description["check"]
    description["settings"]["sigma"] = 0.5
    contents[name] = json_with_checksum(description)


def test_what_is_exported_is_imported_once(archive: Path) -> None:
    assert [merge.is_new for merge in archives.import_(archive)] == [True]
    assert store.load(experiment()).equals(table(range(4)))
    assert [merge.changes() for merge in archives.import_(archive)] == [[]]
    assert "nothing new; pomrl runs --recompute 10" in call(import_, str(archive))[2]


NAMES = (
    "a.py",
    "A.PY",
    ".hidden",
    "back\\slash",
    "line\nbreak",
    "\u00a0",
    "ae\u0301",
    "a\u0301",
    "a.",
    "a ",
    "Con",
    "x" * 200,
)
"""Names of files and folders of a study, some of which no archive may have."""

TAGS = ("draft", "Draft", "DRAFT", "v1.", "v1", "v1 ", "%44", "\u00c9t\u00e9", "a/b", "line\nbreak", ".", "=1")


@pytest.mark.parametrize("seed", range(30))
def test_exports_are_imported_with_the_same_tables(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, record, path = random.Random(seed), stored(range(4)), tmp_path / "archive.zip"
    for tag in rng.sample(TAGS, 4):
        store.label(record, tag, note=f"About {tag}")
    (record.folder / rng.choice(["tag-Old", "tag-old"])).touch()  # as version 2.0.0 wrote capitals
    kinds = [f"{rng.choice(['code', 'studies'])}/{number}" for number in range(6)]
    names = ["/".join([kind, *rng.sample(NAMES, rng.randint(1, 3))]) for kind in kinds]
    (content := tmp_path / "content").write_text("the same")
    n_files, left_out = archives.export(path, [record], dict.fromkeys(names, content))
    assert all(any(name.startswith(prefix) for name in names) for prefix in left_out)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "empty"))
    monkeypatch.chdir(path.parent)
    archives.import_(path, agrees=lambda _: True)
    received = store.lookup(experiment())
    assert (received.table().equals(record.table()), received.tags(), received.notes()) == (
        True,
        record.tags(),
        record.notes(),
    )
    with zipfile.ZipFile(path) as opened:
        assert n_files == len(opened.namelist()) == len(names) - len(left_out) + len(record.paths())


def test_export_names_omitted_files_and_limits(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (content := tmp_path / "content").write_text("the same")
    hidden = {f"studies/mine/.hidden/{name}": content for name in "ab"}
    assert archives.export(archive, [stored(range(4))], hidden) == (2, ["studies/mine/.hidden"])
    before = archive.read_bytes()
    with pytest.raises(
        store.StoreError, match="code/readme: two files, or a file and a folder, must not have the same name"
    ):
        archives.export(archive, [stored(range(4))], {"code/readme": content, "code/Readme": content})
    monkeypatch.setattr(archives, "MAX_FILES", 1)
    with pytest.raises(store.StoreError, match="at most 1, got 2"):
        archives.export(archive, [stored(range(4))])
    assert archive.read_bytes() == before


def test_old_archives_keep_tags_by_case(archive: Path) -> None:
    folder = f"runs/{store.signature(experiment())}"
    forged(archive, lambda contents: contents.update({f"{folder}/tag-{name}": b"" for name in ("Draft", "draft", "é")}))
    forged(archive, lambda contents: contents.update({f"{folder}/tag-{'A' * 200}": b""}))
    archives.import_(archive)
    names = {name.casefold() for name in store.lookup(experiment()).names()}
    assert {"tag-draft", "tag-%44raft", "tag-%c3%a9"} < names
    assert store.lookup(experiment()).tags() == ["A" * 200, "Draft", "draft", "é"]


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
        archives.import_(forged(archive, change))
    assert store.all_experiments() == []
    assert not any("outside" in path.name for path in {*tmp_path.rglob("*")} - before)


def entry(name: str, kind: int) -> zipfile.ZipInfo:
    described = zipfile.ZipInfo(name)
    described.create_system, described.external_attr = 3, (kind | 0o777) << 16
    return described


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
def test_other_names_are_refused_before_unpacking(archive: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = name.format(store.signature(experiment()))
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(name, b"")
    monkeypatch.setattr(zipfile.ZipFile, "extract", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(store.StoreError, match=f"{name}: not a file"):
        archives.import_(archive)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_with_one_name_are_refused(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr(opened.namelist()[0], "another")
    with pytest.raises(store.StoreError, match="not have the same name"):
        archives.import_(archive)


def test_bombs_are_refused_before_unpacking(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("code/zeros", bytes(10**7))
    monkeypatch.setattr(zipfile.ZipFile, "extract", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(store.StoreError, match=r"got 0\.0 GB; set --most 0\.1"):
        archives.import_(archive, max_bytes=10**7)
    monkeypatch.setattr(archives, "MAX_FILES", 2)
    with pytest.raises(store.StoreError, match="at most 2, got 3"):
        archives.import_(archive)


def test_entries_have_their_declared_size(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("code/zeros", bytes(10**6))
    content = archive.read_bytes()
    declared = (10**6).to_bytes(4, "little")
    assert content.count(declared) == 2  # before the file, and in the directory
    archive.write_bytes(content.replace(declared, (100).to_bytes(4, "little")))
    with pytest.raises(store.StoreError, match="damaged"):
        archives.import_(archive)


def rows_of_zeros(contents: Contents, rows: int, padding: bytes = b"") -> None:
    """Let the block have many equal rows in few bytes, in several groups."""
    block = block_in(contents)
    table = pq.read_table(pa.BufferReader(contents.pop(block))).slice(0, 1)
    zeros = pa.concat_tables([table] * rows).replace_schema_metadata({**table.schema.metadata, b"padding": padding})
    pq.write_table(zeros, buffer := io.BytesIO(), compression="zstd", row_group_size=rows // 3)
    name = StoredBlock.from_content(range(4), buffer.getvalue()).name
    contents[f"{block.rpartition('/')[0]}/{name}"] = buffer.getvalue()


def test_rows_in_footers_limit_the_size(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged(archive, lambda contents: rows_of_zeros(contents, 300_000))
    assert archive.stat().st_size < 200_000
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("it was read"))
    needed = r"runs/\w+/runs-000000-000003-\w+\.parquet: unpacked, it has 300,000 rows and 0\.0 GB, .*set --most 0\.2"
    with pytest.raises(store.StoreError, match=needed):
        archives.import_(archive, max_bytes=10**8)
    monkeypatch.setattr(block_files, "MAX_TABLE_BYTES", 10**7)
    with pytest.raises(store.StoreError, match=r"300,000 rows .*; a block must have at most 0\.0 GB"):
        archives.import_(archive)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(store.root().parent)  # as by hand
    (fault,) = store.lookup(experiment()).faults()
    assert "a block must have at most 0.0 GB unpacked" in fault


def test_the_tables_of_an_experiment_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = stored(range(200), range(200, 400))
    archives.export(tmp_path / "archive.zip", [record])
    store.remove(record)
    tables = 400 * 2 * 3 * block_files.ROW_BYTES
    monkeypatch.setattr(archives, "MAX_TABLE_SHARE", 1)
    with pytest.raises(store.StoreError, match=r"its experiment has 0\.0 GB; set --most 0\.1"):
        archives.import_(tmp_path / "archive.zip", max_bytes=tables - 1)
    archives.import_(tmp_path / "archive.zip", max_bytes=2 * tables)
    assert record.contiguous() == 400


def test_a_long_footer_is_never_parsed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forged(archive, lambda contents: rows_of_zeros(contents, 24, bytes(block_files.MAX_FOOTER_BYTES)))
    monkeypatch.setattr(pq, "ParquetFile", lambda *_: pytest.fail("it was parsed"))
    with pytest.raises(store.StoreError, match="does not match this experiment"):
        archives.import_(archive)


def test_equal_files_give_equal_archives(tmp_path: Path) -> None:
    record, path = stored(range(4)), tmp_path / "archive.zip"
    for tag in "abcdefg":
        store.label(record, tag)
    written: list[bytes] = []
    for _ in range(2):
        (tmp_path / "notes").write_text("the same")
        archives.export(path, [record], {"code/notes": tmp_path / "notes"})
        written.append(path.read_bytes())
        shutil.copytree(record.folder, tmp_path / "copy")
        shutil.rmtree(record.folder)
        shutil.move(tmp_path / "copy", record.folder)
        (tmp_path / "notes").unlink()
    assert written[0] == written[1]
    with zipfile.ZipFile(path) as opened:
        assert opened.namelist() == sorted(opened.namelist())


def test_a_full_disk_keeps_the_last_archive(tmp_path: Path) -> None:
    record, path = stored(range(4)), tmp_path / "archive.zip"
    archives.export(path, [record])
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 100, len(before) // 2, len(before) - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(OSError, match=r"archive\.zip") as raised:
                archives.export(path, [record])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(path))
        assert path.read_bytes() == before
        assert not [*tmp_path.glob(".*.tmp")]


def test_damage_in_other_files_is_noticed(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("studies/mine/figures/losses.png", b"drawn pixels " * 10)
    archive.write_bytes(archive.read_bytes().replace(b"pixels", b"pixexs", 1))
    with pytest.raises(store.StoreError, match=r"archive\.zip: studies/mine/figures/losses\.png: damaged"):
        archives.import_(archive)
    assert store.all_experiments() == []


def test_unconfirmed_code_is_a_failure(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("code/mine/study.yaml", b"title: Mine")
    stdin = io.StringIO("y\n")
    monkeypatch.setattr("sys.stdin", stdin)
    status, _, err = call(import_, str(archive))
    assert (status, Path("mine").exists()) == (1, False)
    assert "repeat with --yes" in err
    assert store.all_experiments()
    stdin.isatty = lambda: True  # type: ignore[method-assign]
    assert call(import_, str(archive))[0] == 0
    assert Path("mine/study.yaml").is_file()


def add_claims(archive: Path, content: bytes) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("studies/pomrl2023/claims.csv", content)


def test_verdicts_of_the_sender_are_compared(archive: Path, empty_outputs: Path) -> None:
    write_judgements(archive.parent / "sender", {"printed": {"Q1.1": HOLDS, "Q1.2": NOT}})
    add_claims(archive, (archive.parent / "sender" / "claims.csv").read_bytes())
    hint = f"to compare verdicts: pomrl reproduce pomrl2023, then pomrl import {archive}\n"
    assert call(import_, str(archive))[2].endswith(hint)
    assert call(import_, str(archive))[2].endswith(hint)  # nothing is judged here yet
    write_judgements(empty_outputs / "studies" / "pomrl2023", {"printed": {"Q1.1": HOLDS, "Q1.2": HOLDS}})
    status, out, _ = call(import_, str(archive))
    assert (status, out.splitlines()[0]) == (0, "Q1.2 under printed: holds, received: does not hold")
    assert "pomrl2023: Of 2 verdicts and 6 numbers, 1 verdicts" in out


@pytest.mark.parametrize("claims", [b"\xff", b"a,b\n1,2,3\n", b"variant,claim\nx,y,z\n", b'a\n"' + b"x" * 200_000])
def test_unreadable_verdicts_are_one_line(claims: bytes, archive: Path, empty_outputs: Path) -> None:
    add_claims(archive, claims)
    write_judgements(empty_outputs / "studies" / "pomrl2023", {"printed": {"Q1.1": HOLDS}})
    assert call(import_, str(archive))[0] == 0
    status, _, err = call(import_, str(archive))
    assert (status, err.count("\n")) == (1, 2)
    assert "studies/pomrl2023/claims.csv: damaged, or written by another version" in err


def test_bad_or_large_archives_are_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(store.StoreError, match="--most"):
        archives.import_(archive, max_bytes=100)
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(store.StoreError, match="not a zip archive"):
        archives.import_(tmp_path / "text.zip")
    with pytest.raises(store.StoreError, match="no such file"):
        archives.import_(tmp_path / "missing.zip")


def test_recomputation_notices_false_numbers(archive: Path) -> None:
    archives.import_(archive)
    record = store.lookup(experiment())
    assert is_recomputed(record, record.blocks()[0], experiment())
    false = table(range(4)).assign(planning_loss=0.0)
    content = block_files.encode(false, record.signature, range(4))
    (record.folder / StoredBlock.from_content(range(4), content).name).write_bytes(content)
    assert not all(is_recomputed(record, block, experiment()) for block in record.files())


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
    forged(archive, lambda contents: poisoned(contents, {"estimator": {"_target_": "stranger.Stranger"}}, {}))
    assert call(import_, str(archive))[0] == 0
    (record,) = store.all_experiments()
    with pytest.raises(ConfigError, match="must be recomputed with its study"):
        from_settings(record)
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
def test_bad_settings_are_one_line_per_command(
    settings: dict[str, object], provenance: dict[str, str], archive: Path
) -> None:
    forged(archive, lambda contents: poisoned(contents, settings, provenance))
    assert call(import_, str(archive))[::2] == (1, ANY)
    assert not store.all_experiments()
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(store.root().parent)  # as by hand
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
def test_an_unreadable_label_removes_no_other(kind: str, content: bytes, archive: Path) -> None:
    name = f"{kind}{hashlib.sha256(content).hexdigest()[:16]}"
    forged(archive, lambda contents: contents.update({f"{block_in(contents).rpartition('/')[0]}/{name}": content}))
    status, _, err = call(import_, str(archive))
    assert (status, err.count("\n"), err.count(name)) == (1, 1, 1)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(store.root().parent)  # as by hand
    for command, arguments in (
        ("view", ("--once",)),
        (runs, ("--prune",)),
        (runs, ("--format", "csv")),
    ):
        assert call(command, *arguments)[0] == 0
    assert name in call(runs, "--verify")[1]
