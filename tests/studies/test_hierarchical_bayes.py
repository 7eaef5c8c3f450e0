"""The learner that knows only the law of P_o: against exact integration, and as a function of the batches alone."""

import numpy as np
from scipy.special import betaln, logsumexp

from pomrl.science.algorithm import pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Truth
from pomrl.science.gamma_schedules import Fixed
from pomrl_studies.beyond.estimators.hierarchical_bayes import CONCENTRATIONS, HierarchicalBayes

POINTS = 400


def estimates(learner: HierarchicalBayes, batches: list[Batch]) -> list[np.ndarray]:
    shape = batches[0].counts.shape
    truth = Truth(np.full(shape, 1.0 / shape[-1]), np.zeros(shape))
    tasks = pomrl(((Batches.same(batch), truth) for batch in batches), 5, learner, Fixed(gamma=0.5), 0.9)
    return [task.P_hat[:, 0] for task in tasks]


def exact(counts: np.ndarray) -> np.ndarray:
    """P_hat of the last of T tasks with 2 states and 1 action, [T, 2, 1, 2], by integration over p and c on grids."""
    p = (np.arange(POINTS) + 0.5) / POINTS
    log_density = -np.log(2 * np.maximum(p, 1 - p) ** 2)  # of w1 / (w1 + w2) with uniform weights
    c = CONCENTRATIONS[:, None]
    by_row, means = [], []
    for state in range(2):
        n, other = counts[:, state, 0, 0], counts[:, state, 0, 1]
        terms = [betaln(c * p + x, c * (1 - p) + y) - betaln(c * p, c * (1 - p)) for x, y in zip(n, other, strict=True)]
        joint = log_density + np.sum(terms, axis=0)
        by_row.append(logsumexp(joint, axis=1))
        weight = np.exp(joint - by_row[-1][:, None])
        means.append((weight * (c * p + n[-1]) / (c + n[-1] + other[-1])).sum(1))
    joint_rows = np.sum(by_row, axis=0)
    c_weights = np.exp(joint_rows - logsumexp(joint_rows))
    first = np.array([c_weights @ mean for mean in means])
    return np.stack([first, 1 - first], axis=-1)[:, None]


def test_it_is_exact_integration_with_two_states():
    first_task_has_a_pair_without_visits = [[0, 0], [9, 1]]
    batches = np.array([first_task_has_a_pair_without_visits, [[4, 1], [1, 4]], [[5, 0], [0, 5]]])[:, None, :, None]
    learner = HierarchicalBayes(zeros=0, sweeps=500, burn_in=20)
    actual = estimates(learner, [Batch.of_counts(batch, 5) for batch in batches])
    for t in (1, 3):
        np.testing.assert_allclose(actual[t - 1][0], exact(batches[:t, 0]), atol=0.025)


def draw_batches(n: int = 3, tasks: int = 3) -> list[Batch]:
    rng = np.random.default_rng(0)
    P_o = rng.dirichlet(np.ones(4), (n, 4, 2)) * (np.arange(4) < 2)  # half of each row is 0
    P_o /= P_o.sum(-1, keepdims=True)
    return [Batch.of_counts(rng.multinomial(5, P_o), 5, equal=True) for _ in range(tasks)]


def test_unsupported_states_have_probability_0():
    learner, batches = HierarchicalBayes(zeros=2, sweeps=5, burn_in=1), draw_batches(tasks=4)
    is_observed = np.sum([batch.counts for batch in batches], axis=0) > 0
    actual = estimates(learner, batches)[-1]
    is_known = is_observed.sum(-1) == 2
    assert is_known.any()
    assert (actual[is_known] > 0).tolist() == is_observed[is_known].tolist()
    np.testing.assert_allclose(actual.sum(-1), 1.0)


def test_extreme_counts_give_finite_estimates():
    rng = np.random.default_rng(0)
    batches = [Batch.of_counts(rng.multinomial(1, np.full((2, 3, 1, 3), 1 / 3)), 1, equal=True) for _ in range(8)]
    actual = estimates(HierarchicalBayes(zeros=2, sweeps=3, burn_in=0), batches)
    assert np.isfinite(actual).all()
