"""The command `pomrl horizon`: the audit stands first, and files are written before anything is printed."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from clinic_logs import visits

from pomrl.commands import main
from pomrl_logs import logs
from pomrl_logs.command import FILES


def horizon(*arguments: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("POMRL_OUTPUTS", str(folder / "outputs"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", [])
    main.command("horizon", list(arguments))()


def test_audits_without_limit_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    visits(0, 900, old=0.7).to_csv(tmp_path / "log.csv", index=False)
    horizon("log.csv", "--episode", "patient", "--time", "day", monkeypatch=monkeypatch, folder=tmp_path)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("the column 'age' is associated with the action (Cramér's V = ")
    page = (tmp_path / "outputs" / "horizon" / "log" / "report.html").read_text()
    assert 0 < page.index("is associated with the action") < page.index("What to change")
    assert "with no limit, because of the audit (column)" in printed
    assert "with no limit, because of the audit (column)" in page
    assert "<td>no limit</td>" in page
    arguments = ["--state", "state,age", "--bins", "age=2", "--episode", "patient", "--output", "with_age"]
    horizon("log.csv", *arguments, monkeypatch=monkeypatch, folder=tmp_path)
    assert capsys.readouterr().out.startswith("The audit of 5,400 transitions found no problems. The rewards")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--next-state", "late"], "'late' is the state two rows later in .*if this is intended, add --accept chain"),
        (["--reward", "cost"], "write --cost cost; if this is intended, add --accept cost"),
        (["--state", "severity"], "no column 'severity'.*; available: "),
        (["--bins", "age"], "--bins must be COLUMN=NUMBER with at least 2 bins, such as age=5, got 'age'"),
    ],
)
def test_void_advice_ends_with_status_1(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    frame = visits(0)
    frame.assign(late=frame["next_state"].shift(-1), cost=-frame["reward"]).dropna().to_csv(tmp_path / "log.csv")
    with pytest.raises(SystemExit) as raised:
        horizon("log.csv", *arguments, monkeypatch=monkeypatch, folder=tmp_path)
    assert raised.value.code == 1
    (printed,) = capsys.readouterr().err.splitlines()
    assert pd.Series([printed]).str.contains(line, regex=True).all()
    assert not (tmp_path / "outputs").exists()


def test_a_reader_that_stops_leaves_a_report(tmp_path: Path):
    visits(0).to_csv(tmp_path / "log.csv", index=False)
    command = f"{sys.executable} -m pomrl horizon log.csv --cost cost --output there | head -n 1"
    visits(0).assign(cost=-visits(0)["reward"]).to_csv(tmp_path / "log.csv", index=False)
    subprocess.run(command, shell=True, cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "there" / "report.html").exists()


def test_an_earlier_report_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    visits(0).to_csv(tmp_path / "log.csv", index=False)
    horizon("log.csv", "--output", "there", monkeypatch=monkeypatch, folder=tmp_path)
    assert {path.name for path in (tmp_path / "there").iterdir()} == {*FILES}
    before = (tmp_path / "there" / "report.html").read_text()
    horizon("log.csv", "--output", "there", "--gamma-eval", "0.9", monkeypatch=monkeypatch, folder=tmp_path)
    assert (tmp_path / "there" / "report.html").read_text() != before
    assert {path.name for path in (tmp_path / "there").iterdir()} == {*FILES}


def test_large_state_spaces_say_their_time_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    visits(0).to_csv(tmp_path / "log.csv", index=False)
    horizon("log.csv", monkeypatch=monkeypatch, folder=tmp_path)
    assert "the report takes" not in capsys.readouterr().err
    monkeypatch.setattr(logs, "MAX_DENSE_BYTES", 0)
    horizon("log.csv", monkeypatch=monkeypatch, folder=tmp_path)
    assert re.fullmatch(r"\d+ states: the report takes at most about \d+ s\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--state", "severity"], "log.csv: no column 'severity'"),
        (["--gamma-eval", "95"], "gamma_eval must be"),
        ([], "there: must have only files of an earlier report, got mine.txt; choose another folder with --output"),
        (["--output", "log.csv"], "log.csv: must be a folder, got a file; choose another one with --output"),
    ],
)
def test_folders_with_other_files_are_refused(
    arguments: list[str],
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    visits(0).to_csv(tmp_path / "log.csv", index=False)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit):
        horizon("log.csv", "--output", "there", *arguments, monkeypatch=monkeypatch, folder=tmp_path)
    assert capsys.readouterr().err.startswith(line)
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine.txt"]


def test_outputs_may_begin_with_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from pomrl.outputs import outputs

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("POMRL_OUTPUTS", "~/x")
    assert outputs() == tmp_path / "x"


def test_missing_logs_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for name in ("nofile.csv", "nofile.csv.gz", "nofile.parquet", "nofile.jsonl"):
        with pytest.raises(SystemExit) as raised:
            horizon(name, monkeypatch=monkeypatch, folder=tmp_path)
        assert raised.value.code == 1
        assert capsys.readouterr().err == f"{name}: no such file\n"
