"""The advice on logs is right at the rates that are claimed: a sample of the table in docs/models_and_logs.md."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.advice_on_logs import (
    CELLS,
    FAMILIES,
    GAMMAS,
    Cell,
    bars,
    cells,
    clopper_pearson,
    drawn,
    judged,
    markdown,
)

SEED, LOGS = 7, 6

SAMPLE = [
    Cell("chains", 4, "known"),
    Cell("queue", 4, "declared"),
    Cell("two_machines", 4, "known"),
    Cell("promotions", 16, "noisy"),
    Cell("triage", 4, "declared"),
]


@pytest.fixture(scope="module")
def logs() -> pd.DataFrame:
    return pd.DataFrame([judged(cell, SEED, number) for cell in SAMPLE for number in range(LOGS)])


def test_intervals_hold_the_true_loss(logs: pd.DataFrame):
    assert logs["covered"].sum() >= 0.8 * len(logs)


def test_what_is_recommended_loses_less_than_gamma_eval_on_frequencies(logs: pd.DataFrame):
    table = cells(logs)
    assert (table["true"] < 0.9).all()
    assert (1.0 - table["true"]).mean() > 0.8 * (1.0 - table["best"]).mean()


def test_what_is_declared_and_true_is_believed(logs: pd.DataFrame):
    declared = logs[logs["rewards"] == "declared"]
    assert (declared["winner"] == "tasks have the structure that you declared").all()


def test_rewards_that_differ_are_found():
    of = drawn(Cell("promotions", 16, "noisy"), np.random.default_rng(0))
    assert of.log.rewards.differ
    known = drawn(Cell("queue", 16, "noisy"), np.random.default_rng(0))
    assert not known.log.rewards.differ


def test_the_table_has_a_row_for_each_cell_and_says_which_bars_are_missed(logs: pd.DataFrame):
    table = cells(logs)
    lines = markdown(table).splitlines()
    assert len(lines) == 2 + len(SAMPLE)
    assert lines[2].startswith("| `chains` | 4 | known | ")
    said = list(bars(table.assign(coverage=0.5, warned=0.0, **{"worse by at most": -0.5})))
    assert said[1].startswith(
        "- 2 of 5 cells: coverage is below 85 %, and fewer than 90 % of the logs are warned of: two_m"
    )
    assert said[2].startswith("- 0 of 5 cells: worse than gamma_eval on frequencies")


def test_the_interval_of_coverage_is_that_of_clopper_and_pearson():
    assert clopper_pearson(190, 200) == pytest.approx((0.9100, 0.9758), abs=1e-4)
    assert clopper_pearson(10, 10) == pytest.approx((0.6915, 1.0), abs=1e-4)


def test_families_are_models_in_which_something_is_to_be_decided():
    assert len(CELLS) == 9 * len(FAMILIES) - 3
    for name, family in FAMILIES.items():
        if family is not None:
            candidates = family.candidate_models()
            assert candidates.variance.max() > 0, name
    assert GAMMAS[-1] == 0.99
