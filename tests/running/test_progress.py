"""What the command reports about the progress of a sweep."""

import pytest

from pomrl.commands.progress import progress
from pomrl.running.sweeps import Tally


def test_blocks_are_done_failed_or_in_flight() -> None:
    tally = Tally(runs=150, done=2, failed=1, blocks=10)
    assert tally.describe(seconds=6.0) == "blocks: 2 done, 1 failed, 7 in flight, 0.5/s"


def test_elsewhere_than_in_a_terminal_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(total=100) as advance:
        advance(Tally(runs=50, done=1, blocks=2))
        advance(Tally(runs=100, done=2, blocks=2))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["50/100 runs", "100/100 runs"]
    assert "blocks: 2 done, 0 failed, 0 in flight" in lines[-1]
    assert max(map(len, lines)) <= 80


def test_a_log_file_gets_a_line_for_each_tenth_of_many_blocks(capsys: pytest.CaptureFixture[str]):
    with progress(5000) as advance:
        for blocks in range(1, 101):
            advance(Tally(runs=50 * blocks, done=blocks, blocks=100))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("/")[0] for line in lines] == [str(500 * tenth) for tenth in range(1, 11)]
