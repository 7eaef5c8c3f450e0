"""Estimators of the study `rathnam2023`, whose priors have one weight, or weights that fall with the data."""

from typing import Any

import numpy as np
import pytest

from pomrl.components import check_component
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Truth
from pomrl_papers.rathnam2023.priors import LeastError, SamePrior, SameTransitions, SameWeight, least_error_weight


@pytest.mark.parametrize("prior", [SameWeight(prior="visited"), SameTransitions(), LeastError()], ids=repr)
def test_priors_keep_to_their_contracts(prior: SamePrior) -> None:
    check_component(prior)


def batch(*visits: int) -> tuple[Batch, Truth]:
    """Return the batch of a run with so many transitions from each action of a single state of three."""
    p = np.broadcast_to([0.5, 0.3, 0.2], (1, 3, len(visits), 3))
    counts = np.random.default_rng(0).multinomial(np.broadcast_to(visits, p.shape[:-1]), p)
    return Batch.of_counts(counts, 8), Truth(p, np.zeros_like(p))


def test_weights_and_transitions_differ() -> None:
    arguments = batch(0, 1, 8, 15)
    assert (SameWeight(weight=0.2).weights(*arguments) == 0.2).all()
    weights = SameTransitions(weight=0.2).weights(*arguments)[0, 0]
    np.testing.assert_allclose(weights, [1.0, 2 / 3, 0.2, 2 / 17])  # two transitions of the prior
    assert (SameTransitions(weight=0.0).weights(*arguments) == 0.0).all()
    assert (SameTransitions(weight=1.0).weights(*arguments)[..., 1:] == 1.0).all()


@pytest.mark.parametrize("concentration", ["posterior", "frequencies", "known"])
def test_least_error_weights_fall_to_zero(concentration: Any) -> None:
    weights = LeastError(concentration=concentration).weights(*batch(0, 10**6))
    np.testing.assert_allclose(weights[..., 0], 1.0)
    np.testing.assert_allclose(weights[..., 1], 0.0, atol=1e-4)


def test_the_posterior_mean_equals_its_draws() -> None:
    data_batch, truth = batch(4)
    draws = np.random.default_rng(1).dirichlet(data_batch.counts[0, 0, 0] + 1.0, 200_000)
    expected = least_error_weight((draws**2).sum(-1).mean(), 4, 3)
    assert LeastError().weights(data_batch, truth)[0, 0, 0] == pytest.approx(float(expected), abs=2e-3)
