"""Commands that are killed at a random moment; the same command then ends with the files of one that was not."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import psutil
from tests.faults.outcomes import HANGING, End, FaultError, Result, result
from tests.support.cluster import ROOT, environment, until
from tests.support.computed import DRAWN, call, outputs_of_every_kind
from tests.support.damage import copied

from pomrl.commands import export

COMPARED = (".parquet", ".csv", ".pdf", ".png", ".md")
"""The ends of the names of files whose bytes do not depend on when they are made."""


@dataclass(frozen=True)
class Sound:
    """Outputs of a study as they were written, and a crate of them."""

    folder: Path
    outputs: Path
    study: str

    @property
    def crate(self) -> Path:
        return self.folder / "crate.zip"

    def begin(self, kind: str, outputs: Path) -> tuple[str, ...]:
        """Make the outputs that a command begins with, and return its arguments."""
        copied(self.outputs, outputs)
        if kind in ("figures", "claims"):
            shutil.rmtree(outputs / "studies")
        if kind in ("reproduce", "import"):
            shutil.rmtree(outputs)
        return {
            "figures": ("figures", self.study, *DRAWN),
            "claims": ("claims", self.study),
            "reproduce": ("reproduce", self.study, "--runs", "2"),
            "import": ("import", str(self.crate)),
        }[kind]


KINDS = ("figures", "claims", "reproduce", "import")


@dataclass(frozen=True)
class Undisturbed:
    """What a command ends with that nothing disturbs."""

    seconds: float
    status: int
    files: dict[str, bytes]


def results(seed: int, number: int) -> Iterator[Result]:
    """Kill so many commands, of each kind in turn, and finish them."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        study = stack.enter_context(outputs_of_every_kind(folder / "sound"))
        sound = Sound(folder, folder / "sound", study)
        assert call(export, str(sound.crate))[0] == 0
        undisturbed = cache(partial(_undisturbed, sound))
        for index in range(number):
            kind = KINDS[index % len(KINDS)]
            kill = partial(_killed, sound, kind, undisturbed(kind), rng.random())
            yield result(f"kill of {kind}", f"{kind}, {index}", kill)


def _undisturbed(sound: Sound, kind: str) -> Undisturbed:
    outputs, start = sound.folder / "undisturbed", time.monotonic()
    process = _started(outputs, *sound.begin(kind, outputs))
    process.communicate()
    return Undisturbed(time.monotonic() - start, process.returncode, _files(outputs))


def _killed(sound: Sound, kind: str, undisturbed: Undisturbed, moment: float) -> tuple[End, int]:
    """Kill a command at this share of its time, and call it again.

    Raises:
        FaultError: A process or a file is left, the files differ, or the second call does not end as usual.
    """
    outputs = sound.folder / "outputs"
    words = sound.begin(kind, outputs)
    process = _started(outputs, *words)
    time.sleep(moment * undisturbed.seconds)
    process.kill()
    process.wait()
    try:
        until(lambda: not _of_session(process.pid), timeout=HANGING / 2)
    except TimeoutError as error:
        raise FaultError("hanging", f"{_of_session(process.pid)} are left behind") from error
    process.communicate(timeout=HANGING)  # which closes its pipes
    again = _started(outputs, *words)
    _, err = again.communicate(timeout=HANGING)
    if again.returncode != undisturbed.status or "Traceback" in err:
        raise FaultError("traceback" if "Traceback" in err else "lost", f"status {again.returncode}: {err}")
    for arguments in (("runs", "--prune", "--yes"), ("runs", "--verify")):
        checked = _started(outputs, *arguments)
        out, err = checked.communicate(timeout=HANGING)
        if checked.returncode:
            raise FaultError("lost", f"{arguments}: {out}{err}")
    if left := [*outputs.rglob(".*.tmp"), *outputs.glob(".import-*")]:
        raise FaultError("lost", f"{left} are left behind")
    if (found := _files(outputs)) != undisturbed.files:
        raise FaultError("silently wrong", f"{sorted(dict(found.items() ^ undisturbed.files.items()))} differ")
    return "mended", 1


def _started(outputs: Path, *arguments: str) -> subprocess.Popen[str]:
    pipe, of_process = subprocess.PIPE, environment(POMRL_OUTPUTS=str(outputs))
    command = [sys.executable, "-m", "pomrl", *arguments]
    return subprocess.Popen(
        command, cwd=ROOT, env=of_process, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def _of_session(leader: int) -> list[str]:
    """The processes that live in the session of a process that has ended."""
    found: list[str] = []
    for each in psutil.process_iter():
        try:
            if os.getsid(each.pid) == leader and each.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(each.cmdline()))
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def _files(outputs: Path) -> dict[str, bytes]:
    """The content of the files that do not depend on when they are made, by their paths."""
    paths = [path for path in sorted(outputs.rglob("*")) if path.suffix in COMPARED and path.is_file()]
    return {str(path.relative_to(outputs)): path.read_bytes() for path in paths}
