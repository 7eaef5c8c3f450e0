"""What the command reports about the progress of a sweep."""

import pytest

from pomrl.commands.progress import progress
from pomrl.running.sweeps import Tally


def test_blocks_are_done_failed_or_in_flight() -> None:
    tally = Tally(runs=150, done=2, failed=1, blocks=10)
    assert tally.describe(seconds=6.0) == "blocks: 2 done, 1 failed, 7 in flight, 0.5/s"


def test_elsewhere_than_in_a_terminal_there_is_a_line_for_each_block(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(total=100) as advance:
        advance(Tally(runs=50, done=1, blocks=2))
        advance(Tally(runs=100, done=2, blocks=2))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["50/100 runs", "100/100 runs"]
    assert "blocks: 2 done, 0 failed, 0 in flight" in lines[-1]
    assert max(map(len, lines)) <= 80
