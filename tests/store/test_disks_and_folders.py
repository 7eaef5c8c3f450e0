"""Full disks, and folders that cannot be read or written, end a command with one line that names the path."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.settings import ROOT

from pomrl import store
from pomrl.commands import diff, run
from pomrl.store import files

Command = Callable[..., tuple[int, list[str]]]

SMALL = ("runs=60", "T=2", "execution.workers=1")


@pytest.fixture
def command(
    call_main: Callable[..., tuple[int, list[str], str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Command:
    """Run a command with its outputs in a folder; return its status and its lines on standard error."""
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))

    def call(*arguments: str, main: Callable[[], None] = run.main) -> tuple[int, list[str]]:
        status, _, said = call_main(main, *arguments)
        return status, said.splitlines()

    return call


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "failing"),
    [("fsync", 1), ("fsync", 3), ("fsync", 4), ("mkdir", 1)],
)
def test_a_full_disk_names_a_path_and_the_same_command_goes_on(
    function: str, failing: int, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full at the n-th call of a function of the system that writes into the folder of outputs."""
    original, calls = getattr(os, function), []

    def full(target: int | str | Path, *further: object) -> object:
        of_outputs = target > 2 if isinstance(target, int) else "outputs" in str(target)
        calls.extend([target] * of_outputs)
        if len(calls) == failing and of_outputs:
            path = {"filename": str(target)} if isinstance(target, Path | str) else {}
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *path.values())
        return original(target, *further)

    monkeypatch.setattr(os, function, full)
    status, said = command(*SMALL)
    assert (status, len(calls)) == (1, failing)
    assert f"{tmp_path}/outputs" in said[-1]
    assert said[-1].endswith(
        "No space left on device; free some space, and the same command goes on from what is stored"
    )
    assert not any("Traceback" in line for line in said)
    monkeypatch.undo()
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    assert command(*SMALL)[0] == 0
    (stored,) = store.all_experiments()
    assert (stored.complete(), stored.faults()) == (60, [])


def test_a_limit_of_file_sizes_is_one_line_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "src.run", *SMALL],
        cwd=ROOT,
        env={**os.environ, "POMRL_OUTPUTS": str(tmp_path / "outputs")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "File too large; free some space" in done.stderr.splitlines()[-1]
    assert f"{tmp_path}/outputs/runs" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_outputs_that_are_a_file_are_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("mine")
    status, said = command(*SMALL)
    assert (status, len(said)) == (1, 1)
    assert f"outputs go to {tmp_path}/outputs, and POMRL_OUTPUTS names another folder" in said[0]
    assert (tmp_path / "outputs").read_text() == "mine"


@pytest.mark.parametrize("error", [errno.EROFS, errno.EACCES])
def test_outputs_that_cannot_be_written_are_one_line(
    error: int, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = os.mkdir

    def refused(path: Path, *further: int) -> None:
        if "outputs" in str(path):
            raise OSError(error, os.strerror(error), str(path))
        original(path, *further)

    monkeypatch.setattr(os, "mkdir", refused)
    status, said = command(*SMALL)
    assert (status, len(said)) == (1, 1)
    assert os.strerror(error) in said[0]
    assert "POMRL_OUTPUTS" in said[0]


def test_diff_names_what_it_cannot_read(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/somewhere")

    monkeypatch.setattr(diff, "selection", refused)
    status, said = command("sigma=0.01", "sigma=0.02", main=diff.main)
    assert (status, said) == (2, ["/somewhere: Permission denied"])


def test_a_folder_of_options_that_is_none_is_one_line(command: Command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "nowhere"):
        status, said = command("--config-dir", str(folder), "sigma=0.01")
        assert (status, len(said)) == (1, 1)
        assert str(folder) in said[0]


def test_the_store_names_the_file_it_could_not_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as raised:
        files.write(tmp_path / "table", b"content")
    assert raised.value.filename == str(tmp_path / "table")
