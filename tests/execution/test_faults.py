"""A selection of the faults that `python -m tests.faults --all` injects, and the suite's own judgement of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.faults import commands, damages, kills, outcomes
from tests.faults.outcomes import FaultError, Result, result, wrong

pytestmark = pytest.mark.slow

PARTS: dict[str, Callable[[], list[Result]]] = {
    "kills": lambda: list(kills.results(0, 1)),
    "kills of other commands": lambda: list(commands.results(0, 1)),
    "damages": lambda: list(damages.results(0, 4)),
}


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_lost_or_wrong_in_silence_and_nothing_hangs(
    part: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path))
    found = PARTS[part]()
    assert found
    assert wrong(found) == []


def became(inject: Callable[[], object]) -> str:
    return result("kind", "name", inject).became  # type: ignore[arg-type]


def test_what_must_not_be_is_counted_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(error: BaseException) -> Iterator[None]:
        raise error

    monkeypatch.setattr(outcomes, "HANGING", 1)
    assert became(lambda: ("mended", 1)) == "mended"
    assert became(lambda: raising(FaultError("lost", "a block"))) == "lost"
    assert became(lambda: raising(KeyError("x"))) == "traceback"
    assert became(_wait_for_ever) == "hanging"
    found = [Result("kind", "name", each) for each in (*outcomes.ENDS, *outcomes.WRONG)]
    assert wrong(found) == found[3:]
    assert outcomes.table(found).row_count == 1


def _wait_for_ever() -> None:
    while True:
        pass
