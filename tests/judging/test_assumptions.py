"""Claims of the study `beyond` on the paper's assumptions: their rules on losses that are made up."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.support.worlds import OURS

from pomrl.judging.verdict import Part
from pomrl.results.losses import Losses, SweepLosses

RUNS, T = 300, 15
GAMMAS = np.array([0.5, 0.9, 0.99])
NOISE = np.random.default_rng(0).normal(0.0, 0.01, (RUNS, T, 1))


def parts_of(id: str, sweep: SweepLosses) -> list[Part]:
    (claim,) = (claim for claim in OURS if claim.id == id)
    return list(claim.parts({claim.sweeps[0]: sweep}))


def made_up(
    names: tuple[str, ...], levels: dict[tuple[Any, ...], float], keys: Iterable[tuple[Any, ...]]
) -> SweepLosses:
    return SweepLosses(names, {key: Losses(levels.get(key, 0.5) + NOISE, GAMMAS[-1:]) for key in keys})


def holds(part: Part) -> bool:
    return (part.below is None or part.estimate.value < part.below) and (
        part.above is None or part.estimate.value > part.above
    )


@pytest.mark.parametrize(("cost", "found"), [(0.04, [True, True, True]), (0.06, [True, True, False])])
def test_forgetting_may_cost_five_per_cent(cost, found):
    keys = list(product(("stationary", "drift", "switch"), ("ada_pomrl", "ada_pomrl_forgetting")))
    levels = {(stream, "ada_pomrl_forgetting"): 0.4 for stream in ("drift", "switch")}
    levels["stationary", "ada_pomrl_forgetting"] = 0.5 * (1.0 + cost)
    assert [holds(part) for part in parts_of("N1", made_up(("stream", "estimator"), levels, keys))] == found


def test_own_numbers_have_to_be_better_in_both_distributions():
    names = ("numbers", "estimator", "samples", "weights")
    keys = list(product(("extremes", "geometric"), ("ada_pomrl",), ("visits", "m"), ("tasks",)))
    levels = {("extremes", "ada_pomrl", "visits", "tasks"): 0.3, ("geometric", "ada_pomrl", "visits", "tasks"): 0.6}
    assert [holds(part) for part in parts_of("N2", made_up(names, levels, keys))] == [True, False]


def test_unknown_rewards_are_judged_by_the_rules_of_the_paper_beside_known_ones():
    """The losses are made such that all three claims hold with known rewards and none with those of own samples."""
    order = {"oracle": 0.1, "without_meta": 0.9, "pomrl": 0.2, "ada_pomrl": 0.3}
    learning = np.where(np.arange(T)[:, None] < 5, [0.7, 0.8, 0.9], [0.0, -0.05, -0.1])
    losses = {
        (model, name): Losses(level + NOISE + learning * ((model, name) == ("known", "ada_pomrl")), GAMMAS)
        for model, (name, level) in product(("known", "own"), order.items())
    }
    found = parts_of("U1", SweepLosses(("reward_model", "estimator"), losses, described=lambda _: {"sigma": 0.01}))
    assert [part.compared.partition(":")[0] for part in found] == [
        f"rewards {model}, {id}" for model in ("known", "own") for id in ("Q1.1", *["Q1.4"] * 4, "Q2.3")
    ]
    assert [holds(part) for part in found[:6]] == [True] * 6
    assert [holds(part) for part in found[6:]] == [False, True, True, True, True, False]
