"""What the command reports about the progress of a sweep."""

import io
import re
import time
from types import SimpleNamespace

import pytest

from pomrl.commands import terminal
from pomrl.commands.terminal import progress


def test_logs_have_a_line_per_tenth(capsys: pytest.CaptureFixture[str]):
    with progress(5000) as advance:
        for blocks in range(1, 101):
            advance(50 * blocks, 0)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[0] for line in lines] == [f"{500 * tenth:,}" for tenth in range(1, 11)]


def test_logs_have_a_line_per_half_minute(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    clock = iter([0.0, *(10.0 * step for step in range(1, 9))])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with progress(10_000) as advance:
        for done in range(1, 9):
            advance(done, 1)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["3 of 10,000 runs, 1 experiment failed, 30.0 s", "6 of 10,000 runs, 1 experiment failed, 60.0 s"]


@pytest.mark.parametrize(
    ("done", "expected"),
    [
        (0, "0 of 100 runs"),
        (4, "4 of 100 runs"),
        (5, "0:09:30 left, 5 of 100 runs"),
        (100, "0:00:00 left, 100 of 100 runs"),
    ],
)
def test_terminals_have_a_bar(done: int, expected: str, monkeypatch: pytest.MonkeyPatch):
    screen = io.StringIO()
    screen.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr", screen)
    clock = iter([0.0, 30.0])
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    with progress(100) as advance:
        if done:
            advance(done, 0)
    last = re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", screen.getvalue().rpartition("━")[2]).splitlines()[0]
    assert last.strip() == expected
