"""The command has statuses for CI, and errors of one line."""

import re
from math import inf
from pathlib import Path

import pytest
from tables_of_tests import normal, two_methods

import verdicts
from verdicts.command import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    two_methods(normal(30, 2.0), normal(30, seed=1)).to_csv("r.csv", index=False)

    def run(claims: str, *options: str, command: str = "judge") -> tuple[int, str, str]:
        (tmp_path / "c.txt").write_text(claims)
        status = main([command, "c.txt", *(["r.csv"] if command != "lock" else []), *options])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize(
    ("claims", "options", "status"),
    [
        ("a > b", [], 0),
        ("a < b", [], 1),
        ("a > 1", [], 1),  # undecided: 30 units against a number
        ("a > 1", ["--allow", "undecided"], 0),
        ("a > c", [], 2),
        ("a >", [], 2),
        ("a > b", ["--unit", "game"], 2),
        ("a > b", ["--error", "2"], 2),
        ("a > b", ["--lock", "none.lock"], 2),
    ],
)
@pytest.mark.parametrize("command", ["judge", "check"])
def test_status_tells_verdicts_and_errors(run, claims, options, status, command):
    result, output, error = run(claims, *options, command=command)
    assert result == status
    assert (error.count("\n") == 1 and not output and error.startswith("verdicts: ")) if status == 2 else not error


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert main(["judge", str(tmp_path / "c.txt"), "r.csv"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_check_prints_only_what_does_not_hold(run):
    assert "a > b" not in run("a > b\na < b", command="check")[1]


def test_against_earlier_verdicts_only_changes_fail(run, tmp_path):
    claims = "a > b\na < b"
    (tmp_path / "old.csv").write_text(run(claims, "--format", "csv")[1])
    assert run(claims, "--against", "old.csv")[0] == 0
    assert run(f"{claims}\na > 3 * b", "--against", "old.csv")[0] == 0
    two_methods(normal(30, -2.0), normal(30, seed=1)).to_csv("r.csv", index=False)
    status, _, error = run(claims, "--against", "old.csv")
    assert status == 1
    assert "a > b: was 'holds', is 'does not hold'" in error
    assert run("a < b", "--against", "old.csv")[::2] == (
        1, "verdicts: a > b: was 'holds', is 'not judged'\nverdicts: a < b: was 'does not hold', is 'holds'\n",
    )  # fmt: skip
    assert run(claims, "--against", "r.csv")[0] == 2


def test_plan_tells_the_units_of_each_claim(run):
    status, output, _ = run("a > b\na > b + 1.9\na > b + 50", command="plan")
    numbers = re.findall(r"needed: ([\d,]+|unknown)\D+([\d,]+)$", output, flags=re.M)
    needed, units = zip(*numbers, strict=True)
    planned = verdicts.plan("r.csv", Path("c.txt"))
    assert status == 0
    assert [inf if number == "unknown" else int(number.replace(",", "")) for number in needed] == [*planned["needed"]]
    assert [*map(int, units)] == [*planned["n"]]


def test_lock_and_judge_work_together(run):
    assert run("a > b", "--n", "30", command="lock")[0] == 0
    assert "Locked on " in run("a > b")[1]
    assert "Changed after the lock: C1." in run("a > 2 * b")[1]
    assert run("a > b", "--n", "0", command="lock")[0] == 2


def test_a_plot_is_written(run, tmp_path):
    run("a > b", "--plot", "forest.png")
    assert (tmp_path / "forest.png").exists()
