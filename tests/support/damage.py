"""Random damage of files, as by disks, people and attackers."""

import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil
from tests.support.cluster import HANG, until

FAULTS = int(os.environ.get("POMRL_FAULTS", "1"))
"""The number of repetitions, with different seeds, of each test with random kills or damage."""

KINDS = ("flip", "truncate", "empty", "append", "delete", "swap", "directory", "symlink", "fifo", "sparse")


@dataclass(frozen=True)
class Damage:
    """A kind of damage with its file, and the second file of a swap."""

    kind: str
    path: Path
    other: Path


def regular_files(folder: Path) -> list[Path]:
    """Return the regular files below a folder, in alphabetical order."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def damage_one(folder: Path, rng: random.Random) -> Damage:
    """Damage a random file below a folder in a random way."""
    files = regular_files(folder)
    path = rng.choice(files)
    kind = rng.choice(KINDS)
    other = rng.choice([file for file in files if file != path]) if kind == "swap" else path
    damage(kind, path, other, rng)
    return Damage(kind, path, other)


def damage(kind: str, path: Path, other: Path, rng: random.Random) -> None:
    """Damage a file in one of the ways in `KINDS`."""
    content = path.read_bytes()
    match kind:
        case "flip":
            position = rng.randrange(max(1, len(content)))
            flipped = bytes([content[position] ^ (1 << rng.randrange(8))]) if content else b"\x00"
            path.write_bytes(content[:position] + flipped + content[position + 1 :])
        case "truncate":
            path.write_bytes(content[: rng.randrange(max(1, len(content)))])
        case "empty":
            path.write_bytes(b"")
        case "append":
            path.write_bytes(content + rng.choice([b"\xff\xfe", b"NaN\n", content[-40:], b"\x1b[31m"]))
        case "sparse":  # an absurd size, of which nothing is on the disk
            os.truncate(path, 2**40)
        case "swap":
            path.write_bytes(other.read_bytes())
            other.write_bytes(content)
        case _:
            path.unlink()
            _replace(kind, path)


def _replace(kind: str, path: Path) -> None:
    """Put a special file in the place of a file, or nothing."""
    if kind == "directory":
        path.mkdir()
    elif kind == "symlink":
        path.symlink_to("/etc/hostname")
    elif kind == "fifo":
        os.mkfifo(path)


def copied(folder: Path, to: Path) -> Path:
    """Copy a folder, replacing the target, and return the copy."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))


def kill(process: "subprocess.Popen[str]") -> int:
    """Kill a process and return the number of its children.

    Raises:
        TimeoutError: A child is still running.
    """
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    until(lambda: not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children))
    process.communicate(timeout=HANG)
    return len(children)
