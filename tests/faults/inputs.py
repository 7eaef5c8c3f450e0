"""Bad inputs of the commands, as `tests.support.bad_inputs` makes them."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.faults.outcomes import End, FaultError, Result, result
from tests.support.bad_inputs import BadInput, outcome, seeded


def results(seed: int, number: int) -> Iterator[Result]:
    """Give so many bad inputs to the commands, each in an empty folder."""
    for bad in seeded(seed, number):
        yield result(f"input of {bad.command}", f"{bad.name}", lambda bad=bad: _given(bad))


def _given(bad: BadInput) -> tuple[End, int]:
    with tempfile.TemporaryDirectory() as folder:
        ended = outcome(bad, Path(folder))
        if ended.raised is not None:
            raise ended.raised
        if ended.fault:
            raise FaultError("silently wrong" if ended.status == 0 else "traceback", f"{ended.fault}: {ended.said}")
        if (Path(folder) / "outputs").exists():
            raise FaultError("silently wrong", "something was stored")
    return "refused", 1
