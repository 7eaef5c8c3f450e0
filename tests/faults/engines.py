"""Components that end their process or fail in it: what is stored stays, and is what it should be."""

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
    "local, two workers": ("execution=local", "execution.workers=2"),
    "dask": ("execution=dask",),
}

DEATHS = ("os._exit", "SIGKILL", "SIGSEGV")
FAILURES = {"sys.exit": "SystemExit: 3", "markup": "ValueError: [/red] [bold]x[2J"}
"""What a component does in runs 50 to 69, and what the traceback of its failure has to say."""

MOST_LINES = 60
"""The most lines that a command prints of a sweep of two experiments: its progress, two tables and the folders."""

SMALL = ("-m", "T=2", "S=4", "runs=70")


def results(number: int) -> Iterator[Result]:
    """Run so many combinations of an engine with a component that misbehaves, of all that there are."""
    combinations = [(deed, engine) for engine, deed in product(ENGINES, (*DEATHS, *FAILURES))]
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
    option = outputs.parent / "options" / "estimator" / "guilty.yaml"
    option.write_text(f"defaults: [stranger, _self_]\ndeed: {deed}\n")
    arguments = (*SMALL, "estimator=guilty,ada_pomrl", *ENGINES[engine])
    try:
        status, _, err = run(outputs, *arguments, paths=(outputs.parent,), timeout=HANGING)
    except subprocess.TimeoutExpired as error:
        raise FaultError("hanging", str(error)) from error
    if deed in DEATHS and ("Traceback" in err or "finished blocks are stored" not in err.splitlines()[-1]):
        raise FaultError("traceback", err)
    if err.count("\n") > MOST_LINES:
        raise FaultError("traceback", f"{err.count(chr(10))} lines: {err}")
    if status != 1 or FAILURES.get(deed, "") not in err:
        raise FaultError("silently wrong", f"status {status}: {err}")
    stored = blocks(outputs)
    ours = {path: content for path, content in stored.items() if path in sound}
    if any(sound[path] != content for path, content in ours.items()):
        raise FaultError("silently wrong", "the other method's tables differ")
    if deed in FAILURES and (len(ours) != 2 or len(stored) != 3):
        raise FaultError("lost", f"{sorted(stored)} are stored: {err}")
    return "refused", 1
