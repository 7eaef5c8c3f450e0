"""Models whose transitions are random moves."""

import numpy as np

from pomrl_studies.beyond.estimators.random_moves import MoveCounts, MoveModel, fit_moves

S, A, N = 5, 2, 3


def draw_model(seed: int) -> MoveModel:
    """A model with random probabilities of moves, in N runs."""
    rng = np.random.default_rng(seed)

    def simplex(*shape: int) -> np.ndarray:
        weight = rng.gamma(0.5, size=shape) + 1e-6
        return weight / weight.sum(-1, keepdims=True)

    moves = simplex(N, A, 3 * S - 1)
    blocked = rng.random((N, S, 2 * S - 1))
    return MoveModel(moves[..., : 2 * S - 1], moves[..., 2 * S - 1 :], blocked, 1.0 - blocked, simplex(N, S, S))


def by_definition(moves: MoveModel) -> np.ndarray:
    actual = np.zeros((N, S, A, S))
    for run, s, a in np.ndindex(N, S, A):
        actual[run, s, a] += moves.reset[run, a]
        for v, d in enumerate(range(1 - S, S)):
            end = min(max(s + d, 0), S - 1)
            actual[run, s, a, end] += moves.shift[run, a, v] * moves.passed[run, s, v]
            actual[run, s, a] += moves.shift[run, a, v] * moves.blocked[run, s, v] * moves.fallback[run, s]
    return actual


def draw_counts(moves: MoveModel, m: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(m, moves.model).astype(float)


def test_the_model_is_that_of_the_definition():
    moves = draw_model(0)
    np.testing.assert_allclose(moves.model, by_definition(moves), rtol=1e-12)
    np.testing.assert_allclose(moves.model.sum(-1), 1.0, rtol=1e-12)


def test_explained_moves_follow_the_definition():
    moves, now = draw_model(4), draw_model(5)
    counts, weights = draw_counts(moves, 6), np.random.default_rng(2).random((N, S, A))
    model = by_definition(now)
    reset, fallback = np.zeros((N, A, S)), np.zeros((N, S, S))
    shift, passed, blocked = (np.zeros(shape) for shape in ((N, A, 2 * S - 1), (N, S, 2 * S - 1), (N, S, 2 * S - 1)))
    for run, s, a, v in np.ndindex(N, S, A, 2 * S - 1):
        end = min(max(s + v + 1 - S, 0), S - 1)
        ratio = weights[run, s, a] * counts[run, s, a] / model[run, s, a]
        reset[run, a] += now.reset[run, a] * ratio / (2 * S - 1)
        fallback[run, s] += now.shift[run, a, v] * now.blocked[run, s, v] * now.fallback[run, s] * ratio
        shift_share = now.shift[run, a, v] * now.passed[run, s, v] * ratio[end]
        block_share = now.shift[run, a, v] * now.blocked[run, s, v] * (ratio * now.fallback[run, s]).sum()
        shift[run, a, v] += shift_share + block_share
        passed[run, s, v] += shift_share
        blocked[run, s, v] += block_share
    explained = now.expected_moves(counts, weights)
    for name, expected in vars(MoveCounts(shift, reset, blocked, passed, fallback)).items():
        np.testing.assert_allclose(getattr(explained, name), expected, err_msg=name)


def test_rows_are_predicted_without_themselves():
    moves = draw_model(7)
    counts, weights = draw_counts(moves, 9), np.ones((N, S, A))
    earlier = draw_model(8).expected_moves(draw_counts(draw_model(9), 20), weights)
    explained = moves.expected_moves(counts, weights)
    fitted_moves = explained.probabilities(earlier)
    actual = moves.without_each_row(counts, weights, explained, earlier)
    np.testing.assert_allclose(actual.sum(-1), 1.0)
    for s, a in np.ndindex(S, A):
        other_counts = counts.copy()
        other_counts[:, s, a] = 0.0
        expected = moves.expected_moves(other_counts, weights).probabilities(earlier).model[:, s, a]
        np.testing.assert_allclose(actual[:, s, a], expected, rtol=1e-9)
    assert not np.allclose(actual, fitted_moves.model)


def test_walls_and_resets_are_recovered():
    P = np.zeros((1, S, 1, S))
    for s in range(S):
        for d, p in ((1, 0.6), (-1, 0.3)):
            end = s + d if 0 <= s + d < S and not (s == 2 and d == 1) else s  # a wall between 2 and 3
            P[0, s, 0, end] += p
        P[0, s, 0, 0] += 0.1
    counts = np.random.default_rng(0).multinomial(2000, P).astype(float)
    none = MoveCounts.none(1, S, 1)
    moves = fit_moves(counts, np.ones((1, S, 1)), none, none.probabilities(none), 300)
    np.testing.assert_allclose(moves.model, P, atol=0.03)
    assert moves.blocked[0, 2, S] > 0.9 > 0.1 > moves.blocked[0, 1, S]
