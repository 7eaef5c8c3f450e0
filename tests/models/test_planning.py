"""Planning with models of one's own, dense or sparse, from arrays, tables and files; what is wrong is named."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.support.sample_models import (
    brute_force_value,
    models_with_equal_actions,
    models_with_twin_states,
    random_models,
    sparse_queue,
)

import pomrl
from pomrl.models import sparse_models
from pomrl.models.planning import END
from pomrl.science.mdp import optimal_value, planning_loss, policy_value
from pomrl_studies.beyond.families.queue import Queue

GAMMAS = [0.5, 0.9, 0.99]
FLIP = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])  # state 0: stay, or leave for ever
S, A = 200, 3


def dense(S: int = 6, A: int = 2, M: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(S, 0.4), (M, S, A)), rng.random((M, S, A))


def sparse_model() -> tuple[sparse.csr_array, np.ndarray]:
    """Return the pairs of a large model with 4 successors each, and rewards R(s, a)."""
    rng = np.random.default_rng(0)
    following = np.stack([rng.choice(S, 4, replace=False) for _ in range(S * A)])
    rows = sparse.csr_array((rng.dirichlet(np.ones(4), S * A).ravel(), following.ravel(), 4 * np.arange(S * A + 1)))
    rows.resize((S * A, S))
    return rows, rng.random((S, A))


def test_plans_are_optimal_for_every_gamma():
    P, R = dense()
    plan = pomrl.plan(P.tolist(), R.tolist(), GAMMAS)
    for g, gamma in enumerate(GAMMAS):
        np.testing.assert_allclose(plan.values[:, g], optimal_value(P, R, gamma), rtol=1e-12)
        np.testing.assert_allclose(policy_value(P, R, plan.policies[:, g], gamma), plan.values[:, g], rtol=1e-12)
    table = plan.table()
    assert list(table.columns) == ["model", "gamma", "state", "action", "value"]
    row = table.query("model == 2 and gamma == 0.9 and state == 4")
    assert (row["value"].item(), row["action"].item()) == (plan.values[2, 1, 4], plan.policies[2, 1, 4])


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_policy_changes_where_waiting_pays(as_sparse: bool, monkeypatch: pytest.MonkeyPatch):
    # Staying pays 1 in each step; leaving pays 3 once: staying is better where 1 / (1 - gamma) > 3.
    monkeypatch.setattr(sparse_models, "is_small", lambda _: not as_sparse)
    R = np.array([[1.0, 3.0], [0.0, 0.0]])
    plan = pomrl.plan(sparse.csr_array(FLIP.reshape(-1, 2)), R, [0.5, 0.6, 0.7, 0.8])
    assert plan.changes.to_dict("list") == {"model": [0], "below": [0.6], "above": [0.7], "states": [1]}
    assert plan.policies[:, 0].tolist() == [1, 1, 0, 0]
    assert pomrl.plan(
        FLIP, np.ones(2), GAMMAS, axes="sas"
    ).changes.empty  # where all actions are as good, no policy is better


@pytest.mark.parametrize("S", [64, 66, 130])
@pytest.mark.parametrize("offset", [0.0, -0.5], ids=["positive", "mixed signs"])
def test_equally_good_actions_are_no_change(S: int, offset: float):
    rng = np.random.default_rng(0)
    P = np.tile(rng.dirichlet(np.ones(S // 2), S // 2), (2, 1))
    share = rng.random((2, S, S // 2))  # by which the actions go to the first of two states that are alike
    P = np.stack([np.hstack([P * x, P * (1 - x)]) for x in share], axis=1)
    R = np.tile(rng.random(S // 2) + offset, 2)
    grid = np.linspace(0.0, 0.98, 15)
    assert pomrl.plan(P, R, grid).changes.empty
    twins, R = [0, S // 2], np.tile(R[:, None], 2)  # now two states have a choice, and stay alike
    P[twins, 1], R[twins, 1] = rng.dirichlet(np.ones(S)), R[twins, 0] - 0.01
    plan = pomrl.plan(P, R, grid)
    for gamma, policy in zip(grid, plan.policies, strict=True):
        V = policy_value(P[None], R[None], policy[None], gamma)[0]
        np.testing.assert_allclose(V, optimal_value(P[None], R[None], gamma)[0], rtol=1e-12, atol=1e-12)
    assert plan.changes["states"].tolist() in ([], [2])


@pytest.mark.parametrize("draw", [random_models, models_with_equal_actions, models_with_twin_states])
def test_single_and_stacked_plans_are_optimal(draw: Callable[..., Any]):
    P, R = draw(np.random.default_rng(5), 6, 4, 3)
    for rewards in (R, R - 0.5, np.round(2.0 * R) - 1.0):
        stack = pomrl.plan(P, rewards, GAMMAS)
        for i in range(6):
            single = pomrl.plan(P[i], rewards[i], GAMMAS)
            np.testing.assert_array_equal(single.policies, stack.policies[i])
            np.testing.assert_array_equal(single.values, stack.values[i])
            for gamma, V in zip(GAMMAS, single.values, strict=True):
                np.testing.assert_allclose(V, brute_force_value(P[i], rewards[i], gamma), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("S", [70, 150])
@pytest.mark.parametrize("is_dense", [False, True])
def test_large_models_keep_equally_good_actions(S: int, is_dense: bool):
    # The states of the small model below, beside others.
    P, R = np.repeat(np.eye(S)[:, None], 3, 1), np.zeros((S, 3))
    if is_dense:
        P = np.random.default_rng(0).dirichlet(np.ones(S), (S, 3))
    P[:3] = np.eye(S)[[[1, 2, 1], [1, 1, 1], [2, 0, 1]]]
    R[:3] = [[-1.0, 1.0, 0.0], [1.0, 2.0, -2.0], [-2.0, -1.0, -2.0]]
    plan = pomrl.plan(P, R, [0.25, 0.5])
    assert plan.policies[:, 2].tolist() == [1, 1]
    np.testing.assert_allclose(plan.values[1, :3], [2.0, 4.0, 0.0], atol=1e-12)


def test_rewards_have_all_forms():
    P, _ = dense()
    state_rewards, transition_rewards = np.arange(6.0), np.arange(72.0).reshape(6, 2, 6)
    expected = pomrl.plan(P[0], np.repeat(state_rewards[:, None], 2, 1), GAMMAS).values
    for rewards in (state_rewards, np.broadcast_to(state_rewards[:, None, None], P[0].shape)):
        np.testing.assert_allclose(pomrl.plan(P[0], rewards, GAMMAS).values, expected)
    shared = pomrl.plan(P, transition_rewards, GAMMAS).values
    np.testing.assert_array_equal(shared, pomrl.plan(P, np.broadcast_to(transition_rewards, P.shape), GAMMAS).values)
    np.testing.assert_allclose(shared, pomrl.plan(P, (P * transition_rewards).sum(-1), GAMMAS).values)


def test_gymnasiums_table_ends_where_episodes_do():
    table = {
        0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)], 1: [(1.0, 0, 0.1, False)]},
        1: {0: [(1.0, 0, 9.0, False)], 1: [(1.0, 1, 0.0, False)]},
    }
    plan = pomrl.plan(table, None, [0.5])
    start = 0.5 / (1 - 0.25)  # state 1 goes on by itself: it pays 9 and leads to the start
    np.testing.assert_allclose(plan.values, [[start, 9.0 + 0.5 * start, 0.0]])
    assert pomrl.from_gymnasium(table, states=["start", "end"]).states == ("start", "end", END)
    table[1] = {0: [(1.0, 1, 0.0, True)], 1: [(1.0, 1, 0.0, False)]}  # it stays and pays nothing: no state is added
    assert pomrl.from_gymnasium(table).states == (0, 1)


def test_environments_of_gymnasium_are_planned():
    gymnasium = pytest.importorskip("gymnasium")
    lake = pomrl.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False))
    assert lake.plan([0.9]).values[0, 0] == pytest.approx(0.9**5)


def test_planning_imports_no_tables_or_figures():
    code = "import sys, pomrl; pomrl.plan([[[1.0]]], [[1.0]], [0.5]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"hydra", "omegaconf", "matplotlib", "pandas", "scipy.stats"} & set(loaded)


def test_large_sparse_models_equal_dense_ones():
    rows, R = sparse_model()
    as_array = pomrl.from_arrays(rows.toarray().reshape(S, A, S), R)
    model = pomrl.from_arrays([rows[a::A] for a in range(A)], R)
    assert sparse.issparse(model.P)
    actual, expected = model.plan(GAMMAS), as_array.plan(GAMMAS)
    np.testing.assert_array_equal(actual.policies, expected.policies)
    np.testing.assert_allclose(actual.values, expected.values, rtol=1e-11)
    for norm in ("max", "mean"):
        losses = planning_loss(as_array.P[None], R[None], expected.policies[None], 0.99, norm=norm)[0]
        assert losses[0] > 0.0 == losses[2]
        for form in (model, as_array):
            np.testing.assert_allclose(form.planning_loss(actual.policies, 0.99, norm), losses, atol=1e-10)


def test_twenty_thousand_states_are_never_dense():
    """A dense array of it would take 10 GB; everything together takes less than a hundredth of that."""
    tracemalloc.start()
    rows, R = sparse_queue(20_001)
    model = pomrl.from_arrays(rows, R)
    loss = model.planning_loss(model.plan([0.5, 0.9]).policies, 0.9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 96e6
    assert loss[0] > 0.0 == loss[1]
    with pytest.raises(ValueError, match="Queue with 200001 states: transition probabilities must take"):
        Queue(centre=0.4, spread=0.1, room=200_000).candidate_models()


def with_entry(P: np.ndarray, index: tuple[int, ...], value: float) -> np.ndarray:
    P[index] = value
    return P


def changed(pair: int, *values: float) -> sparse.csr_array:
    """Return the large model with these probabilities of the first successors of a pair."""
    rows = sparse_model()[0]
    rows.data[rows.indptr[pair] :][: len(values)] = values
    return rows


ROWS, R = sparse_model()
EACH: list[Any] = [ROWS[a::A] for a in range(A)]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a row of one of several models": (
        lambda: pomrl.plan(with_entry(dense()[0], (1, 2, 1, 0), 2), dense()[1], [0.5]),
        r"the row P\[1, 2, 1\]",
    ),
    "an array without rewards": (lambda: pomrl.plan(FLIP, None, [0.5]), "also give R"),
    "sparse and dense": (lambda: pomrl.plan([ROWS[:S], np.eye(S)], R, [0.5]), r"P\[1\] must be a sparse"),
    "actions before states": (
        lambda: pomrl.plan(dense()[0][0].swapaxes(0, 1), np.zeros(6), [0.5]),
        r"P must be \[..., S, A, S\], states before actions, got \[2, 6, 6\]; set axes='ass'",
    ),
    "a name too many": (
        lambda: pomrl.from_arrays(FLIP, np.zeros(2), actions="aba", axes="sas"),
        "actions must have 2 different names",
    ),
    "a discount factor below 0": (
        lambda: pomrl.plan(FLIP, np.zeros(2), [0.5, -1.0], axes="sas"),
        r"gamma\[1\] = -1\.0",
    ),
    "no discount factors": (lambda: pomrl.plan(FLIP, np.zeros(2), [], axes="sas"), "gammas must be"),
    "an outcome without an end": (
        lambda: pomrl.from_gymnasium({0: {0: [(1.0, 0, 0.0)]}}),
        r"P\[0\]\[0\] must list tuples \(probability, next state, reward, terminated\), got \(1\.0, 0, 0\.0\)",
    ),
    "probabilities of actions as integers": (
        lambda: pomrl.from_arrays(FLIP, np.zeros(2), axes="sas").planning_loss(np.ones((1, 2, 1), int), 0.9),
        r"policies of integers must be \[G, S\] with S = 2, got \[1, 2, 1\]",
    ),
    "a negative probability of an action": (
        lambda: pomrl.from_arrays(FLIP, np.zeros(2), axes="sas").planning_loss(
            np.array([[[1.5, -0.5], [1.0, 0.0]]]), 0.9
        ),
        r"policy\[0, 0, 1\] = -0\.5 is not a probability",
    ),
    "a sparse reward of inf": (lambda: pomrl.plan(ROWS, ROWS * np.inf, GAMMAS), r"R\[0, 0, \d+\] = inf is not finite"),
    "outcomes that are no list": (lambda: pomrl.from_gymnasium({0: {0: 5}}), r"P\[0\]\[a\] must list tuples"),
    "no table": (lambda: pomrl.from_gymnasium(object()), "object has no table of transitions P"),
    "models that do not fit": (lambda: pomrl.plan(dense()[0], np.zeros((2, 6, 2)), [0.5]), "the same number of models"),
    "a sparse row that sums to more": (lambda: pomrl.plan(changed(16, 1.5), R, GAMMAS), r"P\[5, 1\] must be a distr"),
    "an action of another size": (lambda: pomrl.plan([EACH[0], ROWS], R, GAMMAS), r"P\[1\] must be a sparse"),
    "rewards of another shape": (lambda: pomrl.plan(ROWS, R[:-1], GAMMAS), r"R must be \[S\] or \[S, A\] = \[200"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_models_are_one_line(case: str):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_equally_good_actions_are_kept():
    # At gamma = 0.5, policy iteration leaves action 1 of state 2 for another that is as good in the end.
    P = np.eye(3)[[[1, 2, 1], [1, 1, 1], [2, 0, 1]]]
    R = np.array([[-1.0, 1.0, 0.0], [1.0, 2.0, -2.0], [-2.0, -1.0, -2.0]])
    plan = pomrl.plan(P, R, [0.25, 0.5], axes="sas")
    assert plan.policies[:, 2].tolist() == [1, 1]
    np.testing.assert_allclose(plan.values[1], [2.0, 4.0, 0.0], atol=1e-12)


def test_sparse_plans_keep_equally_good_actions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "is_small", lambda _: False)
    rows = sparse.csr_array(np.eye(3)[[1, 2, 1, 1, 1, 1, 2, 0, 1]])
    R = np.array([[-1.0, 1.0, 0.0], [1.0, 2.0, -2.0], [-2.0, -1.0, -2.0]])
    plan = pomrl.plan(rows, R, [0.25, 0.5])
    assert plan.policies[:, 2].tolist() == [1, 1]
    np.testing.assert_allclose(plan.values[1], [2.0, 4.0, 0.0], atol=1e-12)


def test_undiscounted_ties_keep_actions_that_end():
    # From state 0, the end pays 1; the way through state 1 pays 2 - 1: better below 1, and as good at 1.
    P = np.eye(4)[[[3, 1, 3], [3, 3, 3], [2, 2, 3], [3, 3, 3]]]
    R = np.array([[1.0, 2.0, 1.0], [-1.0, -1.0, -1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    plan = pomrl.plan(P, R, [0.9, 0.99, 1.0], axes="sas")
    assert plan.policies[:, 0].tolist() == [1, 1, 1]
    assert plan.policies[:, 2].tolist() == [0, 0, 2]  # at 1, waiting in state 2 for ever is no policy
    assert plan.changes.to_dict("records") == [{"model": 0, "below": 0.99, "above": 1.0, "states": 1}]
    np.testing.assert_allclose(plan.values[2], [1.0, -1.0, 0.0, 0.0])


@pytest.mark.parametrize("allowed", [np.arange(S * A).reshape(S, A) % A != 1, None])
def test_a_plan_leaves_the_callers_matrices_unchanged(allowed: np.ndarray | None):
    rows, R = sparse_model()
    rows.data *= 1.0 + 1e-7  # rows are divided by their sums
    before = rows.copy()
    for _ in range(2):
        with pytest.warns(UserWarning, match="P was normalised"):
            pomrl.plan(rows, R, [0.9], allowed=allowed)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(rows, name), getattr(before, name))
