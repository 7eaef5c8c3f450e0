"""How strangers' models are read: each convention, with values in exact fractions or by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from docs.build import generated
from scipy import sparse
from tests.support.sample_models import exact_values, model_with_forbidden_actions

import pomrl
from pomrl.models import sparse_models
from pomrl.models.inputs import CONVENTIONS
from pomrl.science.model_axes import ReadingWarning, check_axes
from pomrl.science.tasks.table import Table

ACTIONS_FIRST = np.array([[[0.5, 0.5], [0.8, 0.2]], [[0.0, 1.0], [0.1, 0.9]]])
"""P[a, s, s'] of pymdptoolbox's small example; its rewards are R[s, a]."""

SMALL_R = np.array([[5.0, 10.0], [-1.0, 2.0]])

RANDOM_P, RANDOM_R, _ = model_with_forbidden_actions()


SMALL = exact_values(ACTIONS_FIRST.swapaxes(0, 1), SMALL_R, 0.99)

R3 = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])  # R[a, s, s']
OF_TRANSITIONS = exact_values(ACTIONS_FIRST.swapaxes(0, 1), (ACTIONS_FIRST * R3).sum(-1).T, 0.99)

AXES: dict[str, tuple[Callable[[], Any], list[float]]] = {
    "a list of dense matrices": (lambda: pomrl.plan(list(ACTIONS_FIRST), SMALL_R, [0.99]), SMALL),
    "a tuple of them": (lambda: pomrl.plan(tuple(ACTIONS_FIRST), SMALL_R, [0.99]), SMALL),
    "a list of sparse matrices": (
        lambda: pomrl.plan([sparse.csr_array(P) for P in ACTIONS_FIRST], SMALL_R, [0.99]),
        SMALL,
    ),
    "an array with states first": (
        lambda: pomrl.plan(ACTIONS_FIRST.swapaxes(0, 1), SMALL_R, [0.99], axes="sas"),
        SMALL,
    ),
    "several models with states first": (
        lambda: pomrl.plan(ACTIONS_FIRST.swapaxes(0, 1)[None], SMALL_R[None], [0.99], axes="sas"),
        SMALL,
    ),
    "several models with actions first": (
        lambda: pomrl.plan(ACTIONS_FIRST[None], SMALL_R[None], [0.99], axes="ass"),
        SMALL,
    ),
    "rewards of transitions, actions first": (
        lambda: pomrl.plan(ACTIONS_FIRST, R3, [0.99], axes="ass"),
        OF_TRANSITIONS,
    ),
    "lists of both": (lambda: pomrl.plan(list(ACTIONS_FIRST), list(R3), [0.99]), OF_TRANSITIONS),
    "sparse rewards of each action": (
        lambda: pomrl.plan(list(map(sparse.csr_array, ACTIONS_FIRST)), list(map(sparse.csr_array, R3)), [0.99]),
        OF_TRANSITIONS,
    ),
    "sparse rows of actions, one below the other": (
        lambda: pomrl.plan(
            sparse.csr_array(ACTIONS_FIRST.reshape(4, 2)), sparse.csr_array(R3.reshape(4, 2)), [0.99], axes="ass"
        ),
        OF_TRANSITIONS,
    ),
}


@pytest.mark.parametrize("form", AXES)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_each_order_of_axes_has_exact_values(form: str, as_sparse: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "is_small", lambda _: not as_sparse)
    call, expected = AXES[form]
    np.testing.assert_allclose(call().values.ravel(), expected, rtol=1e-12)


SAID: dict[str, tuple[Callable[[], Any], str, list[float]]] = {
    "an array with S = A": (
        lambda: pomrl.plan(ACTIONS_FIRST.swapaxes(0, 1), SMALL_R, [0.99]),
        r"P has S = A = 2 and was read as P\[s, a, s'\]; set axes='ass' for",
        SMALL,
    ),
    "nested lists with S = A": (
        lambda: pomrl.plan(ACTIONS_FIRST.tolist(), SMALL_R, [0.99]),
        r"P is a list of 2 matrices with S = A, read as P\[action\]\[s\]\[s'\]",
        SMALL,
    ),
    "rewards with S = A beside actions first": (
        lambda: pomrl.plan(ACTIONS_FIRST, SMALL_R, [0.99], axes="ass"),
        r"R has S = A = 2 and was read as R\[s, a\]",
        SMALL,
    ),
    "rows of six digits": (
        lambda: pomrl.plan(np.full((38, 1, 38), 0.026316), np.ones(38), [0.9]),
        r"P was normalised: 38 row sums differed from 1, by up to 8.0e-06 \(P\[0, 0\]\); tolerance=0",
        [10.0] * 38,
    ),
    "rows in single precision": (
        lambda: pomrl.plan(np.full((3, 1, 3), 1 / 3, np.float32), np.ones(3), [0.9]),
        r"P was normalised: 3 row sums differed from 1",
        [10.0] * 3,
    ),
    "rows that are cut off after six digits": (
        lambda: pomrl.plan(np.full((6, 1, 6), 0.166666), np.ones(6), [0.9]),
        r"P was normalised: 6 row sums differed from 1, by up to 4.0e-06",
        [10.0] * 6,
    ),
    "outcomes of six digits in a table": (
        lambda: pomrl.plan({0: {0: [(0.333333, 0, 1.0, False)] * 3}}, None, [0.9]),
        r"P was normalised: 1 row sum differed from 1, by up to 1.0e-06",
        [10.0],
    ),
    "outcomes of a table with a tolerance": (
        lambda: pomrl.plan({0: {0: [(0.9, 0, 1.0, False)]}}, None, [0.9], tolerance=0.2),
        r"P was normalised: 1 row sum differed from 1, by up to 1.0e-01",
        [10.0],
    ),
    "sparse rewards of rows with a tolerance": (
        lambda: pomrl.plan(sparse.csr_array(0.9 * np.eye(200)), sparse.csr_array(np.eye(200)), [0.9], tolerance=0.2),
        r"P was normalised: 200 row sums differed from 1, by up to 1.0e-01",
        [10.0] * 200,
    ),
    "allowed pairs with S = A": (
        lambda: pomrl.plan(ACTIONS_FIRST, SMALL_R, [0.99], axes="ass", allowed=np.ones((2, 2))),
        r"(allowed|R) has S = A = 2 and was read as (allowed|R)\[s, a\]",
        SMALL,
    ),
    "a row of a sparse model": (
        lambda: pomrl.plan(sparse.csr_array(np.full((200, 200), 0.005000001)), np.ones(200), [0.9]),
        r"P was normalised: 200 row sums differed from 1, by up to 2.0e-07",
        [10.0] * 200,
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_ambiguous_inputs_are_noted_in_one_line(case: str):
    call, line, values = SAID[case]
    with pytest.warns(ReadingWarning, match=line) as raised_warnings:
        plan = call()
    assert len(raised_warnings) == 1 + (case == "allowed pairs with S = A")
    assert "\n" not in str(raised_warnings[0].message)
    np.testing.assert_allclose(plan.values.ravel(), values, rtol=1e-9)


def test_unequal_axes_are_read_by_shape():
    rng = np.random.default_rng(0)
    P, R = rng.dirichlet(np.ones(4), (4, 2)), rng.normal(size=(4, 2, 4))
    expected = exact_values(P / P.sum(-1, keepdims=True), (P * R).sum(-1), 0.9)
    first = P.swapaxes(0, 1)
    forms: list[tuple[Any, Any, Any]] = [
        (P, R, None), (first, R.swapaxes(0, 1), "ass"), (list(first), R, None), (list(first), R.swapaxes(0, 1), None),
        (first, (P * R).sum(-1), "ass"), (first, (P * R).sum(-1).T, "ass"),
    ]  # fmt: skip
    for P_given, R_given, axes in forms:
        np.testing.assert_allclose(pomrl.plan(P_given, R_given, [0.9], axes=axes).values[0], expected, rtol=1e-9)


def test_tables_of_tasks_may_have_actions_first(tmp_path: Any):
    np.savez(tmp_path / "first.npz", P=ACTIONS_FIRST, R=SMALL_R)
    with pytest.warns(ReadingWarning, match=r"R has S = A = 2 and was read as R\[s, a\]"):
        candidates = Table(file=str(tmp_path / "first.npz"), axes="ass").candidate_models()
    np.testing.assert_allclose(candidates.P[0], ACTIONS_FIRST.swapaxes(0, 1))
    np.savez(tmp_path / "three.npz", P=ACTIONS_FIRST, R=R3)
    three = Table(file=str(tmp_path / "three.npz"), axes="ass").candidate_models()
    np.testing.assert_allclose(three.R[0, 0, 1], R3[1, 0])
    with pytest.warns(ReadingWarning, match="P has S = A = 2 and was read as"):
        Table(file=str(tmp_path / "first.npz")).candidate_models()


def test_sparse_tables_are_planned_without_discount():
    corridor = {s: {a: [(1.0, max(s - 1 + 2 * a, 0), -1.0, s + 2 * a == 201)] for a in (0, 1)} for s in range(200)}
    corridor[199] = {a: [(1.0, 199, -1.0, True)] for a in (0, 1)}
    np.testing.assert_allclose(pomrl.from_gymnasium(corridor).plan([1.0]).values[0, :200], np.arange(-200.0, 0.0))
    many = pomrl.from_arrays(sparse.eye_array(20_000, format="csr"), np.zeros(20_000))
    with pytest.raises(ValueError, match="S A S must be at most 33,554,432 for gamma = 1, got S = 20,000, A = 1"):
        many.plan([1.0])


def test_values_follow_the_order_of_gammas():
    P, R = RANDOM_P, RANDOM_R
    plan = pomrl.plan(P, R, [0.99, 0.5, 0.9, 0.5])
    assert plan.gammas.tolist() == [0.99, 0.5, 0.9, 0.5]
    for gamma, values in zip(plan.gammas, plan.values, strict=True):
        np.testing.assert_allclose(values, exact_values(P, R, float(gamma)), rtol=1e-12)
    assert (plan.changes["below"] < plan.changes["above"]).all()
    stack = pomrl.plan(P[None], R[None], [0.99, 0.5])
    np.testing.assert_array_equal(stack.values[0], plan.values[:2])


def test_near_one_values_are_exact_or_refused():
    P, R = RANDOM_P, RANDOM_R
    np.testing.assert_allclose(pomrl.plan(P, R, [1 - 1e-9]).values[0], exact_values(P, R, 1 - 1e-9), rtol=1e-6)
    with pytest.raises(ValueError, match=r"gamma\[1\] = 0.9999999999 is nearer to 1 than 1e-9"):
        pomrl.plan(P, R, [0.5, 1 - 1e-10])


def test_ending_episodes_are_planned_without_discount():
    P, R = np.zeros((4, 2, 4)), np.zeros((4, 2))
    for s in range(3):  # action 0 pays 0.09 s and ends, action 1 goes on
        P[s, 0, 3] = P[s, 1, min(s + 1, 2)] = 1.0
        R[s, 0] = 0.09 * s
    P[3, :, 3] = 1.0
    plan = pomrl.plan(P, R, [1.0, 0.5])
    np.testing.assert_allclose(plan.values[0], [0.18, 0.18, 0.18, 0.0], atol=1e-15)
    np.testing.assert_allclose(plan.values[1], exact_values(P, R, 0.5), atol=1e-15)
    with pytest.raises(ValueError, match="reaches no terminal state under any policy"):
        pomrl.plan(np.ones((1, 1, 1)), np.ones((1, 1)), [1.0])


def table(reset: int) -> dict[int, Any]:
    """A table whose ends carry the state after the reset."""
    return {
        0: {0: [(1.0, 1, 5.0, False)], 1: [(1.0, 2, 1.0, False)]},
        1: {a: [(1.0, reset, 0.0, True)] for a in (0, 1)},
        2: {a: [(1.0, reset, 9.0, 1)] for a in (0, 1)},
    }


@pytest.mark.parametrize("reset", [0, 1, 2])
def test_done_ends_the_episode_on_the_transition(reset: int):
    model = pomrl.from_gymnasium(table(reset))
    np.testing.assert_allclose(model.plan([0.9]).values[0, :3], [1.0 + 0.9 * 9.0, 0.0, 9.0])


def test_an_end_in_place_may_go_on():
    # In state 0, half of the steps end there, and the others go on there: V = 1 + 0.9 * 0.5 V.
    model = pomrl.from_gymnasium({0: {0: [(0.5, 0, 1.0, True), (0.5, 0, 1.0, False)]}})
    np.testing.assert_allclose(model.plan([0.9]).values[0], [1.0 / 0.55, 0.0])


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "no order of axes": (lambda: check_axes("sa"), "axes must be 'sas'"),
    "rows beyond the tolerance": (
        lambda: pomrl.plan(np.full((38, 1, 38), 0.026316), np.ones(38), [0.9], tolerance=1e-6),
        r"the sum of the row P\[0, 0\] = 1.000008.* is not 1 \(within 1.0e-06; tolerance= allows more\)",
    ),
    "a half row that is masked": (
        lambda: pomrl.plan(
            np.ma.masked_array(RANDOM_P, np.eye(5, dtype=bool)[:, None].repeat(3, 1)),
            RANDOM_R,
            [0.5],
        ),
        r"the mask of P\[0, 0, 0\]",
    ),
    "a state without actions": (
        lambda: pomrl.plan(
            RANDOM_P,
            np.where(np.arange(5)[:, None] == 2, -np.inf, RANDOM_R),
            [0.5],
        ),
        "state 2 has no allowed action",
    ),
    "a state of one of several models without actions": (
        lambda: pomrl.plan(
            RANDOM_P[None],
            RANDOM_R[None],
            [0.5],
            allowed=np.arange(15).reshape(5, 3) > 2,
        ),
        "state 0 of model 0 has no allowed action",
    ),
    "allowed of another shape": (
        lambda: pomrl.plan(RANDOM_P, RANDOM_R, [0.5], allowed=[True, False]),
        r"allowed must be true or false for each pair, \[S, A\] = \[5, 3\]",
    ),
    "rewards that overflow": (
        lambda: pomrl.plan(RANDOM_P, np.full((5, 3), 1e308), [0.5]),
        r"R\[0, 0\] = 1e\+308 is so large that values overflow",
    ),
    "rewards without digits": (
        lambda: pomrl.plan(RANDOM_P, np.full((5, 3), 1e-310), [0.5]),
        "is so small that",
    ),
    "rewards of +inf": (
        lambda: pomrl.plan(RANDOM_P, np.full((5, 3), np.inf), [0.5]),
        r"R\[0, 0\] = inf is not fin",
    ),
    "a next state of half": (
        lambda: pomrl.from_gymnasium({0: {0: [(1.0, 0.5, 0.0, False)]}}),
        r"P\[0\]\[0\] must have a next state of 0, ..., 0 .* got \(1.0, 0.5, 0.0, False\)",
    ),
    "a next state that is no number": (
        lambda: pomrl.from_gymnasium({0: {0: [(1.0, np.nan, 0.0, False)]}}),
        r"P\[0\]\[0\] must have a next state of 0, ..., 0 .* got \(1.0, nan, 0.0, False\)",
    ),
    "names of states in a table": (
        lambda: pomrl.from_gymnasium({"a": {0: [(1.0, 0, 0.0, False)]}}),
        "the keys of P must be the states 0, ..., 0, got 'a'; use numbers as keys, and names in states=",
    ),
    "names of actions in a table": (
        lambda: pomrl.from_gymnasium({0: {"left": [(1.0, 0, 0.0, False)]}}),
        r"the keys of P\[0\] must be actions 0, 1, ..., got 'left'",
    ),
    "axes of a table": (
        lambda: pomrl.plan({0: {0: [(1.0, 0, 0.0, False)]}}, None, [0.5], axes="ass"),
        "axes must be None without R, got 'ass'",
    ),
    "allowed actions as lists": (
        lambda: pomrl.plan(
            RANDOM_P,
            RANDOM_R,
            [0.5],
            allowed=[[0], [0, 1], [2], [1], [0, 2]],
        ),
        r"allowed must be true or false for each pair, \[S, A\] = \[5, 3\]",
    ),
    "an end of None": (
        lambda: pomrl.from_gymnasium({0: {0: [(1.0, 0, 0.0, None)]}}),
        r"P\[0\]\[0\] must have .* and True or False for terminated, got \(1.0, 0, 0.0, None\)",
    ),
    "a state without outcomes": (
        lambda: pomrl.from_gymnasium({0: {0: [(1.0, 1, 0.0, False)]}, 1: {}}),
        r"P\[0\]\[0\] leads to state 1, which has no actions, without an end; write True for terminated, or actions",
    ),
    "a negative number beyond the tolerance": (
        lambda: pomrl.plan([[[1.0, -1e-17]], [[0.0, 1.0]]], [[1.0], [0.0]], [0.5], tolerance=0.0),
        r"P\[0, 0, 1\] = -1e-17 is not a probability",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_inputs_are_one_line(case: str):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_states_without_actions_end_episodes():
    for table in ({0: {0: [(1.0, 1, 1.0, True)]}, 1: {}}, [[[(1.0, 1, 1.0, True)]], []]):
        assert pomrl.from_gymnasium(table).plan([0.9]).values.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("as_rows", [np.array, sparse.csr_array])
def test_negative_rounding_errors_become_zero_with_warning(as_rows: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "is_small", lambda _: False)
    for entry, tolerance in ((-1e-17, None), (-1e-9, 1e-8)):
        P = as_rows([[1.0, entry], [0.0, 1.0]])
        P = P[:, None] if as_rows is np.array else P
        with pytest.warns(
            ReadingWarning, match="P has 1 negative entries, down to -1e-.*, read as 0"
        ) as raised_warnings:
            values = pomrl.plan(P, [[1.0], [0.0]], [0.9], tolerance=tolerance).values
        assert "\n" not in str(raised_warnings[0].message)
        np.testing.assert_allclose(values, [[10.0, 0.0]], rtol=1e-12)


def test_every_convention_is_tested_and_documented():
    page = generated.conventions()
    for convention, reading in CONVENTIONS.items():
        assert f"| {convention} | {reading} |" in page


@pytest.mark.parametrize("gamma", [1 - 1e-6, 1 - 1e-9])
def test_policies_near_gamma_1_tie_as_documented(gamma: float):
    assert "up to 1e-12 / (1 - gamma) (`pomrl.science.solvers.action_ties`)" in CONVENTIONS["a gamma near 1"]
    P = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])  # stay, or go and return
    for share, action in ((0.3, 0), (1.5, 1)):
        gain = share * 1e-12 / (1 - gamma)
        R = np.array([[1.0, 1.0], [1.0 + 2 * gain] * 2])
        assert pomrl.plan(P, R, [gamma], axes="sas").policies[0, 0] == action


def test_nested_lists_of_rewards_are_ambiguous():
    with (
        pytest.warns(ReadingWarning, match=r"P has S = A = 2 and was read as P\[s, a, s'\]"),
        pytest.warns(ReadingWarning, match=r"R is a list of 2 matrices with S = A, read as R\[action\]\[s\]\[s'\]"),
    ):
        pomrl.plan(ACTIONS_FIRST.swapaxes(0, 1), R3.tolist(), [0.5])


def test_rewards_of_states_serve_several_models():
    P = np.random.default_rng(0).dirichlet(np.ones(3), (4, 3, 2))
    R = np.random.default_rng(1).random((4, 3))
    shared, own = pomrl.plan(P, R[0], [0.9]), pomrl.plan(P, R, [0.9])
    for m in range(4):
        np.testing.assert_allclose(shared.values[m], pomrl.plan(P[m], R[0], [0.9]).values, rtol=1e-12)
        np.testing.assert_allclose(own.values[m], pomrl.plan(P[m], R[m], [0.9]).values, rtol=1e-12)


def test_equal_axes_of_rewards_are_ambiguous():
    P = np.random.default_rng(0).dirichlet(np.ones(2), (2, 2, 2))
    with pytest.warns(ReadingWarning, match=r"R has M = S = A = 2 and was read as R\[m, s, a\]"):
        pomrl.plan(P, R3, [0.9], axes="sas")


def test_masked_entries_of_allowed_are_not_allowed():
    allowed = np.ma.array([[True, True], [True, True]], mask=[[True, False], [False, False]])
    plan = pomrl.plan(ACTIONS_FIRST.swapaxes(0, 1), SMALL_R[:, ::-1], [0.0], axes="sas", allowed=allowed)
    assert plan.policies.tolist() == [[1, 0]]
