"""Models of very many states as sparse matrices: they say what arrays say."""

import numpy as np
import pandas as pd
import pytest
from clinic_logs import GAMMA, load_log, visits

import pomrl_logs
from pomrl_logs import logs
from pomrl_logs.safe_improvement import (
    KEEP,
    SparseTaskModels,
    TaskModels,
    estimate_models,
    estimate_sparse_models,
    estimate_tasks,
)


def test_sparse_models_equal_arrays():
    log = load_log(visits(0))
    estimate = estimate_sparse_models(log, log.worst_ends)
    K, S, A, _ = log.shape
    whole = estimate.P.toarray().reshape(K, S, A + 1, K, S)
    P = np.stack([whole[task, :, :, task] for task in range(K)])
    np.testing.assert_allclose(P.sum(-1), 1.0)
    assert whole.sum() == pytest.approx(P.sum())  # nothing leads to another task
    arrays = TaskModels(P, estimate.R, estimate.visits, estimate.starts)
    for support in (5, 20, 1000):
        plans = arrays.plans(support, np.array([0.0, 0.5, GAMMA]))
        np.testing.assert_array_equal(estimate.plans(support, np.array([0.0, 0.5, GAMMA])), plans)
        for name in ("values", "occupancy", "gains"):
            expected = getattr(arrays, name)(plans[-1], GAMMA)
            np.testing.assert_allclose(getattr(estimate, name)(plans[-1], GAMMA), expected, rtol=1e-9, atol=1e-9)
    V = arrays.values(plans[-1], GAMMA)
    np.testing.assert_allclose(estimate.action_values(V, GAMMA), arrays.action_values(V, GAMMA))


@pytest.mark.parametrize("states", [8, 200])
def test_large_models_with_few_successors_are_sparse(states: int):
    names = np.arange(states)
    frame = pd.DataFrame({"state": names, "action": "x", "reward": 1.0, "next_state": (names + 1) % states})
    log = pomrl_logs.from_log(pd.concat([frame] * 3), accept=["repeats"])
    estimate, arrays = estimate_tasks(log), estimate_models(log)
    assert isinstance(estimate, SparseTaskModels) == (states == 200)
    unchanged = np.full((1, states), KEEP)
    np.testing.assert_allclose(estimate.values(unchanged, GAMMA), arrays.values(unchanged, GAMMA), rtol=1e-9)
    np.testing.assert_allclose(estimate.occupancy(unchanged, GAMMA), arrays.occupancy(unchanged, GAMMA), rtol=1e-9)


def test_reports_on_many_states_equal_arrays(monkeypatch: pytest.MonkeyPatch):
    log = load_log(visits(0, 900))
    dense = pomrl_logs.horizon_report(log, GAMMA)
    monkeypatch.setattr(logs, "MAX_DENSE_BYTES", 0)
    report = pomrl_logs.horizon_report(log, GAMMA)
    np.testing.assert_array_equal(report.recommendation.policies, dense.recommendation.policies)
    assert report.improvement.lower == pytest.approx(dense.improvement.lower, rel=0.02)
