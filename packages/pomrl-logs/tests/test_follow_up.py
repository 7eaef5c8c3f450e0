"""Promises are compared with logs after changes, and with logs of the same decisions as before."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_gains import goals
from test_logs import chain_log

import pomrl_logs
from pomrl.commands import main
from pomrl_logs.follow_up import follow_up
from pomrl_logs.recommendations import Improvement

pytestmark = pytest.mark.slow


def repairs(seed: int, share: float, first: int = 0) -> pd.DataFrame:
    """Machines that wear, each repaired in so many of its steps."""
    rng = np.random.default_rng(seed)
    rows = list[tuple[int, str, str, float, str]]()
    for machine in range(first, first + 5):
        state = "new"
        for _ in range(300):
            action = "repair" if rng.random() < share else "run"
            following = "new" if action == "repair" else "worn" if rng.random() < 0.4 else state
            rows.append(
                (machine, state, action, (3.0 if state == "new" else 2.0) - 4.0 * (action == "repair"), following)
            )
            state = following
    return pd.DataFrame(rows, columns=["task", "state", "action", "reward", "next_state"])


OLD = pomrl_logs.from_log(repairs(0, 0.5))


@pytest.mark.parametrize(
    ("share", "verdict", "followed"),
    [(0.0, "The promise came true.", 1.0), (0.5, "The promise did not come true.", 0.5)],
)
def test_followed_promises_come_true(share: float, verdict: str, followed: float):
    actual = follow_up(OLD, pomrl_logs.from_log(repairs(1, share)), 0.9)
    assert actual.words.startswith(verdict)
    assert actual.followed == pytest.approx(followed, abs=0.1)
    assert actual.promised == pomrl_logs.horizon_report(OLD, 0.9).improvement


def test_the_gain_is_the_earned_difference():
    actual = follow_up(OLD, pomrl_logs.from_log(repairs(1, 0.0)), 0.9)
    # Half of the states that are visited first are new, and a worn machine that is never repaired stays worn.
    new = np.linalg.solve(np.eye(2) - 0.9 * np.array([[0.6, 0.4], [0.0, 1.0]]), [3.0, 2.0]).mean()
    P = 0.5 * np.array([[1.6, 0.4], [1.0, 1.0]])
    old = np.linalg.solve(np.eye(2) - 0.9 * P, [1.0, 0.0]).mean()
    assert actual.gain == pytest.approx(new - old, abs=4 * actual.deviation)
    assert actual.deviation < 0.2 * actual.gain


def test_names_of_ends_change_no_gain():
    columns: dict[str, Any] = {"episode": "episode", "terminated": "done"}
    old = pomrl_logs.from_log(goals(1), **columns)
    single, seven = (follow_up(old, pomrl_logs.from_log(goals(names, 0.99, 2), **columns), 0.9) for names in (1, 7))
    # As in `test_gains_ignore_names_of_ends`, with y in 99 % of the later steps.
    assert single.gain == pytest.approx(0.495 / (1 - 0.9 * 0.505) - 0.25 / 0.325, abs=2 * single.deviation)
    assert seven.gain == pytest.approx(single.gain, abs=1e-5)


def test_few_data_leave_promises_open():
    few = pomrl_logs.from_log(repairs(1, 0.0).groupby("task").head(3))
    assert follow_up(OLD, few, 0.9).words.startswith("The later log does not yet show whether the promise came true.")
    unchanged = pomrl_logs.from_log(repairs(2, 0.0))
    actual = follow_up(unchanged, OLD, 0.9)
    assert actual.promised == Improvement()
    assert actual.words == "Nothing was promised: the report on the old log recommends to keep to its decisions."


def test_names_of_either_log_are_used():
    old, new = repairs(0, 0.5), repairs(1, 0.0).replace({"worn": "used"})
    actual = follow_up(pomrl_logs.from_log(old), pomrl_logs.from_log(pd.concat([new, new.assign(task="another")])), 0.9)
    assert actual.followed == 1.0
    with pytest.raises(ValueError, match="task 0 is missing in the later log; remove it from the old log too"):
        follow_up(OLD, pomrl_logs.from_log(repairs(0, 0.5, first=1)), 0.9)


def test_logs_are_not_their_own_later_log():
    with pytest.raises(ValueError, match=r"^the later log must differ from the earlier one, got the same transitions"):
        follow_up(OLD, pomrl_logs.from_log(repairs(0, 0.5)), 0.9)


def test_the_command_says_whether_it_came_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    repairs(0, 0.5).to_csv(tmp_path / "old.csv")
    repairs(1, 0.0).to_csv(tmp_path / "new.csv")
    monkeypatch.setattr("sys.argv", [])
    main.command("horizon", [str(tmp_path / "new.csv"), "--after", str(tmp_path / "old.csv"), "--gamma-eval", "0.9"])()
    assert capsys.readouterr().out.startswith("The promise came true. It was promised that 'reward' rises")
    assert {path.name for path in tmp_path.iterdir()} == {"old.csv", "new.csv"}
    chain_log().to_csv(tmp_path / "other.csv")
    with pytest.raises(SystemExit):
        main.command("horizon", [str(tmp_path / "new.csv"), "--after", str(tmp_path / "other.csv")])()
    assert "is missing in the later log" in capsys.readouterr().err
