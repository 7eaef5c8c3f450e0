"""Components that end, freeze or fail in the processes of an engine: only their own blocks are lost."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path

from tests.faults.outcomes import HANGING, End, FaultError, Result, result
from tests.support import strangers
from tests.support.cluster import blocks, cluster, configured, run

ENGINES = {
    "local, one worker": ("execution=local", "execution.workers=1"),
    "local, two workers": ("execution=local", "execution.workers=2"),
    "dask": ("execution=dask",),
}

DEEDS = {
    "os._exit": "ended, |killed",
    "SIGKILL": "ended, |killed",
    "SIGSTOP": "given up",
    "sys.exit": "SystemExit: 3",
    "KeyboardInterrupt": "KeyboardInterrupt: mine",
    "SIGSEGV": "ended, |killed",
    "BaseException": "Odd: it is odd",
    "markup": r"\[/red\] \[bold\]x\[2J",
}
"""What a component does in runs 50 to 69, and what the reason of its failure has to say."""

MOST_LINES = 40
"""The most lines that a command prints of a sweep of two experiments: its progress, two tables and the folders."""

SMALL = ("-m", "T=2", "S=4", "runs=70")
FROZEN_AFTER = 10
"""Seconds after which a frozen block is given up; the others are given up as well if they take so long."""


def results(number: int) -> Iterator[Result]:
    """Run so many combinations of an engine with a component that misbehaves, of all that there are."""
    combinations = [(deed, engine) for engine, deed in product(ENGINES, DEEDS)]
    chosen = combinations[:: max(1, len(combinations) // number)][:number]
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        strangers.write(folder, folder / "options")
        if any(engine == "dask" for _, engine in chosen):
            dask = stack.enter_context(cluster(folder / "dask", folder))
            stack.enter_context(configured(DASK_SCHEDULER_ADDRESS=dask.address))
        status, _, err = run(folder / "sound", *SMALL, "estimator=ada_pomrl,stranger", paths=(folder,))
        assert status == 0, err
        sound = blocks(folder / "sound")
        for index, (deed, engine) in enumerate(chosen):
            outputs = folder / str(index)
            yield result(engine, deed, lambda d=deed, e=engine, o=outputs: _result(d, e, o, sound))


def _result(deed: str, engine: str, outputs: Path, sound: dict[str, bytes]) -> tuple[End, int]:
    """Compute a sweep of a method that misbehaves and one that does not."""
    limit = (f"execution.block_timeout={FROZEN_AFTER}",) if deed == "SIGSTOP" else ()
    option = outputs.parent / "options" / "estimator" / "guilty.yaml"
    option.write_text(f"defaults: [stranger, _self_]\ndeed: {deed}\n")
    arguments = (*SMALL, "estimator=guilty,ada_pomrl", *ENGINES[engine], *limit)
    try:
        status, _, err = run(outputs, *arguments, paths=(outputs.parent,), timeout=HANGING)
    except subprocess.TimeoutExpired as error:
        raise FaultError("hanging", str(error)) from error
    if "Traceback" in err:
        raise FaultError("traceback", err)
    if err.count("\n") > MOST_LINES:
        raise FaultError("traceback", f"{err.count(chr(10))} lines: {err}")
    if status != 1 or not re.search(DEEDS[deed].replace(" ", r"\s+"), _reason(err)):
        raise FaultError("silently wrong", f"status {status}: {err}")
    stored = blocks(outputs)
    ours = {path: content for path, content in stored.items() if path in sound}
    if any(sound[path] != content for path, content in ours.items()):
        raise FaultError("silently wrong", "the other method's tables differ")
    if len(ours) != 2 or len(stored) != 3:
        raise FaultError("lost", f"{sorted(stored)} are stored: {err}")
    return "refused", 1


def _reason(err: str) -> str:
    """Return the reason in the table of failures, which the table folds over several lines."""
    _, _, failed = err.partition("\nfailed")
    return " ".join(line[11:45].strip() for line in failed.splitlines())
