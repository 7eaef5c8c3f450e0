"""Full disks, and folders that cannot be read or written, end a command with one line that names the path."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.support.computed import call, table
from tests.support.sample_experiment import experiment, stored
from tests.support.sample_experiment import table as sample_table

from pomrl import store
from pomrl.commands import run, runs
from pomrl.running.plan import plan
from pomrl.store import StoredExperiment, archives, files

SMALL = ("runs=60", "T=2", "execution.workers=1")


@pytest.fixture(autouse=True)
def outputs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))


def command() -> tuple[int, list[str]]:
    """Run a small experiment; return the status and the lines on standard error."""
    status, _, err = call(run, *SMALL)
    return status, err.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "failing"),
    [("fsync", 1), ("fsync", 3), ("mkdir", 1)],
)
def test_a_full_disk_names_its_path(
    function: str, failing: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the n-th call of a function of the system that writes into the folder of outputs."""
    original, calls = getattr(os, function), []

    def full(target: int | str | Path, *arguments: object) -> object:
        is_output = target > 2 if isinstance(target, int) else "outputs" in str(target)
        calls.extend([target] * is_output)
        if len(calls) == failing and is_output:
            path = {"filename": str(target)} if isinstance(target, Path | str) else {}
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *path.values())
        return original(target, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, function, full)
        status, output = command()
    assert (status, len(calls), [*tmp_path.rglob("*.tmp")]) == (1, failing, [])
    assert f"{tmp_path}/outputs" in output[-1]
    assert "No space left on device" in output[-1]
    assert not any("Traceback" in line for line in output)
    assert command()[0] == 0
    (stored,) = store.all_experiments()
    assert (stored.complete(), stored.faults()) == (60, [])


def test_a_file_as_outputs_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("mine")
    status, output = command()
    assert (status, len(output)) == (1, 1)
    assert f"outputs go to {tmp_path}/outputs; set POMRL_OUTPUTS to change the folder" in output[0]
    assert (tmp_path / "outputs").read_text() == "mine"


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES])
def test_unwritable_outputs_are_one_line(error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = os.mkdir

    def refused(path: Path, *arguments: int) -> None:
        if "outputs" in str(path):
            raise OSError(error, os.strerror(error), str(path))
        original(path, *arguments)

    monkeypatch.setattr(os, "mkdir", refused)
    status, output = command()
    assert (status, len(output)) == (1, 1)
    assert os.strerror(error) in output[0]
    assert "POMRL_OUTPUTS" in output[0]


def test_an_unreadable_block_hides_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(run, "-m", "sigma=0.01,0.02", *SMALL)[0] == 0
    record, other = store.all_experiments()
    (path,) = record.folder.glob("*.parquet")
    original = files.content

    def refused(file: Path) -> bytes:
        if file == path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(file))
        return original(file)

    monkeypatch.setattr(files, "content", refused)
    status, named, _ = call(runs, "--verify")
    assert (status, named) == (1, f"{path}: Input/output error\n")
    status, out, err = call(table, "--format", "csv")
    assert (status, err.count(str(path)), out.count("\n")) == (1, 1, 2)
    status, _, err = call(run, "-m", "sigma=0.01,0.02", *SMALL)
    assert (status, err) == (1, f"{path}: Input/output error\n")
    assert path.exists()
    assert other.faults() == []


def test_an_unreadable_folder_hides_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(run, "-m", "sigma=0.01,0.02", *SMALL)[0] == 0
    record, other = store.all_experiments()
    original = os.listdir

    def refused(folder: Path) -> list[str]:
        if folder == record.folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return original(folder)

    monkeypatch.setattr(os, "listdir", refused)
    line = f"{record.folder}: Permission denied\n"
    assert call(runs, "--verify")[:2] == (1, line)
    status, out, err = call(table, "--format", "csv")
    assert (status, err.count(line), out.count("\n")) == (1, 1, 2)
    status, out, err = call(runs)
    assert (status, err, record.signature in out, other.signature in out) == (1, line, False, True)


def test_irremovable_experiments_stay_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    record = stored(range(4))
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != record.folder)
    status, _, err = call(runs, "sigma=0.01", "--remove", "--yes")
    assert (status, err.count("\n"), f"{record.folder}: Permission denied" in err) == (1, 1, True)
    assert [path.name for path in store.root().iterdir()] == [record.signature]
    assert record.faults() == []


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    shared_memory = Path("/dev/shm")
    with TemporaryDirectory(dir=shared_memory if shared_memory.is_dir() else tmp_path) as name:
        yield Path(name)


def link_experiment(other_disk: Path) -> StoredExperiment:
    """Move a stored experiment to another disk, and leave a link to it."""
    record = stored(range(4))
    for path in record.paths():
        (other_disk / path.name).write_bytes(path.read_bytes())
    store.remove(record)
    record.folder.symlink_to(other_disk)
    return record


def test_imports_may_follow_links_between_disks(tmp_path: Path, other_disk: Path) -> None:
    record = stored(range(4))
    archives.export(tmp_path / "sent.zip", [record])
    store.remove(record)
    store.root().rmdir()
    store.root().symlink_to(other_disk)
    archives.import_(tmp_path / "sent.zip")
    assert record.table().equals(sample_table(range(4)))
    assert [path.name for path in other_disk.iterdir()] == [record.signature]


def test_archives_extend_linked_experiments(tmp_path: Path, other_disk: Path) -> None:
    record = stored(range(6))
    archives.export(tmp_path / "sent.zip", [record])
    store.remove(record)
    link_experiment(other_disk)
    archives.import_(tmp_path / "sent.zip")
    assert StoredExperiment(record.folder).table().equals(sample_table(range(6)))
    assert (record.folder.is_symlink(), len([*other_disk.glob("*.parquet")])) == (True, 1)


def test_removing_a_link_keeps_its_files(other_disk: Path) -> None:
    record = link_experiment(other_disk)
    status, _, err = call(runs, "sigma=0.01", "--remove", "--yes")
    assert (status, err) == (0, f"{record.folder}: only this link is removed; its files stay in {other_disk}\n")
    assert [*store.root().iterdir()] == []
    assert len([*other_disk.iterdir()]) == 2


def test_a_dangling_link_hides_no_others(other_disk: Path) -> None:
    record = link_experiment(other_disk)
    for path in other_disk.iterdir():
        path.unlink()
    other_disk.rmdir()
    assert call(run, *SMALL)[0] == 0
    fault = f"{record.folder} is a link to {other_disk}, which does not exist; mount its disk, or remove the link\n"
    status, out, err = call(runs)
    assert (status, err, out.count("\n")) == (1, fault, 2)
    assert call(runs, "--verify")[:2] == (1, fault)
    with pytest.raises(store.StoreError, match=fault.strip()):
        plan([experiment()])
    other_disk.mkdir()


@pytest.mark.parametrize("name", ["outputs", "outputs/runs"])
@pytest.mark.parametrize("call_arguments", [(run, *SMALL), (runs,), (runs, "--verify"), (table,)])
def test_a_dangling_store_is_named(name: str, call_arguments: tuple[Any, ...], tmp_path: Path) -> None:
    link = tmp_path / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path / "nowhere")
    fault = f"{link} is a link to {tmp_path / 'nowhere'}, which does not exist; mount its disk, or remove the link\n"
    assert call(*call_arguments) == (1, "", fault)


def test_remains_of_imports_are_pruned_unless_used(other_disk: Path) -> None:
    store.root().parent.mkdir()
    store.root().symlink_to(other_disk)
    stored(range(4))
    remains = [store.root() / name for name in (".import-old", ".import-new", ".removed-old")]
    for link, target in ((".import-link", "nowhere"), (".removed-link", ".import-new")):
        (store.root() / link).symlink_to(target)
        os.utime(store.root() / link, (0, 0), follow_symlinks=False)
    for folder in remains:
        (folder / "runs").mkdir(parents=True)
        (folder / "runs" / ".file.tmp").touch()
    for folder in (remains[0], remains[2]):
        os.utime(folder, (0, 0))
    assert call(runs)[0] == 0
    assert call(runs, "--prune", "--yes")[0] == 0
    assert {path.name for path in store.root().glob(".*")} == {".import-new"}
    assert [*remains[1].rglob("*.tmp")]
