"""Drivers and workers that are killed at random moments; the same command then has to end with the same tables."""

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.faults.outcomes import HANGING, End, FaultError, Result, result
from tests.support.cluster import ROOT, blocks, components, driver, end, environment, run, until

from pomrl.store import StoredExperiment

SWEEP = ("-m", "sigma=0.01,0.02", "estimator=slow,ada_pomrl", "T=3", "runs=300", "execution.workers=2")
"""Four experiments of six blocks each, one estimator of which takes its time."""

OURS = ("-m", "sigma=0.01,0.02", "estimator=pomrl,ada_pomrl", "T=3", "runs=300", "execution.workers=1")
"""The same with our own estimators, all in one process."""

KILLED_AT_A_FLUSH = """
import os, signal
from pomrl.commands.run import main

flush, left = os.fsync, {count}

def killing(descriptor):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    flush(descriptor)

os.fsync = killing
main()
"""
"""A program that kills itself at the n-th time that it has a file written to the disk."""


@dataclass(frozen=True)
class Undisturbed:
    """Commands that nothing disturbs, where their components are, and the tables of those that have run already."""

    folder: Path
    components: Path
    tables: dict[tuple[str, ...], dict[str, bytes]] = field(default_factory=dict)

    def of(self, arguments: tuple[str, ...]) -> dict[str, bytes]:
        """Return the tables of the command with these arguments."""
        if arguments not in self.tables:
            outputs = self.folder / f"undisturbed-{len(self.tables)}"
            status, _, err = run(outputs, *arguments, paths=(self.components,))
            assert status == 0, err
            self.tables[arguments] = blocks(outputs)
        return self.tables[arguments]


Kill = Callable[[Undisturbed, Path, random.Random], int]


def results(seed: int, number: int) -> Iterator[Result]:
    """Kill at least so many processes, of each kind in turn, and finish what they had begun."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "components").mkdir()
        undisturbed = Undisturbed(folder, components(folder / "components"))
        killed, index = 0, 0
        while killed < number and index < number:
            kind, (arguments, kill) = list(KINDS.items())[index % len(KINDS)]
            outputs = folder / f"outputs-{index}"
            found = result(kind, f"{kind}, {index}", lambda a=arguments, k=kill, o=outputs: _finished(
                undisturbed, o, a, k(undisturbed, o, rng)))  # fmt: skip
            yield found
            killed, index = killed + found.number, index + 1


def _finished(undisturbed: Undisturbed, outputs: Path, arguments: tuple[str, ...], killed: int) -> tuple[End, int]:
    """Run the same command to its end, and compare what is stored then.

    Raises:
        FaultError: A stored block was computed again, a table is missing or differs, or the command hangs or fails.
    """
    kept = _complete_blocks(outputs)
    try:
        status, _, err = run(outputs, *arguments, paths=(undisturbed.components,), timeout=HANGING)
    except subprocess.TimeoutExpired as error:
        raise FaultError("hanging", str(error)) from error
    if status or "Traceback" in err:
        raise FaultError("traceback" if "Traceback" in err else "lost", f"status {status}: {err}")
    if again := [path for path, written in kept.items() if path.stat().st_mtime_ns != written]:
        raise FaultError("lost", f"computed again: {again}")
    expected, found = undisturbed.of(arguments), blocks(outputs)
    if found.keys() != expected.keys():
        raise FaultError("lost", f"{found.keys() ^ expected.keys()}")
    if found != expected:
        raise FaultError("silently wrong", f"{[name for name in found if found[name] != expected[name]]} differ")
    return "mended", killed


def _complete_blocks(outputs: Path) -> dict[Path, int]:
    """Return the files of all complete blocks, and when each was written."""
    experiments = [StoredExperiment(folder) for folder in sorted(outputs.glob("runs/*/"))]
    paths = [each.folder / block.name for each in experiments for block in each.blocks() if not each.fault_of(block)]
    return {path: path.stat().st_mtime_ns for path in paths}


def _until_a_moment(rng: random.Random, outputs: Path, processes: list[subprocess.Popen[str]]) -> None:
    """Wait for a random moment: of the start, or after a random number of further blocks."""
    if rng.random() < 0.2:
        time.sleep(2 * rng.random())
        return
    wanted = len(blocks_there(outputs)) + rng.randint(1, 6)
    until(lambda: len(blocks_there(outputs)) >= wanted or all(each.poll() is not None for each in processes))
    time.sleep(0.2 * rng.random())


def blocks_there(outputs: Path) -> list[Path]:
    """Return the files of blocks, complete or not."""
    return list(outputs.glob("runs/*/*.parquet"))


def _killed(processes: list[subprocess.Popen[str]]) -> int:
    """Kill processes, and all that they started; return how many had not ended by themselves."""
    for process in processes:
        process.kill()
    for process in processes:
        end(process)
    return sum(process.returncode == -signal.SIGKILL for process in processes)


def _kill_drivers(undisturbed: Undisturbed, outputs: Path, rng: random.Random, *, at_once: int, times: int) -> int:
    killed = 0
    for _ in range(times):
        processes = [driver(outputs, *SWEEP, paths=(undisturbed.components,)) for _ in range(at_once)]
        _until_a_moment(rng, outputs, processes)
        killed += _killed(processes)
    return killed


def _kill_at_flushes(undisturbed: Undisturbed, outputs: Path, rng: random.Random) -> int:
    """Kill a driver inside a write, at a random flush."""
    killed = 0
    for _ in range(6):
        command = [sys.executable, "-c", KILLED_AT_A_FLUSH.format(count=rng.randint(1, 20)), *OURS]
        of_process = environment(POMRL_OUTPUTS=str(outputs))
        ended = subprocess.run(
            command, cwd=ROOT, env=of_process, capture_output=True, check=False, timeout=HANGING, text=True
        )
        killed += ended.returncode == -signal.SIGKILL
    return killed


KINDS: dict[str, tuple[tuple[str, ...], Kill]] = {
    "kill of three drivers": (SWEEP, partial(_kill_drivers, at_once=3, times=2)),
    "kill of a driver": (SWEEP, partial(_kill_drivers, at_once=1, times=5)),
    "kill at a flush": (OURS, _kill_at_flushes),
}
"""The arguments of the command that is killed and finished, and the function that kills."""
