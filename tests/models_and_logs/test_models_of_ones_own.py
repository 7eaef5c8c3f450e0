"""Planning with models of one's own: all forms give the same plan, and what is wrong is named in one line."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import pomrl
from pomrl.models_and_logs import sparse_models
from pomrl.science.mdp import optimal_value, policy_value

GAMMAS = [0.1, 0.5, 0.9, 0.99]
FLIP = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])  # state 0: stay, or leave for ever


def drawn(S: int = 6, A: int = 2, M: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.full(S, 0.4), (M, S, A)), rng.random((M, S, A))


def test_a_plan_has_optimal_policies_and_their_values_in_ascending_order():
    P, R = drawn()
    plan = pomrl.plan(P, R, GAMMAS[::-1])
    assert plan.gammas.tolist() == GAMMAS
    for g, gamma in enumerate(GAMMAS):
        np.testing.assert_allclose(plan.values[:, g], optimal_value(P, R, gamma), rtol=1e-12)
        np.testing.assert_allclose(policy_value(P, R, plan.policies[:, g], gamma), plan.values[:, g], rtol=1e-12)
    table = plan.table()
    assert list(table.columns) == ["model", "gamma", "state", "action", "value"]
    assert table.query("model == 2 and gamma == 0.9 and state == 4")["value"].item() == plan.values[2, 2, 4]


def test_the_policy_changes_where_waiting_begins_to_pay():
    # Staying pays 1 in each step; leaving pays 3 once: staying is better where 1 / (1 - gamma) > 3.
    plan = pomrl.plan(FLIP, np.array([[1.0, 3.0], [0.0, 0.0]]), [0.5, 0.6, 0.7, 0.8])
    assert plan.changes.to_dict("list") == {"model": [0], "below": [0.6], "above": [0.7], "states": [1]}
    assert plan.policies[:, 0].tolist() == [1, 1, 0, 0]


def test_the_policies_of_a_sparse_model_change_where_those_of_the_dense_one_do(monkeypatch: pytest.MonkeyPatch):
    R, gammas = np.array([[1.0, 3.0], [0.0, 0.0]]), [0.5, 0.6, 0.7, 0.8]
    wanted = pomrl.plan(FLIP, R, gammas).changes
    monkeypatch.setattr(sparse_models, "DENSE_BYTES", 1)
    found = pomrl.plan(sparse.csr_array(FLIP.reshape(-1, 2)), R, gammas).changes
    assert len(wanted) == 1
    assert found.equals(wanted)


def test_lists_and_rewards_of_all_models_alike_are_planned_as_arrays():
    P, R = drawn()
    wanted = pomrl.plan(P, R, GAMMAS).values
    np.testing.assert_array_equal(pomrl.plan(P.tolist(), R.tolist(), GAMMAS).values, wanted)
    of_transitions = np.arange(72.0).reshape(6, 2, 6)
    repeated = np.broadcast_to(of_transitions, P.shape)
    shared = pomrl.plan(P, of_transitions, GAMMAS).values
    np.testing.assert_array_equal(shared, pomrl.plan(P, repeated, GAMMAS).values)
    names = (name for name in "ab")
    assert pomrl.from_arrays(FLIP, np.zeros(2), states=names).states == ("a", "b")


@pytest.mark.parametrize("dense_bytes", [2**28, 1], ids=["as a dense model", "as a sparse model"])
def test_sparse_matrices_give_the_plan_of_arrays(dense_bytes: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sparse_models, "DENSE_BYTES", dense_bytes)
    (P, *_), (R, *_) = drawn()
    wanted = pomrl.plan(P, R, GAMMAS)
    rows = sparse.csr_array(P.reshape(-1, 6))
    for given in (rows, [sparse.csr_matrix(P[:, action]) for action in range(2)]):
        found = pomrl.plan(given, R, GAMMAS)
        np.testing.assert_allclose(found.values, wanted.values, rtol=1e-10)
        assert found.changes.equals(wanted.changes)


def test_rewards_of_states_and_of_transitions_are_those_of_pairs():
    (P, *_), _ = drawn()
    of_states = np.arange(6.0)
    wanted = pomrl.plan(P, np.repeat(of_states[:, None], 2, 1), GAMMAS)
    of_transitions = np.broadcast_to(of_states[:, None, None], P.shape)
    for R in (of_states, of_transitions):
        np.testing.assert_allclose(pomrl.plan(P, R, GAMMAS).values, wanted.values)


def test_gymnasiums_table_ends_where_episodes_do():
    table = {
        0: {0: [(0.5, 0, 0.0, False), (0.5, 1, 1.0, True)], 1: [(1.0, 0, 0.1, False)]},
        1: {0: [(1.0, 0, 9.0, False)], 1: [(1.0, 1, 0.0, False)]},
    }
    plan = pomrl.plan(table, None, [0.5])
    np.testing.assert_allclose(plan.values, [[0.5 / (1 - 0.25), 0.0]])
    table[0][1] = [(1.0, 1, 0.0, False)]  # the same state goes on, so that ends need one of their own
    model = pomrl.from_gymnasium(table, states=["start", "goal"])
    assert model.states == ("start", "goal", "end")
    assert model.plan([0.5]).values[0, 2] == 0.0


def test_environments_of_gymnasium_are_planned():
    gymnasium = pytest.importorskip("gymnasium")
    lake = pomrl.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False))
    assert lake.plan([0.9]).values[0, 0] == pytest.approx(0.9**5)
    assert "state 5 is never left" in lake.remarks


def test_remarks_name_states_that_are_never_left_or_never_reached():
    model = pomrl.from_arrays(FLIP, np.zeros(2), states=["home", "away"])
    assert model.remarks == ["state 'away' is never left", "state 'home' is reached from no other state"]


def test_planning_loads_no_libraries_for_tables_figures_or_configurations():
    code = "import sys, pomrl; pomrl.plan([[[1.0]]], [[1.0]], [0.5]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"hydra", "omegaconf", "matplotlib", "pandas", "scipy.stats"} & set(loaded)


def lacking_sum() -> np.ndarray:
    P = drawn()[0][0]
    P[3, 1] *= 0.9
    return P


def stack_with(value: float) -> np.ndarray:
    P = drawn()[0]
    P[1, 2, 1, 0] = value
    return P


LISTS: list[Any] = [[1], [2]]
ONE = sparse.csr_array(np.eye(2))
TABLE = {0: {0: [(np.nan, 0, 1.0, False)]}}
BAD = {
    "a row of one of several models": (lambda: pomrl.plan(stack_with(2), drawn()[1], [0.5]), r"the row P\[1, 2, 1\]"),
    "a probability that is NaN, with rewards of transitions": (
        lambda: pomrl.plan(stack_with(np.nan), np.zeros((6, 2, 6)), [0.5]),
        r"P\[1, 2, 1, 0\] = nan is not a probability",
    ),
    "a probability that is NaN in a table": (lambda: pomrl.plan(TABLE, None, [0.5]), r"P\[0, 0, 0\] = nan is not"),
    "a dictionary with rewards": (lambda: pomrl.plan(TABLE, np.zeros(1), [0.5]), "P is a dictionary: "),
    "an empty dictionary": (lambda: pomrl.plan({}, None, [0.5]), "P has no states"),
    "an array without rewards": (lambda: pomrl.plan(FLIP, None, [0.5]), "R is missing"),
    "sparse and dense": (lambda: pomrl.plan([ONE, np.eye(2)], np.zeros(2), [0.5]), r"P\[1\] is no sparse matrix"),
    "complex rewards": (lambda: pomrl.plan(FLIP, np.full(2, 1j), [0.5]), "R has the dtype complex128"),
    "actions before states": (
        lambda: pomrl.plan(drawn()[0][0].swapaxes(0, 1), np.zeros(6), [0.5]),
        r"P has to be \[..., S, A, S\], and is \[2, 6, 6\]: swap",
    ),
    "names that are unhashable": (
        lambda: pomrl.from_arrays(FLIP, np.zeros(2), states=iter(LISTS)),
        "names of states have to be hashable",
    ),
    "a name too many": (lambda: pomrl.from_arrays(FLIP, np.zeros(2), actions="aba"), "2 actions, and 3 names"),
    "discount factors in the order of the user": (
        lambda: pomrl.plan(FLIP, np.zeros(2), [0.5, -1.0]),
        r"gamma\[1\] = -1\.0",
    ),
    "a row that does not sum to one": (lambda: pomrl.plan(lacking_sum(), np.zeros(6), [0.5]), r"P\[3, 1\] = 0\.9"),
    "a reward that is NaN": (lambda: pomrl.plan(FLIP, [[0.0, np.nan], [0, 0]], [0.5]), r"R\[0, 1\]"),
    "no discount factor": (lambda: pomrl.plan(FLIP, np.zeros(2), [0.5, 1.0]), r"gamma\[1\] = 1\.0"),
    "no table": (lambda: pomrl.from_gymnasium(object()), "object has no table of transitions P"),
    "a table of something else": (lambda: pomrl.from_gymnasium({0: {0: [3]}}), r"P\[0\] is no dictionary"),
    "a state that is not there": (lambda: pomrl.from_gymnasium({0: {0: [(1.0, 7, 0, False)]}}), "leads to 7"),
    "names twice": (lambda: pomrl.from_arrays(FLIP, np.zeros(2), states="aa"), "2 states, and 1 different"),
    "models that do not fit": (lambda: pomrl.plan(drawn()[0], np.zeros((2, 6, 2)), [0.5]), "the same models"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_named_in_one_line(case: str):
    call, said = BAD[case]
    with pytest.raises(ValueError, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)
