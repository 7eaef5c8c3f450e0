"""Components are strangers: they cannot change what others see, and what they return is checked in every task."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.settings import CONF

from pomrl import store
from pomrl.configuration import studies
from pomrl.configuration.sources import Sources
from pomrl.execution import Failure
from pomrl.running import sweeps
from pomrl.science.checked import ComponentError
from pomrl.science.estimators.estimator import Estimator
from pomrl.science.estimators.regularised_least_squares import RegularisedLeastSquares
from pomrl.science.experiment import Method, Problem, tables
from pomrl.science.gamma_schedules import GammaSchedule, Grid
from pomrl.science.planners import Planner, PolicyIteration
from pomrl.science.tasks.random_chains import Dirichlet

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
    array[2, 0, 0] = np.nan
    return array


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"prior_model": lambda h: h[:, :1]}, r"prior_model in task 1 returned an array of shape \(4, 1, 2, 4\)"),
        ({"prior_model": lambda h: h.astype(np.float32)}, r"prior_model in task 1 returned a ndarray of float32"),
        ({"prior_model": lambda h: 1.5 * h}, r"prior_model in task 1: \[0, 0, 0\] = 1\.\d+ is a row's sum, not 1"),
        ({"prior_model": with_nan}, r"prior_model in task 1: \[2, 0, 0, 0\] = nan is not a probability"),
        ({"mixing_rate": with_nan}, r"mixing_rate in task 1: \[2, 0, 0\] = nan is not in \[0, 1\]"),
        ({"mixing_rate": lambda alpha: alpha + 1.5}, r"mixing_rate in task 1: .* is not in \[0, 1\]"),
        ({"mixing_rate": lambda alpha: alpha[:, 0, 0]}, r"mixing_rate in task 1 returned an array of shape \(4,\)"),
        ({"similarity_estimate": lambda sigma: -sigma}, r"similarity_estimate in task 1: \[0, 0, 0\] = -0\.5 is not"),
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
    writer, ours = (studies.experiment(sources, [*small, f"estimator={name}"]) for name in ("writer", "ada_pomrl"))
    failures = sweeps.compute(sweeps.checked_jobs([writer, ours]), lambda _: None)
    ((signature, failure),) = failures.items()
    assert signature == store.lookup(writer).signature
    assert isinstance(failure, Failure)
    assert any(word in failure.reason for word in reason.split("|"))
    (expected,) = tables(ours.problem, [ours.method], range(2))
    np.testing.assert_array_equal(store.load(ours)["planning_loss"], expected["planning_loss"])
    sys.modules.pop(module, None)
