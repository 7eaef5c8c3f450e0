"""Roles of columns are found or said, and faults of a table are clear."""

import numpy as np
import pandas as pd
import pytest
from tables_of_tests import GAMES, games, normal, sweep, two_methods

from verdicts import ClaimError, TableError, judge


def test_problems_are_units_with_averaged_runs():
    data = games()
    result = judge(data, ["a > b"])
    means = data.groupby(["game", "method"])["score"].mean().unstack()
    assert result["estimate"][0] == pytest.approx((means["a"] - means["b"]).mean())
    assert result["n"][0] == GAMES
    assert result["verdict"][0] == "holds"
    assert {name: result.attrs[name] for name in ("unit", "problem", "paired", "runs")} == {
        "unit": "game", "problem": "game", "paired": True, "runs": [3, 3],
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["run", "seed"])
def test_unit_run_narrows_the_claim(unit):
    wide, narrow = (judge(games(), ["a > b"], unit=name) for name in ("", unit))
    assert narrow["estimate"][0] == pytest.approx(wide["estimate"][0])
    assert narrow["upper"][0] - narrow["lower"][0] < wide["upper"][0] - wide["lower"][0]
    assert narrow.attrs["unit"] == "seed"
    assert not narrow.attrs["paired"]


@pytest.mark.parametrize("claim", ["a > b where game=g1", "a > b for each game", "a > b in >= 6 of game"])
def test_single_problems_are_judged_by_runs(claim):
    result = judge(games(), [claim])
    assert "3 against 3 seeds" in result["reason"][0]
    assert result.attrs["by_runs"] == ["C1"]


def test_each_problem_counts_once():
    data = games()
    fewer = data[~((data.game == "g0") & (data.seed > 0))]
    means = fewer.groupby(["game", "method"])["score"].mean().unstack()
    result = judge(fewer, ["a > b"])
    assert result["estimate"][0] == pytest.approx((means["a"] - means["b"]).mean())
    assert result.attrs["runs"] == [1, 3]


def test_runs_are_paired_only_if_said():
    common = 10.0 * normal(30)
    data = two_methods(common + 1.0 + normal(30, seed=1) / 100, common)
    assert judge(data, ["a > b"])["verdict"][0] == "undecided"
    assert judge(data, ["a > b"], paired=True)["verdict"][0] == "holds"


def test_columns_of_any_name_have_roles():
    data = games().rename(columns={"method": "who", "game": "where_it_was", "seed": "go", "score": "points"})
    with pytest.raises(ClaimError, match="several rows"):  # go is not known to number runs
        judge(data, ["a > b"], value="points", method="who", problem="where_it_was")
    data = data.rename(columns={"go": "run"})
    result = judge(data, ["a > b"], value="points", method="who", problem="where_it_was")
    assert result["estimate"][0] == judge(games(), ["a > b"])["estimate"][0]


def test_columns_of_methods_are_cells_too():
    wide = games(runs=1).pivot_table(index="game", columns="method", values="score").reset_index()
    assert judge(wide, ["a > b"])["lower"][0] == judge(games(runs=1), ["a > b"])["lower"][0]


def test_losses_need_no_negation():
    assert [*judge(sweep(), ["a < b where n=4", "a is lowest over method where n=4"])["verdict"]] == ["holds"] * 2
    with pytest.raises(ClaimError, match="'is lowest' or 'is highest'"):
        judge(sweep(), ["a is best over method where n=4"])


def test_numbers_of_claims_match_the_table():
    data = sweep().assign(n=lambda table: table.n / 10)
    assert judge(data, ["a < b where n=0.30"])["n"][0] == 20
    with pytest.raises(ClaimError, match="has numbers, got 'ten'"):
        judge(data, ["a < b where n=ten"])


def test_yes_and_no_are_successes():
    result = judge(two_methods([True] * 10, [False] * 10), ["a > 0.5", "a > 0.95"])
    assert [*result["verdict"]] == ["holds", "undecided"]  # ten of ten are no known rate


FAULTS = {
    "a missing column": (lambda data: data.drop(columns="seed"), "a > b", "unit must be the column"),
    "a column of a cell": (lambda data: data, "score[methd=a] > 1", r"no column 'methd'; the table has method"),
    "an unknown method": (lambda data: data, "a > bb", "no row has method=bb; there are b, a"),
    "a minus without spaces": (lambda data: data, "a-b > 0", "put spaces around a minus"),
    "missing numbers": (lambda data: data.replace({"score": {2.0: np.nan}}), "a > b", "1 of 10 numbers are missing"),
    "text": (lambda data: data.assign(score="n/a"), "a > b", "column 'score' must have numbers, got 'n/a'"),
    "a run twice": (lambda data: pd.concat([data, data]), "a > b", "several rows have seed=0"),
    "a setting not fixed": (
        lambda data: pd.concat([data.assign(n=1), data.assign(n=2)]), "score[method=a] > 1", "fix n by 'where n=...'"),
    "unnamed runs": (lambda data: data.assign(seed=None), "a > b", "must name each seed"),
    "no rows": (lambda data: data[:0], "a > b", "must have rows"),
    "no cells": (lambda data: data, "3 > 2", "a cell of the table"),
    "equal sides": (lambda data: data, "a > a", "both sides must differ"),
    "an unknown column of numbers": (lambda data: data, "lss[method=a] > 1", "no column 'lss' of numbers"),
    "an order of words": (lambda data: data, "score[] rises with method", "must have numbers to have an order"),
    "a range without places": (lambda data: data.assign(n=1), "a is lowest at n in 3 .. 4", "two values or more"),
    "no rivals": (lambda data: data[:10], "a is highest over method", "must have rivals"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_table_faults_are_one_line(fault):
    change, claim, message = FAULTS[fault]
    data = two_methods(np.arange(10.0), np.arange(10.0) + 3)
    with pytest.raises((ClaimError, TableError), match=message) as error:
        judge(change(data), [claim])
    assert "\n" not in str(error.value)


def test_pairs_with_other_problems_are_refused():
    data = games()
    with pytest.raises(ClaimError, match="paired by game; only one of them has g0"):
        judge(data[(data.game != "g0") | (data.method == "a")], ["a > b"])
    with pytest.raises(ClaimError, match="same values of game; only one has g0"):
        judge(data[(data.game != "g0") | (data.method == "a")], ["a > b"], unit="run")


def test_settings_are_not_averaged_as_runs():
    data = games().drop(columns="seed")
    data["gamma"] = np.tile([0.1, 0.5, 0.9], len(data) // 3)
    with pytest.raises(ClaimError, match="fix gamma"):
        judge(data, ["a > b"])


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "json", "jsonl", "parquet"])
def test_tables_are_read_by_their_suffix(tmp_path, suffix):
    path, data = tmp_path / f"t.{suffix}", games()
    writers = {
        "tsv": lambda: data.to_csv(path, sep="\t", index=False),
        "json": lambda: data.to_json(path),
        "jsonl": lambda: data.to_json(path, lines=True, orient="records"),
        "parquet": lambda: data.to_parquet(path),
    }
    writers.get(suffix, lambda: data.to_csv(path, index=False))()
    assert judge(path, ["a > b"])["estimate"][0] == pytest.approx(judge(data, ["a > b"])["estimate"][0])


@pytest.mark.parametrize(("name", "content"), [("t.xlsx", ""), ("t.csv", ""), ("t.json", "{")])
def test_bad_files_are_one_line(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(TableError, match=name) as error:
        judge(tmp_path / name, ["a > b"])
    assert "\n" not in str(error.value)
