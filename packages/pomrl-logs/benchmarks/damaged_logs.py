"""What does the audit do with damaged logs, and with right ones?

    python packages/pomrl-logs/benchmarks/damaged_logs.py --logs 24 --right 24 --output FILE

FILE gets a row for each kind of log: how many were stopped, advised without a limit, advised with one, and how many
limits were above the true gain. Right logs are those of a ward, with other columns, and of all families of the other
benchmarks. A log takes about 0.3 s. The published table is `results/damaged_logs.csv` (--logs 24 --right 24).
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from logs_with_truth import FAMILIES, Cell, draw_log

from pomrl_logs import from_log, horizon_report
from pomrl_logs.logs import Log

COUNTS = ("stopped", "no_limit", "limit", "fails", "loses", "kept")
"""The counted outcomes; a limit fails if it is above the true gain."""

GAMMA, TASKS, EPISODES, STEPS, S, A = 0.95, 8, 30, 25, 6, 3

Truth = list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]
"""The models P, rewards R and decisions of each type of patient, by task."""


def ward(rng: np.random.Generator, types: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Draw a clinic: severity 0 to 5; wait, mild, strong. Of two types, one gets worse, and is treated more."""
    heal, worse = [0.1, rng.uniform(0.2, 0.5), rng.uniform(0.3, 0.8)], [0.35, 0.2, rng.uniform(0.05, 0.3)]
    s, a = np.indices((S, A))
    R, models = -2.0 * s - np.array([0.0, 0.7, 2.0])[a] - 6.0 * (s == S - 1), []
    for kind in range(types):
        P = np.zeros((S, A, S))
        up = np.array(worse)[a] + 0.4 * (types > 1) * kind
        down = np.minimum(np.array(heal)[a] * (1.0 if types == 1 else 1.3 - kind), 1.0 - up)
        for to, chance in ((np.maximum(s - 1, 0), down), (np.minimum(s + 1, S - 1), up), (s, 1.0 - up - down)):
            np.add.at(P, (s, a, to), chance)
        V = np.zeros(S)
        for _ in range(500):
            V = (R + GAMMA * P @ V).max(1)
        best = np.eye(A)[(R + GAMMA * P @ V).argmax(1)]
        usual = 0.5 * best + 0.5 / A if types == 1 else np.tile([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]][kind], (S, 1))
        models.append((P, R, usual))
    return models


def visits(seed: int, types: int = 1) -> tuple[Truth, pd.DataFrame]:
    """Draw the log of a ward, and its truth."""
    rng = np.random.default_rng([seed, types])
    truth, rows = [ward(rng, types) for _ in range(TASKS)], []
    for task, episode in np.ndindex(TASKS, EPISODES):
        (P, R, usual), s = truth[task][rng.integers(types)], int(rng.integers(S))
        for step in range(STEPS):
            a = int(rng.choice(A, p=usual[s]))
            to, day = int(rng.choice(S, p=P[s, a])), np.datetime64("2024-01-01") + STEPS * episode + step
            reward = R[s, a] + 0.3 * rng.normal()
            rows.append((task, f"{task}-{episode}", step, str(day), s, a, reward, to))
            s = to
    return truth, pd.DataFrame(
        rows, columns=["task", "episode", "step", "date", "state", "action", "reward", "next_state"]
    )


def true_gain(truth: Truth, policies: np.ndarray, log: Log) -> float:
    """Return the mean gain over tasks, types and states."""
    gains = []
    for task, models in enumerate(truth):
        new = np.full(S, -1)
        for position, state in enumerate(log.states):
            if str(state).isdigit() and int(str(state)) < S:
                action = policies[log.tasks.index(task), position]
                new[int(str(state))] = int(str(log.actions[action])) if action >= 0 else -1
        for P, R, usual in models:
            gains.append(_value(np.where((new >= 0)[:, None], np.eye(A)[new], usual), P, R) - _value(usual, P, R))
    return float(np.mean(gains))


def _value(policy: np.ndarray, P: np.ndarray, R: np.ndarray) -> float:
    return np.linalg.solve(np.eye(S) - GAMMA * np.einsum("sa,sat->st", policy, P), (policy * R).sum(1)).mean()


def late(frame: pd.DataFrame, share: float = 0.5) -> pd.Series:
    """Return whether rows belong to the later episodes of tasks."""
    return frame["episode"].str.split("-").str[1].astype(int) >= share * EPISODES


def change_where(frame: pd.DataFrame, where: Any, **columns: Any) -> pd.DataFrame:
    """Change columns where a condition holds."""
    return frame.assign(**{name: np.where(where, value, frame[name]) for name, value in columns.items()})


def recoded(frame: pd.DataFrame, where: Any) -> pd.DataFrame:
    """Count states from the other end where a condition holds."""
    return change_where(frame, where, state=S - 1 - frame["state"], next_state=S - 1 - frame["next_state"])


def next_column(frame: pd.DataFrame, name: str, shift: int = -1) -> pd.DataFrame:
    """Take a column from another row of the episode."""
    return frame.assign(**{name: frame.groupby("episode")[name].shift(shift)}).dropna().astype({"action": int})


def padded(frame: pd.DataFrame, *, first: bool = False, **columns: Any) -> pd.DataFrame:
    """Add a row to each episode, for the first or the last observation."""
    edge = frame.drop_duplicates("episode", keep="first" if first else "last")
    edge = edge.assign(state=edge["state"] if first else edge["next_state"], action=0, reward=0.0, last=1)
    edge = edge.assign(step=-1 if first else edge["step"] + 1, next_state=edge["state"], **columns)
    return pd.concat([frame.assign(last=0), edge]).sort_values(["task", "episode", "step"], ignore_index=True)


def shortened(frame: pd.DataFrame) -> pd.DataFrame:
    """Cut episodes to 10 to 25 rows."""
    return frame[frame["step"] < 10 + pd.factorize(frame["episode"])[0] * 7 % 16]


def renamed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give episodes other names, and sort by these."""
    names = frame["episode"].unique()
    codes = dict(zip(names, np.random.default_rng(0).permutation(len(names)), strict=True))
    return frame.assign(episode=frame["episode"].map(codes)).sort_values(["episode", "date"], ignore_index=True)


def dropped(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Leave out next states and columns without a role."""
    return frame.drop(columns=["next_state", *names])


def newest_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Reverse the rows of episodes."""
    return frame.sort_values(["task", "episode", "step"], ascending=[True, True, False])


def tariffs(frame: pd.DataFrame) -> pd.DataFrame:
    """Change prices by 30 % in the second half, as a column says."""
    return change_where(frame, late(frame), reward=1.3 * frame["reward"]).assign(tariff=np.where(late(frame), "B", "A"))


HIDDEN = "hidden types of patients"

NO_TIME: dict[str, Any] = {"time": None}

DAMAGES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, Any]]] = {
    "rewards in cents, later half": (lambda f: change_where(f, late(f), reward=100 * f["reward"]), {}),
    "rewards in cents, last quarter of episodes": (
        lambda f: change_where(f, late(f, 0.75), reward=100 * f["reward"]),
        {},
    ),
    "rewards in cents, every second row": (lambda f: change_where(f, f["step"] % 2 == 1, reward=100 * f["reward"]), {}),
    "rewards with the other sign, later half": (lambda f: change_where(f, late(f), reward=-f["reward"]), {}),
    "rewards and 50, later half": (lambda f: change_where(f, late(f), reward=f["reward"] + 50), {}),
    "states recoded, later half": (lambda f: recoded(f, late(f)), {}),
    "states recoded, later half, table shuffled": (lambda f: recoded(f, late(f)).sample(frac=1, random_state=0), {}),
    "actions recoded, later half": (lambda f: change_where(f, late(f), action=A - 1 - f["action"]), {}),
    "rewards of one task with the other sign": (lambda f: change_where(f, f["task"] == 3, reward=-f["reward"]), {}),
    "rewards of one task times 100": (lambda f: change_where(f, f["task"] == 3, reward=100 * f["reward"]), {}),
    "rewards of two tasks divided by 100": (lambda f: change_where(f, f["task"] < 2, reward=f["reward"] / 100), {}),
    "newest first, dates": (lambda f: dropped(newest_first(f), "step"), NO_TIME),
    "newest first, dates with the day first": (
        lambda f: dropped(newest_first(f).assign(date=pd.to_datetime(f["date"]).dt.strftime("%d.%m.%Y")), "step"),
        NO_TIME,
    ),
    "states recoded by date, episodes renamed": (
        lambda f: renamed(recoded(f, late(f))).drop(columns="step"), {"time": "date"}
    ),
    "states recoded, last tenth": (lambda f: recoded(f, late(f, 0.9)), {}),
    "states recoded in one task, later half": (lambda f: recoded(f, late(f) & (f["task"] == 3)), {}),
    "actions recoded, first quarter": (lambda f: change_where(f, ~late(f, 0.25), action=A - 1 - f["action"]), {}),
    "rewards in cents, last tenth": (lambda f: change_where(f, late(f, 0.9), reward=100 * f["reward"]), {}),
    "newest first, steps": (lambda f: dropped(newest_first(f), "date"), NO_TIME),
    "rows mixed, steps": (lambda f: dropped(f.sample(frac=1, random_state=0), "date"), NO_TIME),
    "rows mixed, no order": (lambda f: dropped(f.sample(frac=1, random_state=0), "date", "step"), NO_TIME),
    "steps sorted as text": (
        lambda f: dropped(f.sort_values(["episode", "step"], key=lambda column: column.astype(str)), "date"),
        NO_TIME,
    ),
    "two exports merged": (lambda f: dropped(f.sort_values(["episode", "date"], key=_by_export)), NO_TIME),
    "padded and terminated": (lambda f: dropped(padded(f), "date"), {"terminated": "last"}),
    "padded and terminated, lengths differ": (lambda f: dropped(padded(shortened(f))), {"terminated": "last"}),
    "padded, lengths differ": (lambda f: padded(shortened(f)), {}),
    "padded": (lambda f: padded(f), {}),
    "reset rows": (lambda f: padded(f, first=True), {}),
    "truncated and terminated": (lambda f: f.assign(last=f["step"] == STEPS - 1), {"terminated": "last"}),
    "action of the next row": (lambda f: next_column(f, "action"), {}),
    "action of the row before": (lambda f: next_column(f, "action", 1), {}),
    "reward of the next row": (lambda f: next_column(f, "reward"), {}),
    "reward of the row before": (lambda f: next_column(f, "reward", 1), {}),
    "next states of other rows": (lambda f: f.assign(next_state=f["next_state"].sample(frac=1).to_numpy()), {}),
    "a third of rows twice": (lambda f: pd.concat([f, f[::3]]).sort_index(kind="stable"), NO_TIME),
    HIDDEN: (lambda f: f, {}),
}  # fmt: skip
"""Damages of right logs, and the columns that they are read with."""

RIGHT: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, Any]]] = {
    "ward": (lambda f: f, {}),
    "ward, no next states": (lambda f: dropped(f), {}),
    "ward, no time": (lambda f: dropped(f), NO_TIME),
    "ward, no time and no order": (lambda f: dropped(f, "step", "date"), NO_TIME),
    "ward, shuffled": (lambda f: f.sample(frac=1, random_state=0), {}),
    "ward, a task with codes of its own": (lambda f: recoded(f, f["task"] == 3), {}),
    "ward, tariffs": (tariffs, {}),
    "ward, prices of tasks": (lambda f: f.assign(reward=f["reward"] * (0.5 + 0.3 * f["task"])), {}),
}
"""Right logs, read in the same way."""


def _by_export(column: pd.Series) -> pd.Series:
    return column if column.name == "episode" else column.str[-1].astype(int) % 2


def outcome(
    frame: pd.DataFrame, gain: Callable[[np.ndarray, Log], float], time: str | None = "step", **columns: Any
) -> dict[str, Any]:
    """Return what happens to a log, and whether its limit fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            log = from_log(frame, episode="episode", time=time, **columns)
    except ValueError as error:
        return {"stopped": 1, "findings": str(error).rsplit("--accept ", 1)[-1]}
    report = horizon_report(log, GAMMA)
    if not len(report.changes):
        return {"kept": 1}
    true, lower = gain(report.recommendation.policies, log), report.improvement.lower
    if np.isnan(lower):
        return {"no_limit": 1, "loses": int(true < 0), "findings": " ".join(report.recommendation.unlimited_by)}
    return {"limit": 1, "fails": int(true < lower), "loses": int(true < 0)}


def ward_outcomes(logs: int, kind: str, *, types: int = 1) -> dict[str, Any]:
    """Count the outcomes of logs of wards; limits only of damaged ones."""
    damage, columns = (DAMAGES | RIGHT)[kind]
    outcomes = []
    for seed in range(logs):
        truth, frame = visits(seed, types)
        gain = (lambda *_: np.inf) if kind in RIGHT else partial(true_gain, truth)
        outcomes.append(outcome(damage(frame), gain, **columns))
    return _row(kind, outcomes)


def family_outcomes(logs: int, family: str) -> dict[str, Any]:
    """Count the outcomes of right logs of a family; other benchmarks measure their limits."""
    outcomes = []
    for number in range(logs):
        steps = draw_log(Cell(family, "best_10", 3000, "noise"), np.random.default_rng(number)).steps
        outcomes.append(outcome(steps, lambda *_: np.inf, time=None))
    return _row(family, outcomes)


def _row(kind: str, outcomes: list[dict[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(entry.get(name, 0) for entry in outcomes) for name in COUNTS}
    findings = dict.fromkeys(entry["findings"] for entry in outcomes if "findings" in entry)
    row = {"kind": kind, "logs": len(outcomes), **counts, "findings": ", ".join(findings)}
    print(*row.values(), flush=True)
    return row


def main() -> None:
    """Compute the table and write it."""
    parser = argparse.ArgumentParser(description="The audit of damaged and of right logs.")
    parser.add_argument("--logs", type=int, default=24, help="the damaged logs of each kind")
    parser.add_argument("--right", type=int, default=100, help="the right logs of each kind")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    jobs = [delayed(ward_outcomes)(arguments.logs, kind, types=1 + (kind == HIDDEN)) for kind in DAMAGES]
    jobs += [delayed(ward_outcomes)(arguments.right, kind) for kind in RIGHT]
    jobs += [delayed(family_outcomes)(arguments.right, family) for family in FAMILIES]
    table = pd.DataFrame([*Parallel(n_jobs=arguments.processes)(jobs)])
    table.insert(0, "group", ["damaged"] * len(DAMAGES) + ["ward"] * len(RIGHT) + ["families"] * len(FAMILIES))
    table.to_csv(arguments.output, index=False)


if __name__ == "__main__":
    main()
