"""Gains over a log: estimates without bias, limits that hold, and episodes that depend on something hidden."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_logs import make_log

from pomrl.science.mdp import policy_value
from pomrl_logs import from_log
from pomrl_logs.gains import FOLDS, FoldEvaluator, estimate_gains, fold_evaluators
from pomrl_logs.horizon_reports import horizon_report
from pomrl_logs.logs import Log
from pomrl_logs.safe_improvement import KEEP

pytestmark = pytest.mark.slow

K, S, A, GAMMA = 4, 4, 2, 0.9
RNG = np.random.default_rng(3)
P = RNG.dirichlet(np.ones(S), (K, S, A))
R = RNG.random((1, S, A, 1)) + np.zeros((K, S, A, S))
BEHAVIOUR = np.array([0.8, 0.2])
"""How the log chooses actions in each state."""
POLICIES = np.array([[1, KEEP, 0, 1]] * K)


def draw_log(steps: int, seed: int, noise: float = 0.0) -> Log:
    """A log in which each task has so many transitions from each state."""
    rng = np.random.default_rng(seed)
    log = make_log(rng.multinomial(rng.multinomial(steps, BEHAVIOUR, (K, S)), P), R)
    return replace(log, reward=log.reward + noise * rng.standard_normal(len(log.reward)))


def evaluators(log: Log) -> Iterator[FoldEvaluator]:
    return fold_evaluators(log, GAMMA, None, log.split(FOLDS, RNG), log.worst_ends)


def true_gain(policies: np.ndarray) -> float:
    chance = np.where((policies == KEEP)[..., None], BEHAVIOUR, np.eye(A)[policies])
    return float(np.mean(_values(chance) - _values(np.broadcast_to(BEHAVIOUR, chance.shape))))


def _values(chance: np.ndarray) -> np.ndarray:
    mixed, rewards = np.einsum("ksa,ksat->kst", chance, P)[:, :, None], (chance * R[..., 0]).sum(-1, keepdims=True)
    return policy_value(mixed, rewards, np.zeros((K, S), int), GAMMA)


def gain(evaluator: FoldEvaluator) -> tuple[float, float]:
    """The corrected gain of the policies, and the variance that is said of it."""
    actual = evaluator.value(POLICIES) - evaluator.value(np.full((K, S), KEEP))
    return actual.corrected.mean(), (actual.errors**2).sum() / K**2


def test_folds_correct_each_other_with_honest_errors():
    actual = np.array([[gain(evaluator) for evaluator in evaluators(draw_log(60, seed))] for seed in range(60)])
    gains, stated = actual[..., 0].mean(-1), actual[..., 1].sum(-1) / FOLDS**2
    assert gains.mean() == pytest.approx(true_gain(POLICIES), abs=3 * gains.std() / np.sqrt(len(gains)))
    assert stated.mean() == pytest.approx(gains.var(), rel=0.5)


def test_wrong_models_are_corrected_by_other_folds():
    errors = []
    for seed in range(20):
        for evaluator in evaluators(draw_log(60, seed)):
            wrong = replace(evaluator.estimate, R=evaluator.estimate.R + np.array([0.0, 0.0, 0.5]))
            evaluator.estimate = wrong
            by_models = (wrong.values(POLICIES, GAMMA) - wrong.values(np.full((K, S), KEEP), GAMMA)).mean()
            errors.append((by_models - true_gain(POLICIES), gain(evaluator)[0] - true_gain(POLICIES)))
    uncorrected, corrected = np.mean(errors, 0)
    assert uncorrected > 1.0
    assert abs(corrected) < 0.15 * uncorrected


def test_repeated_transitions_count_once():
    log = draw_log(60, 0)
    twice = replace(log, **{name: np.repeat(getattr(log, name), 2) for name in ("cell", "reward", "episode")})
    as_one, as_two = (
        estimate_gains(version, np.array([GAMMA]), None, np.random.default_rng(0)).deviation[0]
        for version in (twice, replace(twice, episode=np.arange(len(twice.cell))))
    )
    assert as_one / as_two == pytest.approx(np.sqrt(2.0), rel=0.1)


def goals(names: int, share: float = 0.5, seed: int = 1) -> pd.DataFrame:
    """Episodes that stay in a state, until action y reaches a goal with probability 0.5, and pays 1."""
    rng, rows = np.random.default_rng(seed), []
    for episode in range(200):
        for _ in range(10):
            action = "xy"[int(rng.random() < share)]
            hit = bool(action == "y" and rng.random() < 0.5)
            rows.append((episode, "a", action, float(hit), f"goal{episode % names}" if hit else "a", hit))
            if hit:
                break
    return pd.DataFrame(rows, columns=["episode", "state", "action", "reward", "next_state", "done"])


def test_gains_ignore_names_of_ends():
    logs = [
        from_log(goals(1), episode="episode", ends=["goal0"]),
        from_log(goals(1), episode="episode", terminated="done"),
    ]
    logs.append(from_log(goals(5), episode="episode", ends=[f"goal{number}" for number in range(5)]))
    logs.append(from_log(goals(5), episode="episode", terminated="done"))
    reports = [horizon_report(log, GAMMA) for log in logs]
    # A value V = 0.5 + 0.5 γ V if y is always taken, and V = 0.25 + 0.75 γ V if it is taken in half of the steps.
    assert reports[0].improvement.mean == pytest.approx(0.5 / 0.55 - 0.25 / 0.325, abs=0.01)
    for report in reports[1:]:
        assert report.improvement.mean == pytest.approx(reports[0].improvement.mean, abs=1e-5)
        assert report.words[0].startswith("Change 1 of 1 decisions")


def test_gains_are_of_the_start_states():
    """The world goes from state 0 to state 1, where the second action pays 1."""
    rows = [
        (episode, state, action, float(state and action), 1)
        for episode in range(40)
        for state in (0, 1)
        for action in [episode % 2]
    ]
    frame = pd.DataFrame(rows, columns=["episode", "state", "action", "reward", "next_state"])
    log = from_log(frame, episode="episode", accept=["repeats", "history"])
    np.testing.assert_allclose(log.starts, [[1.0, 0.0]])
    report, separate = horizon_report(log, 0.5), horizon_report(from_log(frame, accept=["repeats", "history"]), 0.5)
    # The value of state 1 rises from 1 to 2. It counts half, and from state 0 it is one step later.
    assert report.improvement.mean == pytest.approx(0.5, abs=0.05)
    assert separate.improvement.mean == pytest.approx((0.5 + 1.0) / 2, abs=0.05)
    assert "averaged over tasks and the states in which their episodes start." in report.words[1]


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_limits_hold_and_advice_loses_nothing(noise: float):
    reports = [horizon_report(draw_log(60, seed, noise), GAMMA) for seed in range(20)]
    gains = np.array([true_gain(report.recommendation.policies) for report in reports])
    lower = np.array([report.improvement.lower for report in reports])
    assert (gains >= lower - 1e-9).mean() >= 0.9
    assert (gains < -1e-9).mean() <= 0.05
    possible = max(true_gain(np.array([policy] * K)) for policy in ([0] * S, [1] * S))
    assert gains.mean() > 0.5 * possible


def test_unseen_losses_are_the_worst_surprise():
    (evaluator, *_) = evaluators(draw_log(60, 0))
    value, V = evaluator.value(POLICIES), evaluator.estimate.values(POLICIES, GAMMA)
    loss = value.surprise.max()
    assert (value.surprise == loss).all()
    k, s, a = np.unravel_index((value.weights * value.surprise).argmax(), (K, S, A))
    worst = Log(
        cell=np.ravel_multi_index(([k], [s], [a], [0]), (K, S, A, S)),
        reward=V[k, [s]] - loss - GAMMA * V[k, [0]],
        episode=np.zeros(1, int),
        tasks=tuple(range(K)),
        states=tuple(range(S)),
        actions=tuple(range(A)),
    )
    one_more = FoldEvaluator(evaluator.estimate, worst, GAMMA, np.ones(S, bool), np.zeros(S, bool)).value(POLICIES)
    assert a == POLICIES[k, s]
    assert (one_more.by_models - one_more.corrected).sum() == pytest.approx(value.unseen)


def test_limits_count_unseen_unreachable_states():
    """Both actions do the same, so that no plan gains and there are no errors: the states 0, 1 and 2 take turns."""
    following, paid = np.array([1, 2, 0, 0]), np.array([0.0, 1.0, 2.0, -100.0])
    counts = np.array([16, 4])[:, None] * np.eye(S, dtype=int)[following][:, None]
    log = make_log(np.repeat(counts[None], K, 0), paid[:, None, None])
    actual = estimate_gains(log, np.array([GAMMA]), None, RNG)
    inverse = np.linalg.inv(np.eye(S) - GAMMA * np.eye(S)[following])
    V, occupancy = inverse @ paid, inverse.mean(0)
    lost = occupancy / K * (1 / 16 - 1 / 20) * GAMMA * (V[following] - V[3])
    np.testing.assert_allclose(actual.unseen[:2], lost.max())  # the limits with support for the first action
    np.testing.assert_allclose(actual.observed_lower, 0.0, atol=1e-9)
    np.testing.assert_allclose(actual.lower, -(1.0 + actual.quantile) * actual.unseen, atol=1e-9)


def test_absorbing_states_have_no_surprise():
    models = P.copy()
    models[:, 2] = np.eye(S)[2]
    log = make_log(np.random.default_rng(0).multinomial(60, models), R)
    for evaluator in evaluators(log):
        surprise = evaluator.value(POLICIES).surprise
        assert (surprise[:, 2] == 0.0).all()
        assert (surprise[:, [0, 1, 3]] > 0.0).all()
