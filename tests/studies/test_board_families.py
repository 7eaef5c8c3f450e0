"""The board's families of version 2: models, moments and seeds are as described, before any learner is run."""

import numpy as np
import pytest

from pomrl.components import TaskDistribution, check_component
from pomrl_studies.board.families import Fishery, GarnetRows, IcyGrid, Workshop

FAMILIES = [
    Workshop(spread=0.15),
    Fishery(centre=0.4, spread=0.15),
    GarnetRows(spread=0.15),
    IcyGrid(spread=0.15),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_drawn_tasks_have_the_stated_moments(family: TaskDistribution) -> None:
    assert family.size is not None
    mean = family.draw_mean(3, 1, *family.size, None)
    P = family.draw([np.random.default_rng(0)], [mean], 4000).P[:, 0]
    deviation = np.sqrt(family.variance(mean))
    assert deviation.max() == pytest.approx(mean.deviation)
    assert np.abs(P.mean(0) - mean.P_o).max() < 6.0 * mean.deviation / np.sqrt(len(P))
    assert P.std(0) == pytest.approx(deviation, abs=0.01)
    assert mean.varying[(deviation > 1e-12).any(-1)].all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_two_draws_are_one(family: TaskDistribution) -> None:
    assert family.size is not None
    mean = family.draw_mean(3, 1, *family.size, None)
    rng = [np.random.default_rng(1)]
    pieces = [family.draw(rng, [mean], number).P for number in (1, 4)]
    np.testing.assert_array_equal(np.concatenate(pieces), family.draw([np.random.default_rng(1)], [mean], 5).P)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_families_pass_the_checks_of_components(family: TaskDistribution) -> None:
    check_component(family)


def test_two_latents_of_the_workshop_move_separately() -> None:
    P = Workshop(spread=0.1, values=2).candidate_models().P
    assert len(P) == 4
    full = Workshop().capacity
    demand = P[:, full, 0]  # without a start, only the demand matters
    assert np.allclose(demand[0], demand[2])
    assert not np.allclose(demand[0], demand[1])
    empty = P[:, 0, 3]  # without a store, only the yield matters
    assert np.allclose(empty[0], empty[1])
    assert not np.allclose(empty[0], empty[2])


def test_an_empty_sea_is_restocked_from_outside() -> None:
    P, R = Fishery(centre=0.4, spread=0.1).models(np.array([0.4]))
    assert P[0, 0, :, :2] == pytest.approx(np.tile([0.9, 0.1], (4, 1)))
    assert R[10] == pytest.approx([0.0, 3.0 - 0.4, 6.0 - 0.8, 10.0 - 1.2])


def test_rows_of_the_garnet_are_uncorrelated() -> None:
    family = GarnetRows(spread=0.15)
    mean = family.draw_mean(0, 0, 20, 3, None)
    P = family.draw([np.random.default_rng(0)], [mean], 4000).P[:, 0]
    first, second = (P[:, s, 0, mean.P_o[s, 0].argmax()] for s in (0, 1))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


def test_a_latent_moves_one_grid_cell() -> None:
    family = IcyGrid(spread=0.15)
    mean = family.draw_mean(0, 0, 25, 4, None)
    P = family.draw([np.random.default_rng(0)], [mean], 500).P[:, 0]
    up, right, elsewhere = P[:, 12, 0, 7], P[:, 12, 1, 13], P[:, 6, 0, 1]
    assert np.array_equal(up, right)
    assert abs(np.corrcoef(up, elsewhere)[0, 1]) < 0.2
