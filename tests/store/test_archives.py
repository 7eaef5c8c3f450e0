"""Archives are written, checked and added; test_forged_archives.py has forged ones."""

# pyarrow comes without types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import errno
import io
import random
import resource
import shutil
import zipfile
from pathlib import Path

import pytest
from tests.support.computed import call
from tests.support.judged import HOLDS, NOT, write_judgements
from tests.support.sample_archives import archive, forge
from tests.support.sample_experiment import experiment, stored, table

from pomrl import store
from pomrl.commands import import_
from pomrl.store import archives, block_files

pytestmark = pytest.mark.usefixtures("empty_outputs")

__all__ = ["archive"]  # a fixture


def test_exported_experiment_is_imported_once(archive: Path) -> None:
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
def test_import_restores_tables_tags_and_notes(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, original, path = random.Random(seed), stored(range(4)), tmp_path / "archive.zip"
    for tag in rng.sample(TAGS, 4):
        store.label(original, tag, note=f"About {tag}")
    (original.folder / rng.choice(["tag-Old", "tag-old"])).touch()  # as version 2.0.0 wrote capitals
    kinds = [f"{rng.choice(['code', 'studies'])}/{number}" for number in range(6)]
    names = ["/".join([kind, *rng.sample(NAMES, rng.randint(1, 3))]) for kind in kinds]
    (content := tmp_path / "content").write_text("the same")
    n_files, left_out = archives.export(path, [original], dict.fromkeys(names, content))
    assert all(any(name.startswith(prefix) for name in names) for prefix in left_out)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "empty"))
    monkeypatch.chdir(path.parent)
    archives.import_(path, agrees=lambda _: True)
    received = store.lookup(experiment())
    assert (received.table().equals(original.table()), received.tags(), received.notes()) == (
        True,
        original.tags(),
        original.notes(),
    )
    with zipfile.ZipFile(path) as opened:
        assert n_files == len(opened.namelist()) == len(names) - len(left_out) + len(original.paths())


def test_export_names_what_it_leaves_out(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_old_tags_may_differ_by_case(archive: Path) -> None:
    folder = f"runs/{store.signature(experiment())}"
    forge(archive, lambda contents: contents.update({f"{folder}/tag-{name}": b"" for name in ("Draft", "draft", "é")}))
    forge(archive, lambda contents: contents.update({f"{folder}/tag-{'A' * 200}": b""}))
    archives.import_(archive)
    names = {name.casefold() for name in store.lookup(experiment()).names()}
    assert {"tag-draft", "tag-%44raft", "tag-%c3%a9"} < names
    assert store.lookup(experiment()).tags() == ["A" * 200, "Draft", "draft", "é"]


def test_tables_of_an_experiment_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = stored(range(200), range(200, 400))
    archives.export(tmp_path / "archive.zip", [original])
    store.remove(original)
    tables = 400 * 2 * 3 * block_files.ROW_BYTES
    monkeypatch.setattr(archives, "MAX_TABLE_SHARE", 1)
    with pytest.raises(store.StoreError, match=r"its experiment has 0\.0 GB; set --most 0\.1"):
        archives.import_(tmp_path / "archive.zip", max_bytes=tables - 1)
    archives.import_(tmp_path / "archive.zip", max_bytes=2 * tables)
    assert original.contiguous() == 400


def test_equal_files_give_equal_archives(tmp_path: Path) -> None:
    original, path = stored(range(4)), tmp_path / "archive.zip"
    for tag in "abcdefg":
        store.label(original, tag)
    written: list[bytes] = []
    for _ in range(2):
        (tmp_path / "notes").write_text("the same")
        archives.export(path, [original], {"code/notes": tmp_path / "notes"})
        written.append(path.read_bytes())
        shutil.copytree(original.folder, tmp_path / "copy")
        shutil.rmtree(original.folder)
        shutil.move(tmp_path / "copy", original.folder)
        (tmp_path / "notes").unlink()
    assert written[0] == written[1]
    with zipfile.ZipFile(path) as opened:
        assert opened.namelist() == sorted(opened.namelist())


def test_full_disk_leaves_the_last_archive(tmp_path: Path) -> None:
    original, path = stored(range(4)), tmp_path / "archive.zip"
    archives.export(path, [original])
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (0, 100, len(before) // 2, len(before) - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(OSError, match=r"archive\.zip") as raised:
                archives.export(path, [original])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(path))
        assert path.read_bytes() == before
        assert not [*tmp_path.glob(".*.tmp")]


def test_damage_in_other_files_is_reported(archive: Path) -> None:
    with zipfile.ZipFile(archive, "a") as opened:
        opened.writestr("studies/mine/figures/losses.png", b"drawn pixels " * 10)
    archive.write_bytes(archive.read_bytes().replace(b"pixels", b"pixexs", 1))
    with pytest.raises(store.StoreError, match=r"archive\.zip: studies/mine/figures/losses\.png: damaged"):
        archives.import_(archive)
    assert store.all_experiments() == []


def test_import_of_code_needs_consent(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_large_or_missing_archives_are_refused(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(store.StoreError, match="--most"):
        archives.import_(archive, max_bytes=100)
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(store.StoreError, match="not a zip archive"):
        archives.import_(tmp_path / "text.zip")
    with pytest.raises(store.StoreError, match="no such file"):
        archives.import_(tmp_path / "missing.zip")
