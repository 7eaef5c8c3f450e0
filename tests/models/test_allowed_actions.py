"""Actions that are not allowed: each way to say so, against exact values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.support.sample_models import exact_values, model_with_forbidden_actions

import pomrl
from pomrl.models import sparse_models


def with_zero_rows(P: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    return np.where(allowed[..., None], P, 0.0)


ALLOWED: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Any]] = {
    "R = -inf": lambda P, R, allowed: pomrl.plan(P, np.where(allowed, R, -np.inf), [0.9]),
    "masked rewards": lambda P, R, allowed: pomrl.plan(P, np.ma.masked_array(R, ~allowed), [0.9]),
    "masked rewards of transitions": lambda P, R, allowed: pomrl.plan(
        P, np.ma.masked_array(np.repeat(R[..., None], 5, -1), np.repeat(~allowed[..., None], 5, -1)), [0.9]
    ),
    "rewards of transitions that are -inf": lambda P, R, allowed: pomrl.plan(
        P, np.repeat(np.where(allowed, R, -np.inf)[..., None], 5, -1), [0.9]
    ),
    "masked rows": lambda P, R, allowed: pomrl.plan(
        np.ma.masked_array(P, np.repeat(~allowed[..., None], 5, -1)), R, [0.9]
    ),
    "rows of zeros": lambda P, R, allowed: pomrl.plan(with_zero_rows(P, allowed), R, [0.9]),
    "an argument": lambda P, R, allowed: pomrl.plan(P, R, [0.9], allowed=allowed),
    "an argument with rows that are none": lambda P, R, allowed: pomrl.plan(
        np.where(allowed[..., None], P, np.nan), R, [0.9], allowed=allowed
    ),
    "several models": lambda P, R, allowed: pomrl.plan(P[None], R[None], [0.9], allowed=allowed),
    "sparse rows of zeros": lambda P, R, allowed: pomrl.plan(
        sparse.csr_array(with_zero_rows(P, allowed).reshape(15, 5)), R, [0.9]
    ),
    "sparse rows and -inf": lambda P, R, allowed: pomrl.plan(
        sparse.csr_array(P.reshape(15, 5)), np.where(allowed, R, -np.inf), [0.9]
    ),
    "a table and an argument": lambda P, R, allowed: pomrl.plan(
        {s: {a: [(P[s, a, t], t, R[s, a], False) for t in range(5)] for a in range(3)} for s in range(5)},
        None,
        [0.9],
        allowed=allowed,
    ),
    "a table that lacks actions": lambda P, R, allowed: pomrl.from_gymnasium(
        {
            s: {a: [(P[s, a, t], t, R[s, a], False) for t in range(5)] for a in range(3) if allowed[s, a]}
            for s in range(5)
        }
    ).plan([0.9]),
}


@pytest.mark.parametrize("form", ALLOWED)
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_forbidden_actions_are_never_chosen(form: str, as_sparse: bool, unit: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "is_small", lambda _: not as_sparse)
    P, R, allowed = model_with_forbidden_actions()
    plan = ALLOWED[form](P, unit * R, allowed)
    np.testing.assert_allclose(plan.values.ravel() / unit, exact_values(P, R, 0.9, allowed), rtol=1e-9)
    assert allowed[range(5), plan.policies.ravel()].all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_losses_of_stochastic_policies_from_a_start(as_sparse: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "is_small", lambda _: not as_sparse)
    P, R, allowed = model_with_forbidden_actions()
    model = pomrl.from_arrays(sparse.csr_array(P.reshape(15, 5)), R, allowed=allowed)
    weights = np.where(allowed, 1.0, 0.0) / allowed.sum(-1, keepdims=True)
    V = np.linalg.solve(
        np.eye(5) - 0.9 * np.einsum("sa,sat->st", weights, P), (weights * np.where(allowed, R, 0)).sum(1)
    )
    lost = np.array(exact_values(P, R, 0.9, allowed)) - V
    start = [0.0, 0.25, 0.0, 0.75, 0.0]
    np.testing.assert_allclose(model.planning_loss(weights[None], 0.9), [lost.max()])
    np.testing.assert_allclose(model.planning_loss(weights[None], 0.9, "mean"), [lost.mean()])
    np.testing.assert_allclose(model.planning_loss(weights[None], 0.9, start=start), [lost @ start])
    assert model.planning_loss(model.plan([0.9]).policies, 0.9, start=start) == [0.0]
    with pytest.raises(ValueError, match=r"policy\[0, 0, 0\] = 1.0 takes an action that is not allowed"):
        model.planning_loss(np.zeros((1, 5), int), 0.9)
    with pytest.raises(ValueError, match=r"start must be a probability for each of 5 states, got shape \[2\]"):
        model.planning_loss(weights[None], 0.9, start=[0.5, 0.5])
    with pytest.raises(ValueError, match=r"the probabilities in start must have sum 1, got 2\.0"):
        model.planning_loss(weights[None], 0.9, start=[1.0, 1.0, 0.0, 0.0, 0.0])


def test_equal_actions_need_no_policy_probabilities():
    P, R = np.zeros((3, 2, 3)), np.array([[1.0, 0.0], [0.0, 5.0], [0.0, 0.0]])
    P[0, 0, 1] = P[0, 1, 2] = P[1:, :, 2] = 1.0
    weights = np.array([[[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]]])  # as that of clinicians, who do nothing at the end
    np.testing.assert_allclose(pomrl.from_arrays(P, R).planning_loss(weights, 0.5), [5.0 - 2.5])
    weights[0, 1] = 0.0
    with pytest.raises(ValueError, match=r"the sum of policy\[0, 1\] = 0.0 is not 1"):
        pomrl.from_arrays(P, R).planning_loss(weights, 0.5)
    with pytest.raises(ValueError, match=r"must be \[G, S, A\] with S, A = 3, 2, got \[3, 2\]"):
        pomrl.from_arrays(P, R).planning_loss(weights[0], 0.5)
