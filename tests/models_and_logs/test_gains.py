"""Gains over a log: parts that are independent, estimates without bias, and limits that hold."""

import numpy as np
import pytest

from pomrl.models_and_logs.departures import KEEP
from pomrl.models_and_logs.gains import PARTS, judges
from pomrl.models_and_logs.horizon_reports import horizon_report
from pomrl.models_and_logs.logs import Log
from pomrl.science.mdp import policy_value

K, S, A, GAMMA = 4, 4, 2, 0.9
RNG = np.random.default_rng(3)
P = RNG.dirichlet(np.ones(S), (K, S, A))
R = RNG.random((1, S, A, 1)) + np.zeros((K, S, A, S))
BEHAVIOUR = np.array([0.8, 0.2])
"""How the log chooses actions in each state."""


def log_of(steps: int, seed: int, noise: float = 0.0) -> Log:
    """A log in which each task has so many transitions from each state."""
    rng = np.random.default_rng(seed)
    visits = rng.multinomial(steps, BEHAVIOUR, (K, S))
    counts = rng.multinomial(visits, P)
    error = noise * np.sqrt(counts) * rng.standard_normal(counts.shape)
    within = noise**2 * np.where(counts > 1, rng.chisquare(np.maximum(counts - 1, 1)), 0.0)
    total = counts * R + error
    squares = total**2 / np.maximum(counts, 1) + within
    return Log(counts, total, squares, *(tuple(range(n)) for n in (K, S, A)))


def true_gain(policies: np.ndarray) -> float:
    chance = np.where((policies == KEEP)[..., None], BEHAVIOUR, np.eye(A)[policies])
    return float(np.mean(_values(chance) - _values(np.broadcast_to(BEHAVIOUR, chance.shape))))


def _values(chance: np.ndarray) -> np.ndarray:
    mixed, rewards = np.einsum("ksa,ksat->kst", chance, P)[:, :, None], (chance * R[..., 0]).sum(-1, keepdims=True)
    return policy_value(mixed, rewards, np.zeros((K, S), int), GAMMA)


def test_parts_add_up_to_the_log_and_have_its_variance():
    log = log_of(200, 0, noise=0.5)
    parts = log.parts(5, np.random.default_rng(1))
    for name in ("counts", "total", "squares"):
        np.testing.assert_allclose(sum(getattr(part, name) for part in parts), getattr(log, name), atol=1e-9)
    often = log.counts > 30
    means = np.array([(part.total / np.maximum(part.counts, 1))[often] for part in parts])
    variance = np.array([part.counts[often] for part in parts]).mean(0) * means.var(0, ddof=1)
    assert variance.mean() == pytest.approx(0.25, rel=0.25)
    assert log.without(parts[0]).noise[often].mean() == pytest.approx(0.25, rel=0.1)


def test_a_part_corrects_what_the_others_say_and_its_errors_are_as_large_as_they_are_said_to_be():
    policies = np.array([[1, KEEP, 0, 1]] * K)
    kept = np.full((K, S), KEEP)
    gains, said = [], []
    for seed in range(200):
        parts = [judge.value(policies) - judge.value(kept) for judge in judges(log_of(60, seed), GAMMA, None, RNG)]
        gains.append(np.mean([part.of_tasks.mean() for part in parts]))
        said.append(sum((part.errors**2).sum() for part in parts) / (PARTS * K) ** 2)
    error = np.std(gains) / np.sqrt(len(gains))
    assert np.mean(gains) == pytest.approx(true_gain(policies), abs=3 * error)
    assert np.mean(said) == pytest.approx(np.var(gains), rel=0.4)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_limits_hold_and_nobody_is_told_to_change_and_loses(noise: float):
    reports = [horizon_report(log_of(60, seed, noise), GAMMA) for seed in range(60)]
    gains = np.array([true_gain(report.recommendation.policies) for report in reports])
    lower = np.array([report.improvement.lower for report in reports])
    assert (gains >= lower - 1e-9).mean() >= 0.9
    assert (gains < -1e-9).mean() <= 0.05
    possible = max(true_gain(np.array([policy] * K)) for policy in ([0] * S, [1] * S))
    assert gains.mean() > 0.5 * possible
