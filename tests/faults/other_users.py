"""Another user of the machine plants modules in a shared folder, and tries what the processes of a command offer."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import psutil
from tests.faults.outcomes import HANGING, End, FaultError, Result, result
from tests.support.cluster import blocks, components, driver, end, environment, until

OTHER = 65534
"""The number of a user who owns nothing: nobody."""

PLANTED = ("pandas.py", "rich.py", "yaml.py", "omegaconf.py", "hydra_plugins/evil.py", "sitecustomize.py")

SLOW = ("-m", "sigma=0.01,0.02", "estimator=slow", "T=3", "runs=300", "execution.workers=2")

COMMANDS = (("runs",), ("studies",), ("run", "dry_run=true", "runs=1"), ("figures", "pomrl"), ("import", "crate.zip"))


def results() -> Iterator[Result]:
    """Let another user plant modules, and reach for the processes and the files of a command; skipped if not root."""
    if os.getuid():
        print("skipped: only root can act as another user", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for words in COMMANDS:
            yield result("another user's modules", " ".join(words), partial(_planted, folder, words))
        yield result("another user's reach", "a sweep", partial(_reached, folder))


def as_other_user(deed: Callable[[], None]) -> bool:
    """Return whether another user can do something."""
    copy = os.fork()
    if not copy:
        status = 1
        try:
            os.setgroups([])
            os.setgid(OTHER)
            os.setuid(OTHER)
            deed()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]) == 0


def _planted(folder: Path, words: tuple[str, ...]) -> tuple[End, int]:
    """Call a command in a folder of another user, who has put modules with the names of libraries there."""
    shared, mark = folder / "shared", folder / "mark"
    shared.mkdir(exist_ok=True)
    shared.chmod(0o777)

    def plant() -> None:
        for name in PLANTED:
            (shared / name).parent.mkdir(exist_ok=True)
            (shared / name).write_text(f"open({str(mark)!r}, 'w')\n")

    if not as_other_user(plant):
        raise FaultError("traceback", "the modules could not be planted")
    of_process = environment(POMRL_OUTPUTS=str(folder / "outputs"))
    command = [sys.executable, "-m", "pomrl", *words]
    ended = subprocess.run(
        command, cwd=shared, env=of_process, capture_output=True, text=True, timeout=HANGING, check=False
    )
    if mark.exists():
        raise FaultError("silently wrong", f"{words}: a module of another user ran")
    if "Traceback" in ended.stderr:
        raise FaultError("traceback", ended.stderr)
    return "unaffected", len(PLANTED)


def _reached(folder: Path) -> tuple[End, int]:
    """Look for ports that the processes of a sweep listen at, and for files that another user can change."""
    (folder / "components").mkdir()
    outputs, temporary = folder / "computed", folder / "temporary"
    temporary.mkdir()
    paths = (components(folder / "components"),)
    with mock.patch.dict(os.environ, TMPDIR=str(temporary)):
        process = driver(outputs, *SLOW, paths=paths)
    try:
        until(lambda: blocks(outputs))
        ours = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        sockets = [each for one in ours for each in one.net_connections("inet")]
        ports = [each.laddr for each in sockets if each.status == psutil.CONN_LISTEN]
        within = [path for top in (outputs, temporary) for path in (top, *top.rglob("*"))]
        open_to_others = [path for path in within if as_other_user(partial(_change, path))]
    finally:
        end(process)
    if ports or open_to_others:
        raise FaultError("silently wrong", f"others reach {ports} {open_to_others}")
    return "unaffected", len(within) + len(ours)


def _change(path: Path) -> None:
    if path.is_symlink() or not os.access(path, os.W_OK):
        raise PermissionError(path)
