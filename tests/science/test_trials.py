"""Each trial of a task has its own data, draws and checks."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.component_output import ComponentError
from pomrl.science.data import Batch
from pomrl.science.estimators.estimator import Estimate, Truth
from pomrl.science.estimators.pomrl import RegularisedLeastSquares
from pomrl.science.experiment import tables
from pomrl.small_experiments import SMALL_METHOD, UNEQUAL, small_problem


@pytest.mark.parametrize("changes", [{"trials": 2}, UNEQUAL], ids=["a memory each", "a shared memory"])
def test_agent_gets_different_trials(changes: Mapping[str, Any]) -> None:
    trials: list[tuple[Any, ...]] = []

    class Recording(Agent[None]):
        def act(self, task: TaskData, memory: None) -> Decision:
            for rng, R, P_hat in zip(task.rngs, task.R, task.P_hat, strict=True):
                trials.append((rng.random(), R.tolist(), P_hat.tolist()))
            return Decision(task.plan(task.P_hat, task.gammas), task.gammas)

    problem = replace(small_problem(), T=1, reward_model="own", reward_noise=0.1, **changes)
    tables(problem, [replace(SMALL_METHOD, agent=Recording())], [0])
    first, second = trials
    assert all(value != other_value for value, other_value in zip(first, second, strict=True))


class WrongInSecondTrial(RegularisedLeastSquares):
    """Twice what is allowed, in the second trial."""

    field: Literal["h", "alpha"] = "h"

    def assess(self, t: int, batch: Batch, before: Any, after: Any, truth: Truth) -> Estimate:
        allowed = truth.P_o if self.field == "h" else np.ones((len(truth.P_o), 1, 1))
        outputs = iter([allowed, 2.0 * allowed])
        estimate = super().assess(t, batch, before, after, truth)
        return estimate._replace(**{self.field: lambda trial: next(outputs)})


@pytest.mark.parametrize(("field", "message"), [("h", r"the sum of the row"), ("alpha", r"alpha\[0, 0, 0\] = 2.0")])
def test_estimates_of_all_trials_are_checked(field: Literal["h", "alpha"], message: str) -> None:
    estimator = WrongInSecondTrial(mixing="paper", similarity="welford", field=field)
    with pytest.raises(ComponentError, match=message):
        tables(replace(small_problem(), **UNEQUAL), [replace(SMALL_METHOD, estimator=estimator)], [0])
