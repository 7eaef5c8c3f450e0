"""The audit of logs: each kind of fault is named, right logs pass, and limits hold where the truth is known."""

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from clinic_logs import EPISODES, GAMMA, ORDERED, S, finding_names, load_log, visits

import pomrl_logs
from pomrl_logs.association import associate, moments
from pomrl_logs.duplicates import find_repeats
from pomrl_logs.findings import KINDS, LogWarning
from pomrl_logs.log_tables import ColumnRoles, read_log


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("columns", [{}, EPISODES, ORDERED], ids=["alone", "episodes", "times"])
def test_right_logs_pass(seed: int, columns: dict[str, str]):
    frame = visits(seed)
    for rows in (frame, frame.sample(frac=1.0, random_state=seed)):
        log = load_log(rows, **columns)
        assert log.findings == ()
        (line,) = log.audit
        assert line.startswith("The audit of 1,800 transitions found no problems. The rewards 'reward' (-34 to")
        assert line.endswith("are maximised; if lower is better, write --cost.")


def test_independent_rows_pass_in_any_order():
    frame = visits(3, 900)
    for columns in (["task", "state"], ["state", "task"], ["task", "state", "action"], ["next_state"]):
        assert load_log(frame.sort_values(columns, kind="stable")).findings == ()


def partial_next_states(frame: pd.DataFrame, where: pd.Series, values: pd.Series) -> pd.DataFrame:
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
    "its own state in some tasks": (lambda f: partial_next_states(f, f["task"] < "clinic 2", f["state"]), CHAIN),
    "one row late in some tasks": (
        lambda f: partial_next_states(f, f["task"] < "clinic 2", f["next_state"].shift(-1)),
        CHAIN,
    ),
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
            load_log(damage(visits(seed)), **columns)
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
        lambda f: partial_next_states(f, pd.Series(np.arange(len(f)) % 10 < 3), permuted(f["next_state"])),
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
def test_findings_stop_warn_or_note(fault: str):
    damage, name, line = NAMED[fault]
    frame = damage(visits(0)).reset_index(drop=True)
    if KINDS[name][0] == "stops":
        with pytest.raises(ValueError, match=f"{line}.*add --accept {name}"):
            load_log(frame)
        return
    log = load_log(frame)
    assert any(finding.name == name and re.search(line, finding.line) for finding in log.findings)
    report = pomrl_logs.horizon_report(log, GAMMA)
    has_limit = KINDS[name][0] == "note" or not report.recommendation.changed.any()
    assert np.isfinite(report.improvement.lower) == has_limit
    assert ("benchmark" in report.recommendation.words) == (has_limit and report.recommendation.changed.any())


def test_limitless_findings_are_named():
    log = load_log(visits(0, 900, old=0.7), **EPISODES)
    report = pomrl_logs.horizon_report(log, GAMMA)
    assert report.recommendation.changed.any()
    assert "with no limit, because of the audit (column)" in report.recommendation.words
    assert set(report.gains["lower"]) == {"no limit"}
    assert report.warnings == []


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
def test_broken_chains_of_episodes_stop(fault: str):
    damage, line = OF_EPISODES[fault]
    with pytest.raises(ValueError, match=f"{line}.*--accept breaks"):
        load_log(damage(visits(1)), **EPISODES)


def test_hidden_columns_show_in_the_history():
    hidden = visits(0, 900, old=0.7).drop(columns="age")
    for columns in ({}, EPISODES):
        log = load_log(hidden, **columns)
        assert finding_names(log) == ["history"]
        assert "where state and action are equal" in log.audit[0]


def test_copies_are_counted_once():
    frame = visits(0)
    right = load_log(frame)
    for copies in (pd.concat([frame] * 3), frame.loc[frame.index.repeat(3)], pd.concat([frame, frame[600:]])):
        log = load_log(copies.reset_index(drop=True))
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
def test_confounding_columns_are_named(seed: int):
    log = load_log(visits(seed, 900, old=0.7), **EPISODES)
    assert finding_names(log) == ["column"]
    assert "the column 'age' is associated with the action" in log.audit[0]
    assert "write --state state,age" in log.audit[0]
    missing = visits(seed, 900, old=0.7).assign(age=lambda f: f["age"].where(f["age"] > 60))
    assert finding_names(load_log(missing, **EPISODES)) == ["column"]  # whether it is missing says all
    with_age = read_log(visits(seed, 900, old=0.7), ColumnRoles(state=["state", "age"], **EPISODES))
    assert with_age.findings == ()
    assert with_age.states[0] == ("severity 0", 40)


def test_numbers_in_states_get_bins():
    rng = np.random.default_rng(0)
    frame = visits(0, 900, old=0.7)
    frame["age"] += frame.groupby(["task", "patient"])["age"].transform(lambda ages: rng.integers(-9, 10))
    log = load_log(frame, **EPISODES)
    assert "write --state state,age --bins age=4" in log.audit[0]
    binned = read_log(frame, ColumnRoles(state=["state", "age"], **EPISODES), bins={"age": 2})
    assert len(binned.states) == 2 * S
    assert binned.findings == ()
    names = load_log(frame.assign(age="doctor " + frame["age"].astype(str)), **EPISODES)
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
def test_uninformative_columns_are_no_finding(column: Callable[[pd.DataFrame], Any]):
    frame = visits(1)
    assert load_log(frame.assign(further=column(frame))).findings == ()


def test_false_associations_are_rare():
    rng, p = np.random.default_rng(0), []
    for _ in range(400):
        stratum, x, y = (
            rng.integers(0, 40, 400),
            rng.integers(0, 4, 400),
            rng.choice(5, 400, p=[0.7, 0.2, 0.05, 0.03, 0.02]),
        )
        p.append(associate(x, y, stratum).p)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.035)


def test_chi_square_moments_match_permutations():
    x, y = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 2, 1, 0])
    n, sizes = len(x), (np.bincount(x), np.bincount(y))

    def chi_square(order: tuple[int, ...]) -> float:
        counts = np.zeros((3, 3))
        np.add.at(counts, (x[list(order)], y), 1)
        return n * ((counts**2 / np.outer(*sizes)).sum() - 1.0)

    values = [chi_square(order) for order in itertools.permutations(range(n))]
    mean, variance = moments(*(np.array([value]) for value in (n, 3, 3, *((1 / size).sum() for size in sizes))))
    assert mean[0] == pytest.approx(np.mean(values))
    assert variance[0] == pytest.approx(np.var(values))


def test_costs_are_asked_for():
    frame = visits(0).assign(cost=-visits(0)["reward"])
    with pytest.raises(ValueError, match=r"--cost cost\b"):
        pomrl_logs.from_log(frame.drop(columns="reward"), reward="cost")
    np.testing.assert_array_equal(
        pomrl_logs.from_log(frame.drop(columns="reward"), cost="cost").reward, frame["reward"]
    )
    credit = frame["cost"].where(np.arange(len(frame)) != 5, -1.0)
    for name in ("costUSD", "total_fees", "regret"):
        with pytest.raises(ValueError, match=rf"--cost {name}\b"):
            pomrl_logs.from_log(frame.assign(**{name: credit}), reward=name)
    assert pomrl_logs.from_log(frame.assign(feedback=credit), reward="feedback").findings == ()
    with pytest.raises(ValueError, match=r"--reward cost\b"):
        pomrl_logs.from_log(frame.drop(columns="reward").assign(cost=frame["reward"]), cost="cost")
    with pytest.raises(ValueError, match="--reward and --cost"):
        pomrl_logs.from_log(frame, cost="cost", reward="reward")


def test_advice_does_not_depend_on_units():
    frame = visits(0)
    right = pomrl_logs.horizon_report(load_log(frame), GAMMA)
    small = pomrl_logs.horizon_report(load_log(frame.assign(reward=frame["reward"] * 1e-12)), GAMMA)
    shifted = pomrl_logs.horizon_report(load_log(frame.assign(reward=frame["reward"] + 1e9)), GAMMA)
    assert right.improvement.lower > 0.0
    for report, unit in ((small, 1e-12), (shifted, 1.0)):
        np.testing.assert_array_equal(report.recommendation.policies, right.recommendation.policies)
        assert report.improvement.lower / unit == pytest.approx(right.improvement.lower, rel=1e-5)


def test_warnings_are_lines_alone():
    with pytest.warns(LogWarning, match="the column 'age' is associated") as output:
        pomrl_logs.from_log(visits(0, 900, old=0.7), episode="patient")
    assert [str(warning.message).count("\n") for warning in output] == [0]
