"""Damage of the order of rows, of rows and of columns stops advice, and right logs pass."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from clinic_logs import EPISODES, finding_names, load_log, visits

MIXED = np.random.default_rng(0).permutation(1800)


def later(frame: pd.DataFrame) -> pd.Series:
    return frame["patient"] >= 10


def swapped(values: pd.Series, where: pd.Series) -> pd.Series:
    order = sorted(values.unique())
    return values.where(~where, values.map(dict(zip(order, reversed(order), strict=True))))


def padded(frame: pd.DataFrame, last: bool = True) -> pd.DataFrame:
    """Add a row without decision for the last or the first state of each episode."""
    edge = frame[frame["day"] == (14 if last else 0)]
    edge = edge.assign(action="none", reward=0.0, day=15 if last else -1, done=1)
    edge = edge.assign(state=edge["next_state" if last else "state"], next_state=edge["state"])
    return pd.concat([frame.assign(done=0), edge]).sort_values(["task", "patient", "day"], ignore_index=True)


def with_totals(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a row with the sum of rewards to each episode."""
    total = frame.groupby(["task", "patient"], sort=False)["reward"].sum().to_numpy()
    last = frame[frame["day"] == 14].assign(day=15, reward=total, state=lambda rows: rows["next_state"])
    return pd.concat([frame, last]).sort_values(["task", "patient", "day"], ignore_index=True)


def without_next(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    return frame.drop(columns=["next_state", *names])


def by_day(frame: pd.DataFrame, key: Callable[[pd.Series], pd.Series]) -> pd.DataFrame:
    return without_next(frame.assign(order=key(frame["day"])).sort_values(["task", "patient", "order"]), "order")


STOPS_EPISODES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, str], str]] = {
    "newest first": (lambda f: by_day(f, lambda day: -day), {}, "'day', which falls in 100% of episodes"),
    "newest first, by date": (
        lambda f: by_day(f.assign(date=[f"{day + 1:02d}.11.2024" for day in f["day"]]), lambda day: -day),
        {},
        "'date', which falls in 100% of episodes .*add --time date",
    ),
    "newest first, by other dates": (
        lambda f: by_day(f.assign(at=[f"{day + 1:02d}-Nov-2024 08:30 AM" for day in f["day"]]), lambda day: -day),
        {},
        "add --time at",
    ),
    "newest first, a date missing": (
        lambda f: by_day(f.assign(at=f["day"].map("2024-11-{:02d}".format).where(f["day"] != 3)), lambda day: -day),
        {},
        "add --time",
    ),
    "newest first, by weeks": (
        lambda f: by_day(f.assign(week=f["day"].map("2024-W{:02d}".format)), lambda day: -day).drop(columns="day"),
        {},
        "'week', which falls in 100% of episodes",
    ),
    "text order of numbers": (lambda f: by_day(f, lambda day: day.astype(str)), {}, "'day', which rises and falls"),
    "two exports": (lambda f: by_day(f, lambda day: day % 2 * 99 + day), {}, "'day', which rises and falls"),
    "mixed": (lambda f: without_next(f.iloc[MIXED]), {}, "add --time day"),
    "mixed, without an order": (lambda f: without_next(f.iloc[MIXED], "day"), {}, "name the column of their order"),
    "padded and terminated": (padded, {"terminated": "done"}, "all 120 last rows .* --terminated"),
    "padded": (padded, {}, "all 120 last rows .* same action and the reward 0"),
    "totals": (with_totals, {}, "the sum of the earlier ones in 100% of episodes"),
    "reset rows": (lambda f: padded(f, last=False), {}, "all 120 first rows"),
    "truncated": (
        lambda f: f.assign(done=f["day"] == 14),
        {"terminated": "done"},
        "all 120 episodes of the largest length, 15 rows, are marked as terminated",
    ),
    "cents, later": (
        lambda f: f.assign(reward=np.where(later(f), 100, 1) * f["reward"]),
        {},
        "equal states and actions are 100 times as large in the later half",
    ),
    "another sign, later": (
        lambda f: f.assign(reward=np.where(later(f), -1, 1) * f["reward"]),
        {},
        "the opposite order and sign",
    ),
    "cents in one task": (
        lambda f: f.assign(reward=np.where(f["task"] == "clinic 3", 100, 1) * f["reward"]),
        {},
        "of one task are 100 times as large as those",
    ),
    "another sign in one task": (
        lambda f: f.assign(reward=np.where(f["task"] == "clinic 3", -1, 1) * f["reward"]),
        {},
        "rank states and actions",
    ),
    "another sign in three tasks": (
        lambda f: f.assign(reward=np.where(f["task"].str[-1].astype(int) < 3, -1, 1) * f["reward"]),
        {},
        "rank states and actions",
    ),
    "several clinics without --task, one after another": (
        lambda f: f.assign(
            clinic=f.pop("task"),
            state=swapped(f["state"], f["patient"] >= 10),
            next_state=swapped(f["next_state"], f["patient"] >= 10),
            ward=np.where(f["patient"] >= 10, "b", "a"),
        ).sort_values("ward", kind="stable", ignore_index=True),
        {},
        "'ward' explains it: add --task ward",
    ),
    "states recoded, later": (
        lambda f: f.assign(state=swapped(f["state"], later(f)), next_state=swapped(f["next_state"], later(f))),
        {},
        "equal states and actions lead elsewhere in the later half",
    ),
}


@pytest.mark.parametrize("fault", STOPS_EPISODES)
def test_damage_of_order_rows_and_columns_stops(fault: str):
    damage, columns, line = STOPS_EPISODES[fault]
    with pytest.raises(ValueError, match=line):
        load_log(damage(visits(0)), **EPISODES, **columns)


RIGHT: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "prices of tasks": lambda f: f.assign(reward=f["reward"] * (1.0 + f["task"].str[-1].astype(int))),
    "a task with codes of its own": lambda f: f.assign(
        state=swapped(f["state"], f["task"] == "clinic 3"), next_state=swapped(f["next_state"], f["task"] == "clinic 3")
    ),
    "tariffs in a column": lambda f: f.assign(
        reward=np.where(later(f), 1.3, 1.0) * f["reward"], tariff=np.where(later(f), "new", "old")
    ),
    "prices rise a little": lambda f: f.assign(reward=np.where(f["patient"] >= 30, 1.05, 1.0) * f["reward"]),
    "an age which rises": lambda f: f.assign(age=f["patient"] + f["day"] / 365),
}


@pytest.mark.parametrize("kind", RIGHT)
def test_logs_of_prices_and_codes_pass(kind: str):
    assert load_log(RIGHT[kind](visits(0, 900)), **EPISODES).findings == ()


def test_an_ordering_column_is_a_note():
    log = load_log(without_next(visits(0)), **EPISODES)
    assert {finding.effect for finding in log.findings} == {"note"}
    assert "the rows of episodes are in the order of 'day'" in log.audit


def test_ends_at_goals_are_no_truncations():
    rng, rows = np.random.default_rng(1), []
    for episode, step in itertools.product(range(300), range(10)):
        if step == 0 or not rows[-1][-1]:
            action = rng.choice(["x", "y"])
            hit = action == "y" and rng.random() < 0.5
            rows.append((episode, "a", action, float(hit), "goal" if hit else "a", hit))
    frame = pd.DataFrame(rows, columns=["patient", "state", "action", "reward", "next_state", "done"])
    assert finding_names(load_log(frame, **EPISODES, terminated="done")) == ["task"]
