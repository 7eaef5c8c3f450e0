"""Another user of the machine plants modules in a shared folder, in which somebody calls a command."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.faults.outcomes import HANGING, End, FaultError, Result, result
from tests.support.cluster import environment

OTHER = 65534
"""The number of a user who owns nothing: nobody."""

PLANTED = ("pandas.py", "rich.py", "yaml.py", "omegaconf.py", "hydra_plugins/evil.py", "sitecustomize.py")

COMMANDS = (("runs",), ("studies",), ("run", "dry_run=true", "runs=1"), ("figures", "pomrl"), ("import", "crate.zip"))


def results() -> Iterator[Result]:
    """Let another user plant modules where commands are called; skipped if not root."""
    if os.getuid():
        print("skipped: only root can act as another user", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for words in COMMANDS:
            yield result("another user's modules", " ".join(words), partial(_planted, folder, words))


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
