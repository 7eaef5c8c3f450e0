"""What is tested of schedules of discount factors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pomrl.base import make_read_only
from pomrl.contracts.component import METHOD, ComponentContract, problem
from pomrl.science import validation
from pomrl.science.gamma_schedules import GammaSchedule, TaskState
from pomrl.science.problem import Method, Problem

ALPHAS = np.array([0.5, 1.0, 0.2, 0.0, 1.0, 0.7])
SIGMAS = np.array([0.0, 0.3, 0.1, 0.5, 0.0, 1e-9])
make_read_only(ALPHAS, SIGMAS)


class GammaScheduleContract(ComponentContract):
    """Tests of a schedule that can be used with gamma_eval = 0.9; the fixture `component` of a subclass returns it."""

    def experiments(self, component: GammaSchedule) -> Sequence[tuple[Problem, Method]]:
        return [(problem(), replace(METHOD, gamma_schedule=component.computed_schedule()))]

    def test_gammas_lie_between_zero_and_gamma_eval(self, component: GammaSchedule) -> None:
        for t in (1, 2, 15, 1000):
            state = TaskState(t=t, m=5, S=10, A=2, gamma_eval=0.9, alpha=ALPHAS, deviation=SIGMAS)
            validation.check_gammas(component, component.select(state), state)
