"""Large sparse models of one's own: from matrices and files to plans and losses, without a dense array."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pomrl
from pomrl.models_and_logs import sparse_models
from pomrl.science.mdp import planning_loss
from pomrl.science.tasks.families.garnet import Garnet
from pomrl.science.tasks.families.queue import Queue

GAMMAS = [0.5, 0.9, 0.99]
S, A = 200, 3


def drawn() -> tuple[sparse.csr_array, np.ndarray]:
    """Return the pairs of a model with 4 successors each, and rewards R(s, a)."""
    rng = np.random.default_rng(0)
    following = np.stack([rng.choice(S, 4, replace=False) for _ in range(S * A)])
    rows = sparse.csr_array((rng.dirichlet(np.ones(4), S * A).ravel(), following.ravel(), 4 * np.arange(S * A + 1)))
    rows.resize((S * A, S))
    return rows, rng.random((S, A))


def long_table(rows: sparse.csr_array, R: np.ndarray, noise: float = 0.0) -> pd.DataFrame:
    """Return the rows of a model's transitions, whose rewards depend on the next state around R(s, a)."""
    pairs: Any = rows.tocoo()
    reward = R.ravel()[pairs.row] + noise * (pairs.col % 2)
    names = ["state", "action", "next_state", "probability", "reward"]
    return pd.DataFrame(dict(zip(names, [pairs.row // A, pairs.row % A, pairs.col, pairs.data, reward], strict=True)))


def test_a_large_sparse_model_is_planned_and_judged_as_the_dense_one() -> None:
    rows, R = drawn()
    dense = pomrl.from_arrays(rows.toarray().reshape(S, A, S), R)
    model = pomrl.from_arrays(rows, R)
    assert sparse.issparse(model.P)
    found, wanted = model.plan(GAMMAS), dense.plan(GAMMAS)
    np.testing.assert_array_equal(found.policies, wanted.policies)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-11)
    assert (found.bounds < 1e-9).all()
    assert (wanted.bounds < 1e-8).all()
    for norm in ("max", "mean"):
        losses = planning_loss(dense.P[None], R[None], wanted.policies[None], 0.99, norm=norm)[0]
        assert losses[0] > 0.0 == losses[2]
        np.testing.assert_allclose(model.planning_loss(found.policies, 0.99, norm), losses, atol=1e-10)
        np.testing.assert_allclose(dense.planning_loss(found.policies, 0.99, norm), losses, atol=1e-10)


def test_bounds_hold_what_policies_lose() -> None:
    """A policy that is optimal at another discount factor has a bound that is at least its loss."""
    rows, R = drawn()
    model = pomrl.from_arrays(rows, R)
    plan = model.plan(GAMMAS)
    for g, gamma in enumerate(GAMMAS):
        assert plan.bounds[g] >= model.planning_loss(plan.policies[[g]], gamma).item()


def npz(folder: Path, rows: sparse.csr_array, R: np.ndarray) -> Path:
    arrays: dict[str, Any] = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez(folder / "model.npz", R=R, **arrays)
    return folder / "model.npz"


def dense_npz(folder: Path, rows: sparse.csr_array, R: np.ndarray) -> Path:
    np.savez(folder / "model.npz", P=rows.toarray().reshape(S, A, S), R=R)
    return folder / "model.npz"


def csv(folder: Path, rows: sparse.csr_array, R: np.ndarray) -> Path:
    long_table(rows, R).to_csv(folder / "model.csv", index=False)
    return folder / "model.csv"


def parquet(folder: Path, rows: sparse.csr_array, R: np.ndarray) -> Path:
    shuffled = long_table(rows, R).sample(frac=1.0, random_state=0)
    shuffled.to_parquet(folder / "model.parquet")
    return folder / "model.parquet"


@pytest.mark.parametrize("written", [npz, dense_npz, csv, parquet])
def test_a_file_has_the_plan_of_its_matrices(written: Callable[..., Path], tmp_path: Path) -> None:
    rows, R = drawn()
    found = pomrl.from_file(written(tmp_path, rows, R)).plan(GAMMAS)
    wanted = pomrl.plan(rows, R, GAMMAS)
    np.testing.assert_array_equal(found.policies, wanted.policies)
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-11)


def test_rewards_of_transitions_are_expected_in_every_form(tmp_path: Path) -> None:
    rows, R = drawn()
    table = long_table(rows, R, noise=1.0)
    table.to_parquet(tmp_path / "model.parquet")
    wanted = R + (rows @ (np.arange(S) % 2)).reshape(S, A)
    np.testing.assert_allclose(pomrl.from_file(tmp_path / "model.parquet").R, wanted)
    of_transitions = sparse.csr_array((table["reward"], (rows.tocoo().row, rows.tocoo().col)), shape=rows.shape)
    np.testing.assert_allclose(pomrl.from_arrays(rows, of_transitions).R, wanted)
    each = [of_transitions[a::A] for a in range(A)]
    np.testing.assert_allclose(pomrl.from_arrays([rows[a::A] for a in range(A)], each).R, wanted)


def test_names_of_a_file_are_kept_in_the_order_of_their_rows(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "state,action,next_state,probability,reward\nnew,run,new,0.5,2\nnew,run,old,0.5,2\nold,run,old,1,1\n"
    )
    model = pomrl.from_file(tmp_path / "m.csv")
    assert (model.states, model.actions) == (("new", "old"), ("run",))
    np.testing.assert_allclose(model.plan([0.5]).values, [[(2 + 0.25 * 2) / 0.75, 2.0]])


def test_a_table_without_rewards_takes_them_from_the_caller(tmp_path: Path) -> None:
    rows, R = drawn()
    long_table(rows, R).drop(columns="reward").to_csv(tmp_path / "m.csv", index=False)
    np.testing.assert_array_equal(pomrl.from_file(tmp_path / "m.csv", R).R, R)
    with pytest.raises(ValueError, match=r"m\.csv: it has no rewards: give R"):
        pomrl.from_file(tmp_path / "m.csv")


def test_a_large_table_of_gymnasium_is_planned_without_a_dense_array(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {s: {0: [(0.5, s, 0.0, False), (0.5, min(s + 1, 149), 1.0, s > 147)], 1: [(1.0, 0, 0.1, False)]}
             for s in range(150)}  # fmt: skip
    found = pomrl.from_gymnasium(table)
    assert sparse.issparse(found.P)
    monkeypatch.setattr(sparse_models, "is_small", lambda _: True)
    wanted = pomrl.from_gymnasium(table)
    assert isinstance(wanted.P, np.ndarray)
    np.testing.assert_allclose(found.plan(GAMMAS).values, wanted.plan(GAMMAS).values, rtol=1e-11, atol=1e-12)
    assert found.remarks == wanted.remarks


@pytest.mark.parametrize(
    "family", [Queue(centre=0.4, spread=0.1, room=130), Garnet(centre=0.5, spread=0.5, states=130)]
)
def test_families_make_the_same_models_as_arrays_and_as_sparse_matrices(family: Queue | Garnet) -> None:
    models = family.candidate_models()
    for i in (0, 7):
        rows, R = family.sparse_model(models.latent[i].item())
        np.testing.assert_allclose(rows.toarray().reshape(models.P[i].shape), models.P[i], atol=1e-15)
        np.testing.assert_array_equal(R, models.R[i])
        assert pomrl.plan(rows, R, [0.9]).bounds[0] < 1e-8


def test_nothing_of_twenty_thousand_states_is_ever_dense() -> None:
    """A dense array of it would take 10 GB; everything together takes less than a hundredth of that."""
    queue = Queue(centre=0.4, spread=0.1, room=20_000)
    tracemalloc.start()
    rows, R = queue.sparse_model(0.4)
    model = pomrl.from_arrays(rows, R)
    loss = model.planning_loss(model.plan([0.5, 0.9]).policies, 0.9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 96e6
    assert loss[0] > 0.0 == loss[1]
    with pytest.raises(ValueError, match="Queue with 200001 states: the transition probabilities take"):
        Queue(centre=0.4, spread=0.1, room=200_000).candidate_models()


def changed(entry: tuple[int, int], value: float) -> sparse.csr_array:
    rows: Any = drawn()[0].tolil()
    rows[entry] = value
    return sparse.csr_array(rows)


def emptied(pair: int) -> sparse.csr_array:
    rows = drawn()[0]
    rows.data[rows.indptr[pair] : rows.indptr[pair + 1]] = 0.0
    rows.eliminate_zeros()
    return rows


ROWS, R = drawn()
EACH: list[Any] = [ROWS[a::A] for a in range(A)]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "a row that sums to more": (
        lambda: pomrl.plan(changed((16, 7), 0.5), R, GAMMAS),
        r"P\[5, 1\] is no distribution: its",
    ),
    "a negative entry": (
        lambda: pomrl.plan(changed((16, 7), -0.5), R, GAMMAS),
        r"P\[5, 1\] is no distribution: P\[5, 1, 7\] = -0\.5 is not a probability",
    ),
    "NaN": (lambda: pomrl.plan(changed((599, 0), np.nan), R, GAMMAS), r"P\[199, 2, 0\] = nan is not a probability"),
    "an action that leads nowhere": (
        lambda: pomrl.plan(emptied(16), R, GAMMAS),
        r"P\[5, 1\] is no distribution: the action 1 leads nowhere in the state 5",
    ),
    "pairs that are no multiple": (lambda: pomrl.plan(ROWS[:-1], R, GAMMAS), r"has to be \[S A, S\], and its shape is"),
    "no pairs": (lambda: pomrl.plan(ROWS[:0], R, GAMMAS), "A = 0: a model has to have at least one action"),
    "an action of another size": (
        lambda: pomrl.plan([EACH[0], ROWS], R, GAMMAS),
        r"P\[1\] has to be \[S, S\] = \[200, 200\] as P\[0\], and its shape is \[600, 200\]",
    ),
    "complex numbers": (lambda: pomrl.plan(ROWS.astype(complex), R, GAMMAS), "P has the dtype complex128"),
    "rewards of another shape": (lambda: pomrl.plan(ROWS, R[:-1], GAMMAS), r"R has to be \[S\], \[S, A\] = \[200"),
    "sparse rewards of another shape": (lambda: pomrl.plan(ROWS, ROWS[: 2 * S], GAMMAS), r"a sparse R has to be \[S A"),
    "rewards that are NaN": (
        lambda: pomrl.plan(ROWS, np.full((S, A), np.nan), GAMMAS),
        r"R\[0, 0\] = nan is not finite",
    ),
    "an action that is none": (
        lambda: pomrl.from_arrays(ROWS, R).planning_loss(np.full((1, S), 3), 0.9),
        r"policy\[0, 0\] = 3 is not one of the 3 actions",
    ),
    "gamma_eval of 1": (lambda: pomrl.from_arrays(ROWS, R).planning_loss(np.zeros((1, S), int), 1.0), "gamma_eval=1"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_sparse_model_is_named_in_one_line(case: str) -> None:
    call, said = BAD[case]
    with pytest.raises(ValueError, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


HEAD = "state,action,next_state,probability,reward\n"
WRONG_FILES = {
    "a missing column": ("m.csv", "state,action,next_state,reward\n0,0,0,1\n", "the column probability is missing"),
    "an empty field": ("m.csv", HEAD + "0,0,0,1,\n", "row 0: reward is missing"),
    "a transition twice": ("m.csv", HEAD + "0,0,0,0.5,1\n0,0,0,0.5,1\n", "row 1: this transition is there twice"),
    "no rows": ("m.csv", HEAD, "it has no rows"),
    "a pair without rows": ("m.csv", HEAD + "0,0,1,1,0\n1,1,0,1,0\n", "no row for state 0 and action 1"),
    "a state of a wrong number": ("m.csv", HEAD + "0,0,900000000000,1,0\n", "no row for state 1 and action 0"),
    "a negative state": ("m.csv", HEAD + "0,0,0,1,0\n-1,0,0,1,0\n", "row 1: state=-1 is negative"),
    "a row that sums to less": ("m.csv", HEAD + "0,0,0,0.5,0\n", r"row P\[0, 0\] = 0\.5 is not 1"),
    "text for a probability": ("m.csv", HEAD + "0,0,0,half,0\n", "probability has the dtype"),
    "another kind of file": ("m.txt", "", r"ends with \.npz, \.parquet or \.csv"),
    "a file that is no npz": ("m.npz", "x", "it is no file of NumPy's format npz"),
    "a file that is no parquet": ("m.parquet", "x", "it cannot be read"),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_wrong_file_is_named_with_what_is_wrong(case: str, tmp_path: Path) -> None:
    name, content, said = WRONG_FILES[case]
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=said) as raised:
        pomrl.from_file(tmp_path / name)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert "\n" not in str(raised.value)


def test_an_npz_without_a_model_says_what_it_has(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", Q=np.zeros(3))
    with pytest.raises(ValueError, match="neither P nor data; it has Q"):
        pomrl.from_file(tmp_path / "m.npz")
    sparse.save_npz(tmp_path / "n.npz", ROWS)
    with pytest.raises(ValueError, match="it has no rewards: give R"):
        pomrl.from_file(tmp_path / "n.npz")
    assert pomrl.from_file(tmp_path / "n.npz", R).R is not None
