"""Components are strangers: they cannot change what others see, and what they return is checked in every task."""

import sys
from copy import copy
from dataclasses import replace
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.settings import CONF

from pomrl import store
from pomrl.configuration.sources import Sources
from pomrl.configuration.sweeps import experiment as experiment_of
from pomrl.execution import Failure
from pomrl.running import sweeps
from pomrl.running.ensuring import checked_jobs
from pomrl.science.checked import ComponentError
from pomrl.science.data import Generative
from pomrl.science.estimators.estimator import Estimator
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.science.gamma_schedules import GammaSchedule, Grid
from pomrl.science.meta_batches import Own
from pomrl.science.planners import Planner, PolicyIteration
from pomrl.science.problem import Method, Problem
from pomrl.science.tasks.random_chains import Dirichlet
from pomrl.science.tasks.streams import Drift

PROBLEM = Problem(S=4, A=2, m=5, T=3, sigma=0.01, gamma_eval=0.9, seed=0, task_distribution=Dirichlet(zeros=1))
GRID = Grid(gammas=[0.0, 0.9])
OURS = RegularisedLeastSquares(mixing="paper", similarity="welford")


def run(estimator: Estimator = OURS, schedule: GammaSchedule = GRID, planner: Planner | None = None) -> Any:
    method = Method(estimator=estimator, gamma_schedule=schedule, planner=planner or PolicyIteration())
    return tables(PROBLEM, [method], range(4))


def changed(**results: Any) -> Estimator:
    """An estimator whose methods return a function of what ours return."""

    class Stranger(RegularisedLeastSquares):
        pass

    for name, change in results.items():
        ours = getattr(RegularisedLeastSquares, name)
        setattr(Stranger, name, lambda self, *given, ours=ours, change=change: change(ours(self, *given)))
    return Stranger(mixing="paper", similarity="welford")


def with_nan(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array[(2, 0, 0)[: array.ndim]] = np.nan
    return array


def with_parts(**parts: Any) -> Any:
    """A function of a result that changes its parts, past the checks that only tests have."""

    def changed_result(result: Any) -> Any:
        other = copy(result)
        for name, change in parts.items():
            object.__setattr__(other, name, change(getattr(result, name)))
        return other

    return changed_result


def single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"prior_model": lambda h: h[:, :1]}, r"prior_model in task 1 returned an array of shape \(4, 1, 2, 4\)"),
        ({"prior_model": lambda h: 1.5 * h}, r"prior_model in task 1: \[0, 0, 0\] = 1\.\d+ is a row's sum, not 1"),
        ({"prior_model": with_nan}, r"prior_model in task 1: \[2, 0, 0, 0\] = nan is not a probability"),
        ({"mixing_rate": with_nan}, r"mixing_rate in task 1: \[2, 0, 0\] = nan is not in \[0, 1\]"),
        ({"mixing_rate": lambda alpha: alpha + 1.5}, r"mixing_rate in task 1: .* is not in \[0, 1\]"),
        ({"similarity_estimate": lambda sigma: -sigma}, r"similarity_estimate in task 1: \[0, 0, 0\] = -0\.5 is not"),
        ({"learn": with_parts(P_o_hat=with_nan)}, r"prior_model in task \d: \[2, 0, 0, 0\] = nan is not"),
        ({"similarity_estimate": lambda sigma: None}, r"similarity_estimate in task 1 returned a NoneType"),
    ],
)
def test_a_bad_estimate_is_refused_with_component_task_and_index(results: Any, message: str) -> None:
    with pytest.raises(ComponentError, match=message) as raised:
        run(changed(**results))
    assert "Stranger" in str(raised.value)


class Overshooting(GammaSchedule):
    def select(self, state: Any) -> Any:
        return np.full((len(state.alpha), 1), 0.95)


class Misplanning(Planner):
    def _plan(self, P: Any, R: Any, gammas: Any) -> Any:
        return np.full((*gammas.shape, R.shape[1]), 2)


def test_a_bad_discount_factor_is_refused() -> None:
    with pytest.raises(
        ComponentError, match=r"Overshooting.select in task 1: \[0, 0\] = 0\.95 is not between 0 and gamma_eval"
    ):
        run(schedule=Overshooting())


def test_a_bad_policy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Misplanning.plan: policy\[0, 0, 0\] = 2 is not one of the 2 actions"):
        run(planner=Misplanning())


WRITER = """
import sys
from pomrl.components import RegularisedLeastSquares

class Writer(RegularisedLeastSquares):
    def prior_model(self, memory, batch, truth):
        {}
        return super().prior_model(memory, batch, truth)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("batch.P_bar[...] = 0.25", "read-only"),
        ("truth.P_o[...] = 0.25", "read-only"),
        ("memory.squares += 1.0", "read-only|frozen"),
        ("sys.exit(0)", "SystemExit"),
    ],
)
def test_what_a_stranger_does_fails_it_alone(
    line: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The other methods of the problem are stored with the numbers that they have without it."""
    module = f"writer_{abs(hash(line))}"
    (tmp_path / f"{module}.py").write_text(WRITER.format(line))
    (tmp_path / "conf" / "estimator").mkdir(parents=True)
    option = f"defaults: [ada_pomrl, _self_]\n_target_: {module}.Writer\n"
    (tmp_path / "conf" / "estimator" / "writer.yaml").write_text(option)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("POMRL_OUTPUTS", str(tmp_path / "outputs"))
    sources = Sources(CONF, tmp_path / "conf")
    small = ["T=3", "S=4", "runs=2", "execution.workers=1"]
    writer, ours = (experiment_of(sources, [*small, f"estimator={name}"]) for name in ("writer", "ada_pomrl"))
    failures = sweeps.compute(checked_jobs([writer, ours]), lambda _: None)
    ((signature, failure),) = failures.items()
    assert signature == store.lookup(writer).signature
    assert isinstance(failure, Failure)
    assert any(word in failure.reason for word in reason.split("|"))
    (expected,) = tables(ours.problem, [ours.method], range(2))
    np.testing.assert_array_equal(store.load(ours)["planning_loss"], expected["planning_loss"])
    sys.modules.pop(module, None)


def returning(cls: type, **results: Any) -> type:
    """A subclass of a component whose methods return a function of what those of the class return."""

    class Stranger(cls):
        pass

    for name, change in results.items():
        ours = getattr(cls, name)
        setattr(Stranger, name, lambda self, *given, ours=ours, change=change: change(ours(self, *given)))
    return Stranger


def whole(array: np.ndarray) -> np.ndarray:
    return (array > 0.5).astype(np.int64)


def one_more(counts: np.ndarray) -> np.ndarray:
    counts[0, 1, 0, 2, 1, 0] += 1
    return counts


def means_with(**parts: Any) -> Any:
    """The first mean model of a stream, and from the second task on one with other parts."""

    def changed_means(means: Any) -> Any:
        mean = next(means)
        return chain([mean], repeat(with_parts(**parts)(mean)))

    return changed_means


@pytest.mark.parametrize(
    ("key", "component", "message"),
    [
        (
            "task_distribution",
            returning(Dirichlet, draw=with_parts(R=whole))(zeros=1),
            r"draw returned as R a ndarray of int64; it has to be an array of float64",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw=with_parts(R=lambda R: R[:, :1]))(zeros=1),
            r"draw returned as R an array of shape \(3, 1, 4, 2\); it has to be \(3, 4, 4, 2\) or \(3, 4, 4, 2, 4\)",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw=with_parts(P=lambda P: 2.0 * P))(zeros=1),
            r"draw: P\[0, 0, 0, 0\] = (2\.0|1\.9+\d*) is a row's sum, not 1",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw=lambda tasks: tasks.P)(zeros=1),
            r"draw returned a ndarray of float64; it has to be a Tasks",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw_mean=with_parts(R=with_nan))(zeros=1),
            r"draw_mean: R\[2, 0\] = nan is not finite",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw_mean=with_parts(sigma=lambda sigma: -sigma))(zeros=1),
            r"draw_mean in run 0: sigma = -0\.1 is not at least 0 and finite",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw_mean=with_parts(varying=lambda varying: varying.astype(int)))(zeros=1),
            r"draw_mean in run 0 returned as varying a ndarray of int64; it has to be an array of bool",
        ),
        (
            "task_distribution",
            returning(Dirichlet, draw_mean=with_parts(P_o=lambda P_o: P_o - 0.1))(zeros=1),
            r"draw_mean: P_o\[0, 0, 0, \d\] = -0\.\d+ is not a probability",
        ),
        (
            "task_distribution",
            returning(Dirichlet, variance=lambda variance: -variance)(zeros=1),
            r"variance: \[0, 0, 0, \d\] = -\S+ is not at least 0 and finite",
        ),
        (
            "task_distribution",
            returning(Dirichlet, candidates=lambda _: np.ones((3, 4, 2, 4), int))(zeros=1),
            r"candidates returned a ndarray of int64",
        ),
        (
            "stream",
            returning(Drift, means=means_with(P_o=lambda P_o: 2 * P_o))(speed=0.1),
            r"means: P_o\[0, 0, 0\] = 2\.0 is a row's sum, not 1",
        ),
        (
            "stream",
            returning(Drift, means=lambda means: islice(means, 2))(speed=0.1),
            r"means in run 0 ended; it has to yield mean models without end",
        ),
        (
            "data",
            returning(Generative, draw=lambda counts: counts + 0.5)(),
            r"draw: \[0, 0, 0, 0, 0, 0\] = 0\.5 is the fraction of a number of transitions",
        ),
        (
            "data",
            returning(Generative, draw=lambda counts: counts - 1)(),
            r"draw: \[\S.*\] = -1\.0 is not a number of transitions",
        ),
        (
            "data",
            returning(Generative, draw=one_more)(),
            r"draw: \[0, 1, 0, 2, 1\] = 1\.(2|19)\d* times the transitions of",
        ),
        (
            "data",
            returning(Generative, draw=lambda counts: counts[0])(),
            r"draw returned an array of shape \(4, 1, 4, 2, 4\); it has to be \(3, 4, 1, 4, 2, 4\)",
        ),
        (
            "meta_batch",
            returning(Own, of_tasks=with_parts(P_bar=single))(),
            r"of_tasks returned as P_bar a ndarray of float32",
        ),
    ],
)
def test_what_a_part_of_the_problem_returns_is_refused(key: str, component: Any, message: str) -> None:
    method = Method(estimator=OURS, gamma_schedule=GRID, planner=PolicyIteration())
    with pytest.raises(ComponentError, match=message) as raised:
        tables(replace(PROBLEM, **{key: component}), [method], range(4))
    assert str(raised.value).startswith(f"{__name__}.returning.<locals>.Stranger.")
    assert "\n" not in str(raised.value)


def test_counts_may_be_integers_of_every_kind_and_whole_doubles() -> None:
    method = Method(estimator=OURS, gamma_schedule=GRID, planner=PolicyIteration())
    (expected,) = tables(PROBLEM, [method], range(2))
    for kind in ("i1", ">i4", "u8", "f8"):
        data = returning(Generative, draw=lambda counts, kind=kind: counts.astype(kind))()
        (found,) = tables(replace(PROBLEM, data=data), [method], range(2))
        np.testing.assert_array_equal(found["planning_loss"], expected["planning_loss"])
