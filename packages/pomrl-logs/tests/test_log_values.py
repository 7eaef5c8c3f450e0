"""How values of a log are read: numbers, dates, missing values and bins."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_logs import HEAD, LINES, moves, transitions, visits, write

from pomrl_logs.log_tables import ColumnRoles, read_log

STATES = ("007", "07", "7")


def read_rewards(path: Path, *texts: str, separator: str = ";", accept: tuple[str, ...] = ()) -> list[float]:
    lines = [f'a{separator}x{separator}"{text}"{separator}a' for text in texts]
    file = write(path / "log.csv", separator.join(["state", "action", "reward", "next_state"]), *lines)
    return read_log(file, ColumnRoles(), accept=["chain", *accept]).reward.tolist()


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1,5", "1.000", "-12.345,5"], [1.5, 1000.0, -12345.5]),
        (["1.5", "1,000", "-12,345.5"], [1.5, 1000.0, -12345.5]),
        (["1.000.000", "250"], [1e6, 250.0]),
        (["0.125", "1.250"], [0.125, 1.25]),
        (["1.250", "2.500"], [1.25, 2.5]),
        (["1.5e3", "-.5", "2."], [1500.0, -0.5, 2.0]),
    ],
)
@pytest.mark.parametrize("separator", [";", ","])
def test_numbers_have_the_form_of_their_column(texts: list[str], values: list[float], separator: str, tmp_path: Path):
    assert read_rewards(tmp_path, *texts, separator=separator) == values


@pytest.mark.parametrize(("mark", "separators"), [(".", ";"), (",", ";,")])
def test_ambiguous_thousands_are_refused(mark: str, separators: str, tmp_path: Path):
    for separator in separators:
        with pytest.raises(ValueError, match=r"'reward' may be read in two ways, such as 1.000 beside 250; write 1000"):
            read_rewards(tmp_path, f"1{mark}000", "250", separator=separator)
        accepted = read_rewards(tmp_path, f"1{mark}000", "250", separator=separator, accept=("decimals",))
        assert accepted == [1.0, 250.0]
    assert read_rewards(tmp_path, "1.000", "250", separator=",") == [1.0, 250.0]


def test_whole_numbers_need_no_point(tmp_path: Path):
    old = write(tmp_path / "old.csv", HEAD, "3,1,x,0,2", "3,2,x,0,1")
    new = write(tmp_path / "new.csv", HEAD, "3.0,1.0,x,0,2.0", "3.0,2.0,x,0,4.0")
    log = read_log([old, new], ColumnRoles(), ends=["4.0"])
    assert (log.tasks, log.states, log.ends) == (("3",), ("1", "2", "4"), {"4"})
    assert "'task' has whole numbers with and without a point, such as 3.0, which is 3" in log.audit
    versions = write(tmp_path / "versions.csv", HEAD, "3,1.0,x,0,2.1", "3,2.1,x,0,1.0")
    assert read_log(versions, ColumnRoles()).states == ("1.0", "2.1")


def dated(path: Path, *days: str, **options: Any) -> list[str]:
    rows = [f"s{i},x,1,{day}" for i, day in enumerate(days)]
    log = read_log(write(path / "log.csv", "state,action,reward,day", *rows), ColumnRoles(time="day"), **options)
    first = [str(state) for _, state, _, _ in transitions(log)]
    return [*first, str(transitions(log)[-1][-1])]


def test_dates_have_one_order(tmp_path: Path):
    assert dated(tmp_path, "02/03/2025", "13/01/2025", "01/04/2025") == ["s1", "s0", "s2"]
    assert dated(tmp_path, "02/03/2025", "01/13/2025", "01/14/2025") == ["s1", "s2", "s0"]
    assert dated(tmp_path, "02.03.2025 10:00", "03.01.2025 11:30", "03.01.2025 09:00") == ["s2", "s1", "s0"]
    with pytest.raises(ValueError, match=r"'day' has dates such as 02/03/2025, .* add --dates %d/%m/%Y or --dates %m"):
        dated(tmp_path, "02/03/2025", "03/01/2025")
    assert dated(tmp_path, "02/03/2025", "03/01/2025", dates="%d/%m/%Y") == ["s1", "s0"]
    assert dated(tmp_path, "02/03/2025", "03/01/2025", dates="%m/%d/%Y") == ["s0", "s1"]
    with pytest.raises(
        ValueError, match=r"line 3: the value 'soon' of 'day' is neither a number nor a date .* --dates"
    ):
        dated(tmp_path, "13/03/2025", "soon", "14/03/2025")
    assert dated(tmp_path, "2 Mar 2025", "3 Jan 2025", dates="%d %b %Y") == ["s1", "s0"]


def test_names_of_missing_values(tmp_path: Path):
    path = write(tmp_path / "log.csv", HEAD, *LINES, "t,NA,None,0,7")
    assert "NA" in read_log(path, ColumnRoles()).states
    log = read_log(path, ColumnRoles(), missing=["NA"])
    assert (log.states, len(log.cell)) == (STATES, 3)
    line = "1 rows with missing values are left out and end their episodes there (line 5)"
    assert line in [finding.line for finding in log.findings]
    with pytest.raises(ValueError, match=r"line 2: the value .* of 'action' is missing; .* --missing ''"):
        read_log(write(tmp_path / "log.csv", HEAD, "t,1,,0,1"), ColumnRoles())


@pytest.mark.parametrize("blank", [" ", " NA"])
def test_missing_names_may_have_blanks(blank: str, tmp_path: Path):
    path = write(tmp_path / "log.csv", HEAD, *LINES, f"t,7,None,0,{blank}")
    assert len(read_log(path, ColumnRoles(), missing=["NA"]).cell) == 3


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
@pytest.mark.parametrize("code", ["-1", -1])
def test_missing_numbers_of_typed_files(suffix: str, code: Any, tmp_path: Path):
    frame = pd.DataFrame({"state": [0, 1, 1], "action": "a", "reward": 1.0, "next_state": [1, -1, 0]})
    path = tmp_path / f"log.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_json(path, orient="records", lines=True)
    log = read_log(path, ColumnRoles(), missing=[code])
    assert (log.states, len(log.cell)) == (("0", "1"), 2)


@pytest.mark.parametrize("code", [-1, "NA"])
def test_missing_numbers_are_in_no_bin(code: Any):
    frame = visits(range(20), [*range(1, 20), code])
    log = read_log(frame, ColumnRoles(), bins={"state": 4}, missing=[code])
    assert len(log.cell) == 19
    assert len(log.states) == 4


def test_bins_of_times_have_one_unit():
    days = pd.date_range("2025-01-01", periods=21)
    exact = days + pd.Timedelta(1, "ns")  # nanoseconds, although those of states may be microseconds
    frame = visits(days[:-1].astype("datetime64[s]"), exact[1:])
    log = read_log(frame, ColumnRoles(), bins={"state": 4}, accept=["breaks"])
    assert np.bincount(log.indices[1]).tolist() == [5, 5, 5, 5]
    assert np.bincount(log.indices[3]).tolist() == [4, 5, 5, 6]


def test_bins_have_different_names():
    numbers = 12_345_678 + np.arange(21)
    log = read_log(visits(numbers[:-1], numbers[1:]), ColumnRoles(), bins={"state": 4})
    assert len(set(log.states)) == 4


@pytest.mark.parametrize("kind", [int, str])
def test_times_have_all_digits(kind: type):
    nanoseconds = [kind(1_700_000_000_000_000_000 + i) for i in (2, 0, 1)]
    frame = pd.DataFrame({"state": ["c", "a", "b"], "action": "x", "reward": 1.0, "t": nanoseconds})
    log = read_log(frame, ColumnRoles(time="t"))
    assert moves(log) == [("a", "b"), ("b", "c")]
