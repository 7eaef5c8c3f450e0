"""Runners-up: which action is the next best one, by how much, and how sure that is."""

import numpy as np
import pandas as pd
import pytest
from test_logs import make_log

import pomrl_logs
from pomrl_logs.recommendations import Alternatives, compare_alternatives
from pomrl_logs.safe_improvement import KEEP, estimate_models

GAMMA, SUPPORT = 0.5, 10


@pytest.fixture(scope="module")
def alternatives() -> Alternatives:
    counts = np.zeros((2, 1, 4, 1), int)
    counts[0, 0, :, 0] = (30, 20, 40, 9)  # of the last action, which pays most, too few
    counts[1, 0, :, 0] = (50, 3, 2, 9)
    log = make_log(counts, np.array([1.0, 3.0, 2.0, 4.0])[:, None])
    return compare_alternatives(log, estimate_models(log), np.array([[1], [0]]), SUPPORT, GAMMA)


def test_the_runner_up_was_tried_often(alternatives: Alternatives):
    assert alternatives.action[0, 0] == 2
    assert alternatives.difference[0, 0] == pytest.approx(1.0, abs=0.05)  # both lead to the only state
    assert alternatives.probability[0, 0] == pytest.approx(1.0)


def test_without_tried_alternatives_it_is_open(alternatives: Alternatives):
    assert alternatives.action[1, 0] == KEEP
    assert np.isnan(alternatives.difference[1, 0])
    assert np.isnan(alternatives.probability[1, 0])


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(4)
    worth = rng.normal(0.0, 1.0, (400, 2))
    task, action = np.repeat(np.arange(400), 20), np.tile(np.repeat([0, 1], 10), 400)
    columns = {"task": task, "state": 0, "action": action, "reward": worth[task, action] + rng.normal(0.0, 3.0, 8000)}
    log = pomrl_logs.from_log(pd.DataFrame(columns).assign(next_state=0))
    estimate = estimate_models(log)
    policies = estimate.plans(SUPPORT, np.array([GAMMA]))[0]
    probability = compare_alternatives(log, estimate, policies, SUPPORT, GAMMA).probability[:, 0]
    better = np.take_along_axis(worth, policies, 1)[:, 0] == worth.max(1)
    assert probability.min() >= 0.5
    for low, high in ((0.5, 0.7), (0.7, 1.0)):
        inside = (probability >= low) & (probability < high)
        assert better[inside].mean() == pytest.approx(probability[inside].mean(), abs=0.1)


def test_the_report_says_open_without_alternatives():
    counts = np.full((4, 1, 2, 1), 20)
    counts[:2, 0, 0] = 3
    report = pomrl_logs.horizon_report(make_log(counts, np.array([1.0, 2.0])[:, None]), 0.9)
    rows = report.changes.sort_values("task")
    assert rows["runner_up"].tolist() == ["open", "open", 0, 0]
    assert rows["difference"].isna().tolist() == rows["probability"].isna().tolist() == [True, True, False, False]
