"""Families of tasks: their models are what their sources say, tasks have the moments that are said, and bad keys fail.

Families of Gymnasium's tables are tested where Gymnasium is installed.
"""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.support.sample_models import sparse_queue

from pomrl.configuration import sweeps
from pomrl.configuration.sources import PUBLISHED
from pomrl.science.mdp import expected_rewards, for_each_model
from pomrl.science.problem import Problem
from pomrl.science.tasks.distribution import Candidates, TaskFamily
from pomrl_studies.beyond.families.forest import Forest
from pomrl_studies.beyond.families.frozen_lake import FrozenLake
from pomrl_studies.beyond.families.inventory import Inventory
from pomrl_studies.beyond.families.queue import Queue
from pomrl_studies.beyond.families.river_swim import RiverSwim
from pomrl_studies.beyond.families.taxi import Taxi

OPTIONS = [path.stem for path in PUBLISHED.options("task_distribution") if ".families." in path.read_text()] + ["table"]
WITH_GYMNASIUM = ("cliff_walking", "frozen_lake", "taxi")

needs_gymnasium = pytest.mark.skipif(not find_spec("gymnasium"), reason="Gymnasium is not installed")


def options(*without: str) -> list[Any]:
    return [
        pytest.param(name, marks=needs_gymnasium if name.startswith(WITH_GYMNASIUM) else ())
        for name in (*OPTIONS, "frozen_lake_8x8")
        if name not in without
    ]


def make_problem(name: str) -> Problem:
    return sweeps.experiment(PUBLISHED, [f"task_distribution={name}"]).problem


def make_candidates(name: str) -> Candidates:
    distribution: Any = make_problem(name).task_distribution
    return distribution.candidate_models()


@pytest.mark.parametrize("name", options("taxi", "frozen_lake_8x8", "cliff_walking", "garnet_rows", "icy_grid"))
def test_candidates_have_equal_chances(name: str) -> None:
    problem = make_problem(name)
    mean = problem.mean(0)
    tasks, candidates = problem.task_distribution, make_candidates(name)
    draws = tasks.draw([np.random.default_rng(1)], [mean], 3000)
    in_two = [np.random.default_rng(1)]
    pieces = [tasks.draw(in_two, [mean], number).P for number in (1, 4)]
    np.testing.assert_array_equal(np.concatenate(pieces), draws.P[:5])
    assert draws.latent is not None
    index = np.searchsorted(candidates.latent, draws.latent[:, 0])
    np.testing.assert_array_equal(draws.P[:, 0], candidates.P[index])  # one number ties all rows
    np.testing.assert_array_equal(draws.R[:, 0], candidates.R[index])
    share = np.bincount(index, minlength=len(candidates.P)) / 3000
    assert np.abs(share - 1 / len(share)).max() < 5 / np.sqrt(3000 * len(share))
    np.testing.assert_allclose(mean.P_o, candidates.P.mean(0))
    assert mean.deviation == pytest.approx(candidates.P.std(0).max())
    assert tasks.variance(mean).max() == pytest.approx(mean.deviation**2)


def test_a_forest_is_that_of_the_toolbox() -> None:
    """`mdptoolbox.example.forest(S=3, r1=4, r2=2, p=0.1)`, its default."""
    P, R = Forest(centre=0.1, spread=0.0, ages=3).models(np.array([0.1]))
    np.testing.assert_allclose(P[0, :, 0], [[0.1, 0.9, 0], [0.1, 0, 0.9], [0.1, 0, 0.9]])
    np.testing.assert_allclose(P[0, :, 1], [[1, 0, 0]] * 3)
    np.testing.assert_array_equal(R, [[0, 0], [0, 1], [4, 2]])


def test_river_swim_is_as_published() -> None:
    P, _ = RiverSwim(centre=0.1, spread=0.0).models(np.array([0.1]))
    np.testing.assert_allclose(P[0, 2, 1], [0, 0.1, 0.6, 0.3, 0, 0])
    np.testing.assert_allclose(P[0, 0, 1, :2], [0.7, 0.3])
    np.testing.assert_allclose(P[0, 5, 1, 4:], [0.1, 0.9])


def test_queue_equals_the_sparse_queue() -> None:
    (P,), R = Queue(centre=0.4, spread=0.0, room=12).models(np.array([0.4]))
    rows, costs = sparse_queue(13)
    np.testing.assert_allclose(rows.toarray().reshape(P.shape), P, atol=1e-15)
    np.testing.assert_array_equal(R, costs)


class Strange(Queue):
    """A family whose rewards are no numbers."""

    def models(self, latent: np.ndarray) -> Any:
        P, R = super().models(latent)
        return P, R * np.nan


def test_invalid_models_of_families_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Strange\.models: R\[0, 0, 0\] = nan is not finite"):
        Strange(centre=0.4, spread=0.1).candidate_models()


def test_the_demand_of_an_inventory_is_poisson() -> None:
    P, R = Inventory(centre=0.2, spread=0.0).models(np.array([0.2]))
    demand = np.random.default_rng(0).poisson(2.0, 200_000)
    stock = np.maximum(3 + 4 - demand, 0)
    np.testing.assert_allclose(P[0, 3, 4], np.bincount(stock, minlength=11) / 200_000, atol=0.005)
    paid = 8 * (7 - stock) - 4 - 2 * 4 - 7
    assert expected_rewards(R, P[0])[3, 4] == pytest.approx(paid.mean(), abs=0.05)


@needs_gymnasium
@pytest.mark.parametrize(("family", "slip"), [(FrozenLake, 2 / 3), (Taxi, 0.2)])
def test_slip_gives_the_table_of_gymnasium(family: type[TaskFamily], slip: float) -> None:
    from gymnasium.envs import toy_text

    P, R = family(centre=slip, spread=0.0, values=2).models(np.array([slip]))
    R = for_each_model(R, P)
    theirs = (toy_text.FrozenLakeEnv(is_slippery=True) if family is FrozenLake else toy_text.TaxiEnv(is_rainy=True)).P
    actual, pays = np.zeros(P.shape[1:]), np.zeros(P.shape[1:])
    ended = {s for actions in theirs.values() for rows in actions.values() for _, s, _, ends in rows if ends}
    for s in set(theirs) - ended:
        for a, outcomes in theirs[s].items():
            for chance, following, reward, _ in outcomes:
                actual[s, a, following] += chance
                pays[s, a, following] += chance * reward
    alive = [s for s in theirs if s not in ended]
    np.testing.assert_allclose(P[0, alive], actual[alive], atol=1e-12)
    np.testing.assert_allclose(expected_rewards(R, P)[0, alive], pays[alive].sum(-1), atol=1e-12)
    assert all((P[0, s, :, s] == 1).all() for s in ended)
    assert not expected_rewards(R, P)[0, list(ended)].any()
