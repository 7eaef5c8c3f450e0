"""Row models: which dependence a log speaks for, and that beliefs are those of the model that is named."""

import numpy as np
import pytest

from pomrl.models_and_logs import ties
from pomrl.models_and_logs.structure import DECLARED, Evidence, Structure, weigh
from pomrl.models_and_logs.successors import Successors
from pomrl.models_and_logs.ties import INDEPENDENT, TOGETHER, directions, learned_ties, log_chances

S, A, K = 5, 2, 10


def walk(chance: np.ndarray) -> np.ndarray:
    """Models [k, S, A, S] of a walk that goes up with a chance of each pair, [k, S, A], and down else."""
    P = np.zeros((*chance.shape, S))
    for state in range(S):
        P[:, state, :, min(state + 1, S - 1)] += chance[:, state]
        P[:, state, :, max(state - 1, 0)] += 1.0 - chance[:, state]
    return P


def tied_models(latents: np.ndarray) -> np.ndarray:
    return walk(np.broadcast_to(latents[:, None, None], (len(latents), S, A)))


def logged(P: np.ndarray, visits: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).multinomial(visits, P)


TIED = tied_models(np.random.default_rng(1).uniform(0.1, 0.9, K))
FREE = walk(np.random.default_rng(2).uniform(0.3, 0.7, (K, S, A)))


def test_rows_that_move_together_are_found_in_held_out_tasks():
    learned, evidence = weigh(logged(TIED, 15), None, np.random.default_rng(0))
    assert evidence.winner == TOGETHER == learned.words
    assert evidence.is_decided
    assert evidence.words.startswith(f"The log shows that {TOGETHER}, against the assumption that {INDEPENDENT} (log-")


def test_where_rows_are_independent_the_log_does_not_decide_and_the_report_says_so():
    _, evidence = weigh(logged(FREE, 15), None, np.random.default_rng(0))
    assert evidence.winner == INDEPENDENT
    assert evidence.words.startswith(
        f"The log does not decide whether {INDEPENDENT}, or whether {TOGETHER}; the report assumes the "
    )


def test_a_task_of_tied_rows_learns_from_all_its_rows():
    counts = logged(TIED, 15)
    learned = learned_ties(counts, np.random.default_rng(0))
    alone = learned_ties(counts, np.random.default_rng(0), (0.0,))
    error, of_alone = (
        np.mean([((each.mean(n) - P) ** 2).sum() for n, P in zip(counts, TIED, strict=True)])
        for each in (learned, alone)
    )
    assert error < 0.7 * of_alone


def test_means_are_those_of_samples_and_samples_are_models():
    counts = logged(TIED, 6)
    learned = learned_ties(counts, np.random.default_rng(0))
    drawn = learned.sample(np.random.default_rng(1), counts[3], 4000)
    np.testing.assert_allclose(drawn.sum(-1), 1.0)
    np.testing.assert_allclose(learned.mean(counts[3]).sum(-1), 1.0)
    np.testing.assert_allclose(drawn.mean(0), learned.mean(counts[3]), atol=0.02)


def test_the_chance_of_transitions_is_that_of_an_urn():
    """Transition by transition, each next state with the share of its balls, of which one more is put in."""
    counts = np.zeros((1, 3, 1, 3), int)
    counts[0, 0, 0] = [2, 1, 0]
    of = Successors.of(counts + 1)
    P, kappa = np.tile([0.5, 0.3, 0.2], 3)[None, None], 4.0
    balls, urn = kappa * P[0, 0, :3], []
    for state in (0, 0, 1):
        urn.append(balls[state] / balls.sum())
        balls = balls + np.eye(3)[state]
    found = log_chances(counts.ravel().astype(float), P, np.array([kappa])[:, None, None], of)
    assert found.item() == pytest.approx(np.log(urn).sum())


def test_with_one_task_rows_are_taken_as_independent():
    learned, evidence = weigh(logged(TIED[:1], 5), None, np.random.default_rng(0))
    assert learned.words == INDEPENDENT
    assert not evidence.is_decided
    assert evidence.words == f"The report assumes that {INDEPENDENT}."


LATENTS = np.linspace(0.05, 0.95, 19)


def test_a_declared_structure_that_is_true_wins_and_knows_its_latent():
    counts = logged(TIED, 10)
    learned, evidence = weigh(counts, Structure(LATENTS, tied_models), np.random.default_rng(0))
    assert evidence.winner == DECLARED
    assert evidence.gain.sum() > 10.0
    up = counts[0]
    ups = sum(up[s, :, min(s + 1, S - 1)].sum() for s in range(S - 1)) + up[S - 1, :, S - 1].sum()
    n = counts[0].sum()
    weight = LATENTS**ups * (1 - LATENTS) ** (n - ups)
    np.testing.assert_allclose(learned.mean(counts[0])[1, 0, 2], (weight * LATENTS).sum() / weight.sum())
    drawn = learned.sample(np.random.default_rng(0), counts[0], 2000)
    np.testing.assert_allclose(drawn.mean(0), learned.mean(counts[0]), atol=0.02)


def test_a_declared_structure_that_is_wrong_loses():
    learned, evidence = weigh(logged(FREE, 15), Structure(LATENTS, tied_models), np.random.default_rng(0))
    assert learned.words == INDEPENDENT
    assert evidence.loser == DECLARED
    assert evidence.is_decided


@pytest.mark.parametrize(
    ("gain", "decided"), [([12.0, 8.0, 10.0, 10.0], True), ([20.0, 0.0, 0.0, 20.0], False), ([2.0, 2.1, 1.9], False)]
)
def test_evidence_is_decided_beyond_two_standard_errors_and_chance(gain: list[float], decided: bool):
    assert Evidence("one", "other", np.array(gain)).is_decided is decided


def test_fits_begin_at_the_same_places_whatever_the_sign_of_a_singular_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(0).integers(0, 9, size=(6, 3, 2, 3))
    of = Successors.of(counts)
    x = counts.reshape(len(counts), -1)[:, of.index].astype(float)
    places, svd = directions(x, of), np.linalg.svd
    assert places[np.abs(places).argmax()] > 0
    monkeypatch.setattr(np.linalg, "svd", lambda matrix, **how: tuple(-each for each in svd(matrix, **how)))
    np.testing.assert_array_equal(directions(x, of), places)


def test_rounding_errors_of_a_processor_change_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = logged(TIED, 3)
    assert (counts == 1).any()

    def drawn() -> np.ndarray:
        rng = np.random.default_rng(0)
        return learned_ties(counts, rng).sample(rng, counts[0], 20)

    before, digamma, noise = drawn(), ties.digamma, np.random.default_rng(1)
    monkeypatch.setattr(ties, "digamma", lambda x: digamma(x) * (1.0 + 1e-14 * noise.standard_normal(np.shape(x))))
    np.testing.assert_allclose(drawn(), before, atol=1e-6)
