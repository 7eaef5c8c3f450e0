"""Drivers of sweeps that are killed lose nothing and leave no process; the same command ends with the same files.

POMRL_FAULTS=100 kills a hundred times as often.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.cluster import ROOT, blocks, driver, environment, until
from tests.support.cluster import faults as faults
from tests.support.computed import call
from tests.support.damage import FAULTS, kill

from pomrl.commands import run
from pomrl.store import StoredExperiment

pytestmark = pytest.mark.slow

SWEEP = ("-m", "sigma=0.01,0.02", "estimator=slow,ada_pomrl", "T=3", "runs=300", "+tag=killed")
"""Four experiments of two blocks each, one estimator of which takes its time."""

KILLED_AT_A_FLUSH = """
import os, signal, sys
from pomrl.commands.run import run

flush, left = os.fsync, {count}

def killing(descriptor):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    flush(descriptor)

os.fsync = killing
run(sys.argv[1:])
"""
"""A program that kills itself at the n-th time that it has a file written to the disk."""

INTERRUPTED_AT_AN_IMPORT = """
import os, signal, sys
from pomrl.commands.entry import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
main()
"""
"""A program that is interrupted when it imports a module."""


@pytest.fixture(scope="module")
def undisturbed(faults: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the sweep if nothing disturbs it."""
    return finished(tmp_path_factory.mktemp("undisturbed"), faults)


def finished(outputs: Path, faults: Path) -> dict[str, bytes]:
    """Run the command to its end; return the files of blocks, none of which was written again if it was whole."""
    experiments = [StoredExperiment(folder) for folder in outputs.glob("runs/*/")]
    whole = [
        experiment.folder / block.name
        for experiment in experiments
        for block in experiment.blocks()
        if not experiment.block_fault(block)
    ]
    before = [path.stat().st_mtime_ns for path in whole]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POMRL_OUTPUTS", str(outputs))
        status, _, err = call(run, f"--config-dir={faults}/options", *SWEEP, "execution.workers=1")
    assert status == 0, err
    assert [path.stat().st_mtime_ns for path in whole] == before
    return blocks(outputs)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends processes with their driver on Linux only")
@pytest.mark.parametrize("seed", range(FAULTS))
def test_drivers_that_are_killed(seed: int, faults: Path, undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    drivers, expected = 2 - seed % 2, random.Random(seed).randint(1, 6)
    processes = [driver(tmp_path, *SWEEP, "execution.workers=2", paths=(faults,)) for _ in range(drivers)]
    until(lambda: len(blocks(tmp_path)) >= expected or any(process.poll() is not None for process in processes))
    assert sum(map(kill, processes)) >= 2
    with_blocks = [StoredExperiment(folder) for folder in {path.parent for path in tmp_path.glob("runs/*/*.parquet")}]
    assert [stored.tags() for stored in with_blocks] == [["killed"]] * len(with_blocks)
    assert finished(tmp_path, faults) == undisturbed


@pytest.mark.parametrize("seed", range(FAULTS))
def test_a_killed_write_can_be_continued(
    seed: int, faults: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    program = KILLED_AT_A_FLUSH.format(count=random.Random(seed).randint(6, 12))
    command = [sys.executable, "-c", program, f"--config-dir={faults}/options", *SWEEP, "execution.workers=1"]
    variables = environment(faults, POMRL_OUTPUTS=str(tmp_path))
    assert subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=False).returncode == -9
    assert list(tmp_path.rglob(".*.tmp"))
    assert 0 < len(blocks(tmp_path)) < len(undisturbed)
    assert finished(tmp_path, faults) == undisturbed


@pytest.mark.parametrize("name", ["pomrl.commands.main", "pydantic", "pomrl.commands.runs"])
def test_an_interrupted_import_is_one_line(name: str, tmp_path: Path) -> None:
    program = INTERRUPTED_AT_AN_IMPORT.format(name=name)
    done = subprocess.run(
        [sys.executable, "-c", program, "runs"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
