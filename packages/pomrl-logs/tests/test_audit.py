"""The audit of logs: each kind of fault is named, right logs pass, and limits hold where the truth is known."""

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pomrl_logs
from pomrl_logs.association import associate, moments
from pomrl_logs.duplicates import find_repeats
from pomrl_logs.findings import KINDS, LogWarning
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

TASKS, S, A, GAMMA = 6, 4, 3, 0.9
STATES, ACTIONS = [f"severity {s}" for s in range(S)], ["none", "pill", "surgery"]


def world(seed: int, *, old: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Models P[age, k, s, a, s'], rewards R[s, a] and decisions π[age, s, a] of clinics; age 1 is old.

    Old patients get worse more often, by a factor exp(old), and surgery more often, by as much.
    """
    rng = np.random.default_rng(seed)
    base = rng.dirichlet(np.full(S, 2.0), (S, A))
    P = np.stack([[rng.dirichlet(30 * row + 0.1) for row in base.reshape(-1, S)] for _ in range(TASKS)])
    P = P.reshape(TASKS, S, A, S)
    tilt = np.exp(old * np.array([[-1.0], [1.0]]) * np.arange(S))[:, None, None, None]
    models = P[None] * tilt
    chance = np.array([0.6, 0.3, 0.1]) * np.exp(old * np.array([[-1.0], [1.0]]) * np.arange(A))
    chance /= chance.sum(-1, keepdims=True)
    return models / models.sum(-1, keepdims=True), -10.0 * np.arange(S)[:, None] - np.array([0.0, 1.0, 4.0]), chance


def visits(seed: int, steps: int = 300, length: int = 15, *, old: float = 0.0) -> pd.DataFrame:
    """A log of patients of clinics, with the columns day, age and ward, which no argument names."""
    P, R, chance = world(seed, old=old)
    rng, rows = np.random.default_rng([seed, 1]), []
    for k, patient in itertools.product(range(TASKS), range(steps // length)):
        age, s = int(rng.random() < 0.5), int(rng.integers(S))
        for day in range(length):
            a = rng.choice(A, p=chance[age])
            t = rng.choice(S, p=P[age, k, s, a])
            rows.append(
                (f"clinic {k}", patient, day, STATES[s], ACTIONS[a], R[s, a], STATES[t], 40 + 35 * age, rng.integers(5))
            )
            s = t
    columns = ["task", "patient", "day", "state", "action", "reward", "next_state", "age", "ward"]
    return pd.DataFrame(rows, columns=columns)


def read(frame: pd.DataFrame, **columns: str) -> Log:
    return read_log(frame, ColumnRoles(**columns))


def named(log: Log) -> list[str]:
    return [finding.name for finding in log.findings]


EPISODES = {"episode": "patient"}
ORDERED = {"episode": "patient", "time": "day"}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("columns", [{}, EPISODES, ORDERED], ids=["alone", "episodes", "times"])
def test_right_logs_pass(seed: int, columns: dict[str, str]):
    frame = visits(seed)
    for rows in (frame, frame.sample(frac=1.0, random_state=seed)):
        log = read(rows, **columns)
        assert log.findings == ()
        (line,) = log.audit
        assert line.startswith("The audit of 1,800 transitions found no problems. The rewards 'reward' (-34 to")
        assert line.endswith("are maximised; if lower is better, write --cost.")


def test_independent_rows_pass_in_any_order():
    frame = visits(3, 900)
    for columns in (["task", "state"], ["state", "task"], ["task", "state", "action"], ["next_state"]):
        assert read(frame.sort_values(columns, kind="stable")).findings == ()


def part_of(frame: pd.DataFrame, where: pd.Series, values: pd.Series) -> pd.DataFrame:
    return frame.assign(next_state=np.where(where, values, frame["next_state"])).dropna()


CHAIN = "is the state (of its own row|two rows later|three rows later|one row earlier)"
STOPS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "one row late": (lambda f: f.assign(next_state=f["next_state"].shift(-1)).dropna(), CHAIN),
    "one row late in each episode": (
        lambda f: f.assign(next_state=f.groupby(["task", "patient"])["next_state"].shift(-1)).dropna(),
        CHAIN,
    ),
    "two rows late": (lambda f: f.assign(next_state=f["next_state"].shift(-2)).dropna(), CHAIN),
    "the state before": (lambda f: f.assign(next_state=f["state"].shift(1)).dropna(), CHAIN),
    "its own state": (lambda f: f.assign(next_state=f["state"]), CHAIN),
    "its own state in some tasks": (lambda f: part_of(f, f["task"] < "clinic 2", f["state"]), CHAIN),
    "one row late in some tasks": (lambda f: part_of(f, f["task"] < "clinic 2", f["next_state"].shift(-1)), CHAIN),
    "another coding": (
        lambda f: f.assign(next_state=f["next_state"].str[-1]),
        "no next state occurs as a state: .*--ends",
    ),
    "other letters": (lambda f: f.assign(next_state=f["next_state"].str.upper()), "no next state occurs as a state"),
    "dates as rewards": (
        lambda f: f.assign(reward=pd.Timestamp("2025-01-01") + pd.to_timedelta(f["day"], "D")),
        "row 0: the value .* of 'reward' is a date, not a number",
    ),
    "dates as whole numbers": (lambda f: f.assign(reward=20250101 + f["day"]), "look like dates"),
    "dates with hours as whole numbers": (
        lambda f: f.assign(reward=202501011200 + 10000 * f["day"]),
        "look like dates",
    ),
    "seconds since 1970": (lambda f: f.assign(reward=1_735_689_600 + 86_400 * f["day"]), "look like dates"),
    "milliseconds since 1970": (
        lambda f: f.assign(reward=1_735_689_600_000 + 86_400_000 * f["day"]),
        "look like dates",
    ),
    "rewards that are too large": (
        lambda f: f.assign(reward=f["reward"] * 1e200),
        "large that its square overflows",
    ),
    "rewards that are too small": (
        lambda f: f.assign(reward=f["reward"] * 1e-200),
        "that its square underflows",
    ),
}


@pytest.mark.parametrize("fault", STOPS)
@pytest.mark.parametrize("columns", [{}, EPISODES], ids=["alone", "episodes"])
def test_what_makes_advice_void_stops_it(fault: str, columns: dict[str, str]):
    damage, line = STOPS[fault]
    for seed in range(2):
        with pytest.raises(ValueError, match=line) as raised:
            read(damage(visits(seed)), **columns)
        assert "\n" not in str(raised.value)


def test_what_is_meant_is_accepted():
    frame = visits(0).assign(next_state=visits(0)["state"])
    with pytest.raises(ValueError, match="if this is intended, add --accept chain"):
        pomrl_logs.from_log(frame)
    assert pomrl_logs.from_log(frame, accept=["chain"]).findings == ()
    with pytest.raises(ValueError, match=r"unknown finding 'chains' in accept; available: chain, coding, "):
        pomrl_logs.from_log(frame, accept=["chains"])


def permuted(values: pd.Series) -> pd.Series:
    return values.sample(frac=1.0, random_state=0).set_axis(values.index)


NAMED: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str, str]] = {
    "some next states of other rows": (
        lambda f: part_of(f, pd.Series(np.arange(len(f)) % 10 < 3), permuted(f["next_state"])),
        "breaks",
        "is not the state of the next row in .*: add --episode if episodes begin there",
    ),
    "all next states of other rows": (
        lambda f: f.assign(next_state=permuted(f["next_state"])),
        "independent",
        "is independent of states and actions in 1,800 rows",
    ),
    "actions one row late": (
        lambda f: f.assign(action=f.groupby(["task", "patient"])["action"].shift(-1)).dropna(),
        "shifted",
        "the action of the previous row is associated with the outcome",
    ),
    "rewards one row late": (
        lambda f: f.assign(reward=f.groupby(["task", "patient"])["reward"].shift(-1)).dropna(),
        "shifted",
        "'reward' is associated with the action of the next row",
    ),
    "a table three times": (lambda f: pd.concat([f] * 3), "repeats", "3600 of 5400 rows repeat earlier rows"),
    "a table three times, with numbered rows": (
        lambda f: pd.concat([f] * 3).assign(number=np.arange(3 * len(f))),
        "repeats",
        "3600 of 5400 rows repeat earlier rows, equal in all columns except 'number'",
    ),
    "three exports": (
        lambda f: pd.concat([f.assign(export=f"of day {day}") for day in range(3)]),
        "repeats",
        "3600 of 5400 rows repeat earlier rows, equal in all columns except 'export'",
    ),
    "a clinic under another name": (
        lambda f: pd.concat([f, f[f["task"] == "clinic 3"].assign(task="clinic 9")]),
        "repeats",
        "300 of 2100 rows repeat earlier rows, equal in all columns except 'task'",
    ),
    "each row three times": (lambda f: f.loc[f.index.repeat(3)], "repeats", "3600 of 5400 rows repeat earlier rows"),
    "all rows twice, shuffled": (
        lambda f: pd.concat([f] * 2).sample(frac=1.0, random_state=0),
        "repeats",
        "1800 of 3600 rows repeat earlier rows",
    ),
    "a part twice": (lambda f: pd.concat([f, f[600:]]), "repeats", "1200 of 3000 rows repeat earlier rows"),
    "some rows twice": (
        lambda f: pd.concat([f, f[::5]]).sample(frac=1.0, random_state=0),
        "copies",
        "360 of 2160 rows equal earlier rows in all columns",
    ),
    "rewards beside a large number": (
        lambda f: f.assign(reward=f["reward"] + 1e9),
        "offset",
        "the rewards 'reward' average 1e.09, but differ by at most 34",
    ),
}


@pytest.mark.parametrize("fault", NAMED)
def test_each_finding_stops_or_removes_the_limit_or_is_a_note(fault: str):
    damage, name, line = NAMED[fault]
    frame = damage(visits(0)).reset_index(drop=True)
    if KINDS[name][0] == "stops":
        with pytest.raises(ValueError, match=f"{line}.*add --accept {name}"):
            read(frame)
        return
    log = read(frame)
    assert any(finding.name == name and re.search(line, finding.line) for finding in log.findings)
    report = pomrl_logs.horizon_report(log, GAMMA)
    has_limit = KINDS[name][0] == "note" or not report.recommendation.changed.any()
    assert np.isfinite(report.improvement.lower) == has_limit
    assert ("benchmark" in report.recommendation.words) == (has_limit and report.recommendation.changed.any())


def test_a_finding_without_limit_is_named_where_the_limit_stood():
    log = read(visits(0, 900, old=0.7), **EPISODES)
    report = pomrl_logs.horizon_report(log, GAMMA)
    assert report.recommendation.changed.any()
    assert "with no limit, because of the audit (column)" in report.recommendation.words
    assert set(report.gains["lower"]) == {"no limit"}
    assert report.warnings == []


DAY = np.datetime64("2024-01-01")
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
        read(damage(visits(0)), **EPISODES, **columns)


RIGHT: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "prices of tasks": lambda f: f.assign(reward=f["reward"] * (1.0 + f["task"].str[-1].astype(int))),
    "a task with codes of its own": lambda f: f.assign(
        state=swapped(f["state"], f["task"] == "clinic 3"), next_state=swapped(f["next_state"], f["task"] == "clinic 3")
    ),
    "tariffs in a column": lambda f: f.assign(
        reward=np.where(later(f), 1.3, 1.0) * f["reward"], tariff=np.where(later(f), "new", "old")
    ),
    "prices rise a little": lambda f: f.assign(reward=np.where(later(f), 1.01, 1.0) * f["reward"].round()),
    "an age which rises": lambda f: f.assign(age=f["patient"] + f["day"] / 365),
}


@pytest.mark.parametrize("kind", RIGHT)
def test_right_logs_of_many_prices_and_codes_pass(kind: str):
    assert read(RIGHT[kind](visits(0)), **EPISODES).findings == ()


def test_a_column_which_orders_all_episodes_is_a_note():
    log = read(without_next(visits(0)), **EPISODES)
    assert {finding.effect for finding in log.findings} == {"note"}
    assert "the rows of episodes are in the order of 'day'" in log.audit


def test_episodes_that_end_at_their_goal_are_no_truncations():
    rng, rows = np.random.default_rng(1), []
    for episode, step in itertools.product(range(300), range(10)):
        if step == 0 or not rows[-1][-1]:
            action = rng.choice(["x", "y"])
            hit = action == "y" and rng.random() < 0.5
            rows.append((episode, "a", action, float(hit), "goal" if hit else "a", hit))
    frame = pd.DataFrame(rows, columns=["patient", "state", "action", "reward", "next_state", "done"])
    assert named(read(frame, **EPISODES, terminated="done")) == ["task"]


OF_EPISODES: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "one row late, and shuffled": (
        lambda f: (
            f.assign(next_state=f.groupby(["task", "patient"])["next_state"].shift(-1))
            .dropna()
            .sample(frac=1.0, random_state=0)
        ),
        "is not the state of the next row in any order of the rows of episodes",
    ),
    "the last state of the episode": (
        lambda f: f.assign(next_state=f.groupby(["task", "patient"])["next_state"].transform("last")),
        "is not the state of the next row in any order of the rows of episodes",
    ),
    "the next row's state, across episodes": (
        lambda f: f.assign(next_state=f["state"].shift(-1)).dropna(),
        "of the last row of an episode is the first state of the next episode in 100% of episodes",
    ),
}


@pytest.mark.parametrize("fault", OF_EPISODES)
def test_next_states_that_are_no_chain_of_episodes_stop(fault: str):
    damage, line = OF_EPISODES[fault]
    with pytest.raises(ValueError, match=f"{line}.*--accept breaks"):
        read(damage(visits(1)), **EPISODES)


def test_what_is_in_no_column_shows_in_the_rows_before():
    hidden = visits(0, 900, old=0.7).drop(columns="age")
    for columns in ({}, EPISODES):
        log = read(hidden, **columns)
        assert named(log) == ["history"]
        assert "where state and action are equal" in log.audit[0]


def test_copies_are_counted_once():
    frame = visits(0)
    right = read(frame)
    for copies in (pd.concat([frame] * 3), frame.loc[frame.index.repeat(3)], pd.concat([frame, frame[600:]])):
        log = read(copies.reset_index(drop=True))
        np.testing.assert_array_equal(log.counts, right.counts)
    counted = read_log(pd.concat([frame] * 3), ColumnRoles(), accept=["repeats"])
    np.testing.assert_array_equal(counted.counts, 3 * right.counts)


def test_worlds_without_chance_repeat_by_themselves():
    cycle = np.tile(np.arange(12), 200)
    assert not find_repeats(cycle).any()
    rng = np.random.default_rng(0)
    few = rng.integers(0, 3, 5000)
    assert not find_repeats(few).any()
    assert find_repeats(np.concatenate([rng.integers(0, 50, 500)] * 2)).sum() == 500


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_drives_action_and_course_is_named(seed: int):
    log = read(visits(seed, 900, old=0.7), **EPISODES)
    assert named(log) == ["column"]
    assert "the column 'age' is associated with the action" in log.audit[0]
    assert "write --state state,age" in log.audit[0]
    missing = visits(seed, 900, old=0.7).assign(age=lambda f: f["age"].where(f["age"] > 60))
    assert named(read(missing, **EPISODES)) == ["column"]  # whether it is missing says all
    with_age = read_log(visits(seed, 900, old=0.7), ColumnRoles(state=["state", "age"], **EPISODES))
    assert with_age.findings == ()
    assert with_age.states[0] == ("severity 0", 40)


def test_numbers_in_a_state_are_put_into_bins():
    rng = np.random.default_rng(0)
    frame = visits(0, 900, old=0.7)
    frame["age"] += frame.groupby(["task", "patient"])["age"].transform(lambda ages: rng.integers(-9, 10))
    log = read(frame, **EPISODES)
    assert "write --state state,age --bins age=4" in log.audit[0]
    binned = read_log(frame, ColumnRoles(state=["state", "age"], **EPISODES), bins={"age": 2})
    assert len(binned.states) == 2 * S
    assert binned.findings == ()
    names = read(frame.assign(age="doctor " + frame["age"].astype(str)), **EPISODES)
    assert names.audit[0].endswith("write --state state,age")


@pytest.mark.parametrize(
    "column",
    [
        lambda f: f["action"].map({"none": 0, "pill": 1, "surgery": 2}),  # says the same as the action
        lambda f: -f["reward"],
        lambda f: f["next_state"].str[-1],  # recorded after the action
        lambda f: f["action"] + permuted(f["action"]).str[:1],  # goes with the action alone
        lambda f: f["state"] + f["task"],
        lambda f: np.arange(len(f)),
        lambda f: [f"note {i}" for i in range(len(f))],
        lambda f: [[i] for i in range(len(f))],  # cannot be compared
    ],
)
def test_columns_that_say_nothing_new_are_no_finding(column: Callable[[pd.DataFrame], Any]):
    frame = visits(1)
    assert read(frame.assign(further=column(frame))).findings == ()


def test_few_associations_are_found_where_there_are_none():
    rng, p = np.random.default_rng(0), []
    for _ in range(400):
        stratum, x, y = (
            rng.integers(0, 40, 400),
            rng.integers(0, 4, 400),
            rng.choice(5, 400, p=[0.7, 0.2, 0.05, 0.03, 0.02]),
        )
        p.append(associate(x, y, stratum).p)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)


def test_the_moments_of_chi_square_are_those_over_all_permutations():
    x, y = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 1, 0])
    n, sizes = len(x), (np.bincount(x), np.bincount(y))

    def chi_square(order: tuple[int, ...]) -> float:
        counts = np.zeros((3, 3))
        np.add.at(counts, (x[list(order)], y), 1)
        return n * ((counts**2 / np.outer(*sizes)).sum() - 1.0)

    of_all = [chi_square(order) for order in itertools.permutations(range(n))]
    mean, variance = moments(*(np.array([value]) for value in (n, 3, 3, *((1 / size).sum() for size in sizes))))
    assert mean[0] == pytest.approx(np.mean(of_all))
    assert variance[0] == pytest.approx(np.var(of_all))


def test_costs_are_asked_for():
    frame = visits(0).assign(cost=-visits(0)["reward"])
    with pytest.raises(ValueError, match=r"look like costs, but are maximised .*: write --cost cost"):
        pomrl_logs.from_log(frame.drop(columns="reward"), reward="cost")
    np.testing.assert_array_equal(
        pomrl_logs.from_log(frame.drop(columns="reward"), cost="cost").reward, frame["reward"]
    )
    credit = frame["cost"].where(np.arange(len(frame)) != 5, -1.0)
    for name in ("costUSD", "total_fees", "regret"):
        with pytest.raises(ValueError, match=f"are mostly positive, .*: write --cost {name}"):
            pomrl_logs.from_log(frame.assign(**{name: credit}), reward=name)
    assert pomrl_logs.from_log(frame.assign(feedback=credit), reward="feedback").findings == ()
    with pytest.raises(ValueError, match=r"are all negative, .*: write --reward cost"):
        pomrl_logs.from_log(frame.drop(columns="reward").assign(cost=frame["reward"]), cost="cost")
    with pytest.raises(ValueError, match="rewards or costs, got both"):
        pomrl_logs.from_log(frame, cost="cost", reward="reward")


def test_advice_depends_on_no_unit_and_on_no_common_part_of_rewards():
    frame = visits(0)
    right = pomrl_logs.horizon_report(read(frame), GAMMA)
    small = pomrl_logs.horizon_report(read(frame.assign(reward=frame["reward"] * 1e-12)), GAMMA)
    shifted = pomrl_logs.horizon_report(read(frame.assign(reward=frame["reward"] + 1e9)), GAMMA)
    assert right.improvement.lower > 0.0
    for report, unit in ((small, 1e-12), (shifted, 1.0)):
        np.testing.assert_array_equal(report.recommendation.policies, right.recommendation.policies)
        assert report.improvement.lower / unit == pytest.approx(right.improvement.lower, rel=1e-5)


def test_warnings_are_lines_alone():
    with pytest.warns(LogWarning, match="the column 'age' is associated") as said:
        pomrl_logs.from_log(visits(0, 900, old=0.7), episode="patient")
    assert [str(each.message).count("\n") for each in said] == [0]
