"""The advice on logs is right at the rates that are claimed: a sample of the table in docs/models_and_logs.md."""

import pandas as pd
import pytest
from benchmarks.advice_on_logs import Cell, cells, judged

SEED, LOGS = 7, 4

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
