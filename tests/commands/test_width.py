"""A table fits the terminal that it is printed in."""

import re
import sys

import pandas as pd
import pytest
from tests.support.computed import call

from pomrl.commands import main, run
from pomrl.commands.terminal import print_frame


def test_tables_fit_terminals_and_have_tabs_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"task_distribution.measure": "variance", "mean": 0.25, "mean_lower": 0.2, "mean_upper": 0.3, "none": None}
    print_frame(pd.DataFrame([row]))
    assert capsys.readouterr().out == "task_distribution.measure\tmean\tnone\nvariance\t0.250 [0.200, 0.300]\t-\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_frame(pd.DataFrame([row]))
    lines = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 40


def test_omitted_columns_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    frame = pd.DataFrame([{"sigma": 0.25, "mean": "m" * 10, "iqm": "i" * 10, "median": "d" * 10}])
    for width, left_out in ((46, []), (45, ["median"]), (32, ["median", "iqm"])):
        monkeypatch.setenv("COLUMNS", str(width))
        print_frame(frame, optional=["median", "iqm"])
        out, err = capsys.readouterr()
        assert err == (
            f"left out to fit {width} columns: {', '.join(left_out)}; --format csv has all\n" * bool(left_out)
        )
        row = re.sub(r"\x1b\[\d*m", "", out).splitlines()[3].split()
        assert row == ["0.25", *(name * 10 for name in "mid"[: 3 - len(left_out)])]


@pytest.mark.usefixtures("empty_outputs")
@pytest.mark.parametrize(
    ("arguments", "columns", "left_out"),
    [
        (["table", "--against", "estimator=pomrl"], "runs mean mean difference", "iqm, pairs"),
        (["runs"], "runs tags", "code, computed"),
    ],
)
def test_numbers_of_runs_and_tags_stay_longest(
    arguments: list[str],
    columns: str,
    left_out: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = ("T=2", "S=3", "runs=2", "gamma_schedule.gammas=[0.0,0.5]", "+tag=a_tag_of_15_let")
    assert call(run, "-m", *settings, "estimator=pomrl,without_meta", "sigma=0.01,0.047")[0] == 0
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    main.command(arguments[0], arguments[1:])()
    out, err = capsys.readouterr()
    assert columns in " ".join(re.sub(r"\x1b\[\d*m", "", out).split())
    assert f"{left_out}; --format csv has all" in err
