"""Promised gains hold in a world of broken machines, whether their ends are declared or not."""

import numpy as np
import pandas as pd
import pytest

import pomrl_logs
from pomrl_logs.log_tables import ColumnRoles, read_log

GAMMA = 0.9


def machines(minus: float, seed: int = 0) -> tuple[np.ndarray, pd.DataFrame]:
    """Machines that wear at 12 speeds, and leave the log when they break; rewards are lower by a number."""
    rng = np.random.default_rng(seed)
    wear, rows = rng.beta(4, 6, 12), []
    for machine, speed in enumerate(wear):
        s = 1
        for _ in range(200):
            a = int(rng.random() >= 0.3)
            t = 1 if not a else s if rng.random() >= speed else {1: 2, 2: 0, 0: 0}[s]
            rows.append((machine, s, a, {1: 3.0, 2: 2.0, 0: 0.0}[s] - 4.0 * (not a) - minus, t))
            s = t
    frame = pd.DataFrame(rows, columns=["task", "state", "action", "reward", "next_state"])
    return wear, frame[frame["state"] != 0]


def true_gain(policies: np.ndarray, wear: np.ndarray, broken: float) -> float:
    """What machines gain if nothing but a number is paid in each step after they have broken."""
    gains = []
    for policy, speed in zip(policies, wear, strict=True):
        P = np.zeros((3, 2, 3))
        P[0, :, 0] = P[1:, 0, 1] = 1.0
        P[1, 1, [1, 2]] = P[2, 1, [2, 0]] = 1.0 - speed, speed
        R = np.array([[broken, broken], [-7.0, -3.0], [-8.0, -4.0]])
        old = np.tile([0.3, 0.7], (3, 1))
        new = np.where((policy >= 0)[:, None], np.eye(2)[policy], old)
        old_value, new_value = (
            np.linalg.solve(np.eye(3) - GAMMA * np.einsum("sa,sat->st", pi, P), (pi * R).sum(1)) for pi in (old, new)
        )
        gains.append((new_value - old_value)[1:].mean())  # episodes start in no end
    return float(np.mean(gains))


@pytest.mark.parametrize("seed", range(4))
def test_a_promise_holds_whatever_undeclared_ends_cost(seed: int):
    wear, frame = machines(6.0, seed)
    log = read_log(frame, ColumnRoles())
    assert [finding.name for finding in log.findings] == ["ends"]
    assert "1 state is never left: 0 (" in log.audit[0]
    report = pomrl_logs.horizon_report(log, GAMMA)
    for broken in (0.0, -4.0, -8.0):
        assert report.improvement.lower <= true_gain(report.recommendation.policies, wear, broken)


def test_declared_ends_pay_nothing():
    wear, frame = machines(6.0)
    log = pomrl_logs.from_log(frame, ends=[0])
    assert log.findings == ()
    report = pomrl_logs.horizon_report(log, GAMMA)
    assert 0.0 < report.improvement.lower <= true_gain(report.recommendation.policies, wear, 0.0)
    assert log.model(log.new_task()).plan([GAMMA]).values[0, 0] == 0.0
    undeclared = read_log(frame, ColumnRoles())
    forever = frame["reward"].min() / (1.0 - GAMMA)  # an end that nobody declared pays the smallest reward
    assert undeclared.model(undeclared.new_task()).plan([GAMMA]).values[0, 0] == pytest.approx(forever)
