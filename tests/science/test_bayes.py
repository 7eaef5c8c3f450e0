"""The reference that knows the prior of the tasks."""

import numpy as np
import pytest

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.algorithm import pomrl
from pomrl.science.data import Batch, Batches
from pomrl.science.estimators.estimator import Estimator, Truth
from pomrl.science.gamma_schedules import Fixed

C = 7.0


@pytest.fixture(scope="module")
def bayes() -> Estimator:
    return sweeps.experiment(PUBLISHED, ["estimator=bayes"]).method.estimator


def drawn(visits: np.ndarray, P_o: np.ndarray) -> Batch:
    rng = np.random.default_rng(5)
    P = rng.standard_gamma(C * P_o + 1e-300)
    P /= P.sum(-1, keepdims=True)
    return Batch.of_counts(rng.multinomial(visits, P), 5)


def test_it_is_the_posterior_mean_of_dirichlet_tasks(bayes: Estimator):
    rng = np.random.default_rng(1)
    P_o = rng.dirichlet(np.ones(4), (3, 4, 2))
    visits = rng.integers(0, 9, (3, 4, 2))
    batch = drawn(visits, P_o)
    truth = Truth(P_o, P_o * (1 - P_o) / (C + 1))
    posterior = (batch.counts + C * P_o) / (visits + C)[..., None]
    for task in pomrl([Batches.same(batch)] * 2, 5, truth, bayes, Fixed(gamma=0.5), 0.9):
        np.testing.assert_allclose(task.P_hat[:, 0], posterior, atol=1e-14)
