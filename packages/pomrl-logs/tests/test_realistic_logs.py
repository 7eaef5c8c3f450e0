"""Logs as people export them: from the file to advice in one command; codes of missing values, copies and dates."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from clinic_logs import S, visits
from test_horizon_command import horizon

from pomrl_logs import horizon_report
from pomrl_logs.log_tables import ColumnRoles, read_log
from pomrl_logs.logs import Log

CARE = {"none": "watchful waiting", "pill": "tablets", "surgery": "operation; day care"}


def export(seed: int = 1) -> pd.DataFrame:
    """An export of 2,400 visits to six clinics: German dates and numbers, ids, free text and missing values."""
    rng, frame = np.random.default_rng([seed, 2]), visits(seed, steps=400, length=20)
    first = pd.Timestamp("2024-01-08") + pd.to_timedelta(rng.integers(0, 300, 200)[frame["patient"]], "D")
    dates = first + pd.to_timedelta(7 * frame["day"] + rng.integers(0, 3, len(frame)), "D")
    euros = (1000 * frame["reward"] + 0.5).map(lambda value: f"{value:,.2f}".translate(str.maketrans(",.", ".,")))
    table = pd.DataFrame(
        {
            "visit_id": rng.permutation(10_000)[: len(frame)],
            "clinic": frame["task"],
            "patient": frame["task"].str[-1] + "/" + frame["patient"].astype(str),
            "date": dates.dt.strftime("%d.%m.%Y"),
            "severity": frame["state"],
            "care": frame["action"].map(CARE),
            "euros": euros,
            "age": frame["age"],
            "remarks": rng.choice(["", "called back", 'said "fine"; see file', "late, 20 min"], len(frame)),
        }
    )
    table.loc[rng.choice(len(table), 12, replace=False), "severity"] = "NA"
    return table.sample(frac=1.0, random_state=seed)


ROLES = {"task": "clinic", "state": "severity", "action": "care", "reward": "euros", "episode": "patient"}


def test_exports_lead_to_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    export().to_csv(tmp_path / "visits.csv", sep=";", index=False, encoding="utf-8-sig")
    arguments = [argument for role, column in ROLES.items() for argument in (f"--{role}", column)]
    horizon(
        "visits.csv", *arguments, "--time", "date", "--missing", "NA", "--gamma-eval", "0.9",
        monkeypatch=monkeypatch, folder=tmp_path,
    )  # fmt: skip
    printed = " ".join(capsys.readouterr().out.split())
    assert "12 rows with missing values are left out and end their episodes there" in printed
    assert "'date' has dates of the form %d.%m.%Y" in printed
    assert "'euros' has decimal commas, or marks of thousands" in printed
    assert "decisions" in printed
    assert (tmp_path / "outputs" / "horizon" / "visits" / "report.html").exists()


def named(log: Log) -> dict[str, str]:
    return {finding.name: finding.line for finding in log.findings}


def coded(code: Any, share: float = 0.05, seed: int = 3) -> pd.DataFrame:
    """Visits with numbers as states, of which some are replaced by a code, as the next state, too."""
    frame = visits(seed, 600)
    state = frame["state"].str[-1].astype(int).astype(object)
    lost = np.random.default_rng(seed).random(len(frame)) < share
    following = frame["next_state"].str[-1].astype(int).astype(object)
    goes_on = (frame["patient"] == frame["patient"].shift(-1)).to_numpy()
    lost_next = np.append(lost[1:], False) & goes_on
    return frame.assign(state=state.mask(lost, code), next_state=following.mask(lost_next, code))


@pytest.mark.parametrize("code", [-1, 999, -9])
def test_possible_codes_are_asked_about(code: int):
    line = (
        f"the state {code} stands in .* entered as often from all .*; if it is a code of missing values, add --missing"
    )
    with pytest.raises(ValueError, match=f"{line} {code}; if this is intended, add --accept codes"):
        read_log(coded(code), ColumnRoles())
    assert code in read_log(coded(code), ColumnRoles(), accept=["codes"]).states
    assert read_log(coded(code), ColumnRoles(), missing=[code]).states == tuple(range(S))


@pytest.mark.parametrize("code", ["NA", "nan", "?"])
def test_names_of_missing_values_are_noted(code: str):
    line = named(read_log(coded(code).astype({"state": str, "next_state": str}), ColumnRoles()))["missing"]
    assert line.startswith(f"the state {code} stands in ")
    assert line.endswith(f"if it is a code of missing values, add --missing {code}")


def test_numbers_like_others_are_no_codes():
    for seed in range(5):
        frame = visits(seed)
        shifted = {column: frame[column].str[-1].astype(int) - 1 for column in ("state", "next_state")}
        assert not {"codes", "missing"} & {*named(read_log(frame.assign(**shifted), ColumnRoles()))}


def deterministic(seed: int, side: int = 20) -> pd.DataFrame:
    """Walks on a grid from one corner to the other, with few random steps."""
    rng, rows = np.random.default_rng(seed), []
    for episode in range(60):
        position, step = np.zeros(2, int), 0
        while (position < side - 1).any():
            action = int(rng.integers(4)) if rng.random() < 0.02 else int(position.sum() % 2)
            following = np.clip(position + [(1, 0), (0, 1), (-1, 0), (0, -1)][action], 0, side - 1)
            rows.append((episode, step, str(position), action, -1.0, str(following)))
            position, step = following, step + 1
    return pd.DataFrame(rows, columns=["episode", "step", "state", "action", "reward", "next_state"])


@pytest.mark.parametrize("columns", [["state"], ["state", "next_state"]])
def test_repeated_deterministic_runs_are_kept(columns: list[str]):
    frame = deterministic(0).drop(columns=["next_state"] if columns == ["state"] else [])
    log = read_log(frame, ColumnRoles(episode="episode", time="step"))
    left_out = 60 if columns == ["state"] else 0
    assert len(log.cell) == len(frame) - left_out
    assert "equal decisions always have equal outcomes here, so they are kept" in named(log)["repeats"]


def test_copies_of_random_runs_are_omitted():
    frame = visits(4)
    copies = pd.concat([frame, frame[600:]])
    log = read_log(copies, ColumnRoles())
    assert re.findall(r"\d+", named(log)["repeats"])[:2] == ["1200", "3000"]
    assert len(log.cell) == 1800
    numbers = frame.assign(state=np.arange(1800.0), next_state=np.arange(1800.0) + 1)  # no state occurs twice
    copies = pd.concat([numbers, numbers[600:]])
    assert len(read_log(copies, ColumnRoles(), accept=["column"]).cell) == 1800


def test_unequal_times_between_dates_are_noted():
    frame = visits(5)

    def steps(day: pd.Series) -> str | None:
        dated = frame.assign(date=(pd.Timestamp("2025-01-01") + pd.to_timedelta(day, "D")).dt.strftime("%Y-%m-%d"))
        return named(read_log(dated, ColumnRoles(episode="patient", time="date"))).get("steps")

    assert steps(7 * frame["day"]) is None
    assert "80 % are 4 to 26 days; gamma counts decisions, not days" in str(steps(frame["day"] ** 2 + frame["day"]))


def test_decisions_without_later_ones_get_advice():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"state": rng.choice(["u", "v"], 900), "action": rng.choice(["a", "b"], 900), "done": True})
    frame = frame.assign(task=np.arange(900) % 3, reward=(frame["action"] == "b") + rng.normal(size=900) / 4)
    report = horizon_report(read_log(frame, ColumnRoles(terminated="done")), 0.9)
    assert set(report.changes["to"]) == {"b"}
    assert report.improvement.lower > 0.0
