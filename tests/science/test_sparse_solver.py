"""Planning and evaluation of sparse models: against closed forms, brute force, LAPACK and Bellman's equation."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array, vstack
from scipy.sparse.linalg import spsolve
from tests.support.sample_models import sparse_queue

from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers import compiled, sparse

built = pytest.mark.skipif(not compiled.is_built(), reason="the engine was not built, as POMRL_NO_ENGINE=1 allows")

WAYS: dict[str, dict[str, float]] = {
    "as it chooses itself": {},
    "in C, sorted often": {"MISPLACED_SHARE": 0.0},
    "in C in vain, then factorised": {"BICGSTAB_STEPS": 2, "BICGSTAB_STARTS": 1},
    "factorised": {"MAX_ENTRIES": 0, "BICGSTAB_STATES": np.inf},
    "BiCGSTAB": {"MAX_ENTRIES": 0, "BICGSTAB_STATES": 0},
    "BiCGSTAB in vain, then factorised": {
        "MAX_ENTRIES": 0,
        "BICGSTAB_STATES": 0,
        "BICGSTAB_STEPS": 2,
        "BICGSTAB_STARTS": 1,
    },
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(sparse, name, value)
    return request.param


def random_graph(S: int, A: int, successors: int, seed: int = 0) -> tuple[csr_array, np.ndarray]:
    rng = np.random.default_rng(seed)
    following = rng.integers(0, S, (A * S, successors))
    chances = rng.dirichlet(np.ones(successors), A * S)
    rows = csr_array((chances.ravel(), following.ravel(), successors * np.arange(A * S + 1)), shape=(A * S, S))
    return rows, rng.random((S, A))


def grid(n: int, goal: bool) -> tuple[csr_array, np.ndarray]:
    """Return a walk on n by n cells that goes to a side with probability 0.1 each, for one goal or random rewards."""
    S, cells = n * n, np.indices((n, n)).reshape(2, -1)
    steps = ((0, -1), (1, 0), (0, 1), (-1, 0))
    after = np.stack([np.ravel_multi_index(np.clip((cells.T + step).T, 0, n - 1), (n, n)) for step in steps])  # type: ignore[arg-type]
    moves = [[(after[a], 0.8), (after[a - 1], 0.1), (after[(a + 1) % 4], 0.1)] for a in range(4)]
    following = np.stack([[where for where, _ in outcomes] for outcomes in moves])
    chances = np.broadcast_to(np.array([0.8, 0.1, 0.1])[None, :, None], following.shape)
    pair = np.broadcast_to(np.arange(4 * S).reshape(4, 1, S), following.shape)
    rows = csr_array((chances.ravel(), (pair.ravel(), following.ravel())), shape=(4 * S, S))
    R = np.zeros((S, 4)) if goal else np.repeat(np.random.default_rng(1).random((S, 1)), 4, 1)
    R[-1] = 1.0
    return rows, R


def queue(S: int) -> tuple[csr_array, np.ndarray]:
    rows, R = sparse_queue(S)
    return sparse.by_action(rows, R.shape[1]), R


MODELS = {
    "random graph": lambda: random_graph(300, 3, 8),
    "one successor": lambda: random_graph(300, 3, 1),
    "grid with a goal": lambda: grid(18, goal=True),
    "grid": lambda: grid(18, goal=False),
    "queue": lambda: queue(300),
}


def dense(rows: csr_array, A: int) -> np.ndarray:
    return rows.toarray().reshape(A, -1, rows.toarray().shape[1]).transpose(1, 0, 2)


@pytest.mark.parametrize("gamma", [0.5, 0.99])
def test_birth_and_death_has_closed_values(way: str, gamma: float) -> None:
    """Between two ends that are never left and where the last one pays 1, V(s) is a sum of two powers of s."""
    n, up, down = 300, 0.6, 0.4
    inner = np.r_[0.0, np.ones(n - 1), 0.0]
    rows = csr_array(diags_array([down * inner[1:], 1.0 - inner, up * inner[:-1]], offsets=[-1, 0, 1]))  # type: ignore[call-overload]
    R = np.zeros((n + 1, 1))
    R[-1] = 1.0
    low, high = np.roots([gamma * up, -1.0, gamma * down])[::-1]
    s = np.arange(n + 1)
    expected = high ** (s - n) * (1.0 - (low / high) ** s) / (1.0 - (low / high) ** n) / (1.0 - gamma)
    for actual in (
        sparse.plan(rows, R, np.array([gamma]))[1],
        sparse.policy_values(rows, R, np.zeros((1, n + 1), int), gamma),
    ):
        np.testing.assert_allclose(actual[0], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kind", MODELS)
def test_sparse_plans_equal_dense_ones(way: str, kind: str) -> None:
    rows, R = MODELS[kind]()
    gammas = np.array([0.0, 0.6, 0.95])
    policies, values = sparse.plan(rows, R, gammas)
    P = dense(rows, R.shape[1])
    assert sparse.is_sparse(P)
    exact = PolicyIteration().plan(P[None], R[None], gammas)[0]
    states, scale = np.arange(len(R)), np.abs(R).max()
    for g, gamma in enumerate(gammas):
        expected, own = (
            np.linalg.solve(np.eye(len(R)) - gamma * P[states, policy], R[states, policy])
            for policy in (exact[g], policies[g])
        )
        np.testing.assert_allclose(own, expected, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(values[g], own, rtol=0, atol=1e-9 * scale)
    evaluated = sparse.policy_values(rows, R, policies, 0.95)
    for policy, V in zip(policies, evaluated, strict=True):
        chain = np.eye(len(R)) - 0.95 * P[states, policy]
        np.testing.assert_allclose(V, np.linalg.solve(chain, R[states, policy]), rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("kind", ["grid with a goal", "grid", "queue"])
def test_no_action_is_better_near_one(kind: str) -> None:
    """Models of 729 states, at whose first discount factors BiCGSTAB finds the values, and at others does not."""
    rows, R = {"queue": lambda: queue(729)}.get(kind, lambda: grid(27, goal=kind != "grid"))()
    gammas, states = np.array([0.0, 0.5, 0.9, 0.91, 0.99, 0.999, 0.9999]), np.arange(len(R))
    P, scale = dense(rows, R.shape[1]), np.abs(R).max()
    for gamma, policy, values in zip(gammas, *sparse.plan(rows, R, gammas), strict=True):
        V = np.linalg.solve(np.eye(len(R)) - gamma * P[states, policy], R[states, policy])
        gain = (R + gamma * P @ V).max(1) - V
        assert (1.0 - gamma) * gain.max() <= 2e-12 * scale
        rounding = 8.0 * np.finfo(float).eps * np.abs(V).max()
        assert (1.0 - gamma) * np.abs(values - V).max() <= max(1e-12 * scale, rounding)


def with_both_signs(rows: csr_array, R: np.ndarray) -> tuple[csr_array, np.ndarray]:
    return rows, R - R.mean()


LARGE_MODELS = {
    "random graph": lambda: random_graph(2500, 4, 8),
    "random graph with losses": lambda: with_both_signs(*random_graph(2500, 4, 8)),
    "grid with a goal": lambda: grid(40, goal=True),
    "grid with costs until a goal": lambda: (grid(40, goal=True)[0], grid(40, goal=True)[1] - 1.0),
    "grid with losses": lambda: with_both_signs(*grid(40, goal=False)),
    "queue": lambda: queue(2500),
}


@built
@pytest.mark.parametrize("kind", LARGE_MODELS)
def test_the_engine_equals_a_direct_solver(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, R = LARGE_MODELS[kind]()
    gammas, states = np.array([0.0, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]), np.arange(len(R))
    policies, values = sparse.plan(rows, R, gammas)
    monkeypatch.setattr(compiled, "is_built", lambda: False)
    reference = sparse.plan(rows, R, gammas)[1]
    for g, gamma in enumerate(gammas.tolist()):
        chain = eye_array(len(R)) - gamma * rows[policies[g].astype(int) * len(R) + states]
        V = np.asarray(spsolve(chain.tocsc(), R[states, policies[g]]))
        scale = max(1.0, np.abs(R).max() / (1.0 - gamma))
        np.testing.assert_allclose(values[g], V, rtol=0, atol=1e-11 * scale)
        np.testing.assert_allclose(values[g], reference[g], rtol=0, atol=1e-11 * scale)


@built
@pytest.mark.parametrize("kind", ["random graph", "grid with a goal", "grid with losses"])
def test_the_engine_keeps_tied_actions(kind: str) -> None:
    """The second half of the actions are copies of the first half, so that all are tied."""
    rows, R = LARGE_MODELS[kind]()
    gammas = np.array([0.9, 0.95, 0.99])
    twice, doubled_rewards = csr_array(vstack([rows, rows])), np.concatenate([R, R], 1)
    policies = sparse.plan(twice, doubled_rewards, gammas)[0]
    originals = policies % R.shape[1]
    np.testing.assert_array_equal(
        policies[1:][originals[1:] == originals[:-1]], policies[:-1][originals[1:] == originals[:-1]]
    )


@built
def test_scaled_rewards_have_scaled_values(way: str) -> None:
    rows, R = grid(18, goal=False)
    gammas = np.array([0.5, 0.95])
    policies, values = sparse.plan(rows, R, gammas)
    for exponent in (-400, -60, 60):
        scaled = sparse.plan(rows, np.ldexp(R, exponent), gammas)
        np.testing.assert_array_equal(scaled[0], policies)
        np.testing.assert_array_equal(scaled[1], np.ldexp(values, exponent))


@built
def test_buffers_that_are_no_model_are_refused() -> None:
    S, A = 3, 2
    first, following, P = np.arange(S * A + 1, dtype=np.int32), np.zeros(S * A, np.int32), np.ones(S * A)
    right = first, following, P, np.zeros((S, A)), np.zeros(S), np.zeros(S, np.int16)
    numbers = S, A, 0.5, 1e-9, 0.1, 0.0, 0.0, 10, 2, 1, 1, 100
    compiled._sparse.improve(*right, *numbers)  # type: ignore[union-attr]
    wrong = [
        (0, first[:-1].copy(), ValueError, "first must have 7 items, got 6"),
        (0, first[::-1].copy(), IndexError, "out of range"),
        (1, following - 1, IndexError, "out of range"),
        (1, following + S, IndexError, "out of range"),
        (1, following.astype(np.int64), ValueError, "next must have items of a format"),
        (2, P[:-1].copy(), ValueError, "P must have 6 items, got 5"),
        (3, np.zeros(5), ValueError, "R must have 6 items, got 5"),
        (5, np.full(S, A, np.int16), IndexError, "out of range"),
    ]
    for position, array, error, message in wrong:
        buffers = [array if i == position else buffer for i, buffer in enumerate(right)]
        with pytest.raises(error, match=message):
            compiled._sparse.improve(*buffers, *numbers)  # type: ignore[union-attr]


def test_endless_sparse_planning_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "MAX_EVALUATIONS", 0)
    rows, R = grid(40, goal=False)
    with pytest.raises(ArithmeticError, match=r"gamma = 0\.999: policy iteration did not converge in 0 evaluations"):
        sparse.plan(rows, R, np.array([0.999]))
