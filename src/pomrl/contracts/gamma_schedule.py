"""The contract of schedules of discount factors."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_array_equal

from pomrl.checks import read_only
from pomrl.contracts.component import METHOD, ComponentContract, assert_experiment_runs, problem
from pomrl.science.gamma_schedules import GammaSchedule, TaskState

GAMMA_EVALS = (0.3, 0.9, 0.99)


class GammaScheduleContract(ComponentContract):
    """Tests of a schedule that can be used with gamma_eval = 0.9; the fixture `component` of a subclass returns it."""

    def test_an_experiment_runs(self, component: GammaSchedule) -> None:
        assert_experiment_runs(problem(), replace(METHOD, gamma_schedule=component.computed()))

    def test_gammas_lie_between_zero_and_gamma_eval(self, component: GammaSchedule) -> None:
        for gamma_eval in GAMMA_EVALS:
            if accepts(component, gamma_eval):
                for t in (1, 2, 15, 1000):
                    gamma = component.select(state(t, gamma_eval))
                    assert gamma.shape == (len(ALPHA), component.gammas_per_task)
                    assert ((gamma >= 0) & (gamma <= gamma_eval)).all()

    def test_runs_do_not_influence_one_another(self, component: GammaSchedule) -> None:
        all_runs = state(3, 0.9)
        together = component.select(all_runs)
        for run in range(len(ALPHA)):
            alone = replace(all_runs, alpha=ALPHA[[run]], sigma=SIGMA[[run]])
            assert_array_equal(component.select(alone), together[[run]])

    def test_it_keeps_nothing_from_one_task_to_the_next(self, component: GammaSchedule) -> None:
        first = component.select(state(2, 0.9))
        component.select(state(7, 0.9))
        assert_array_equal(component.select(state(2, 0.9)), first)


ALPHA = np.array([0.0, 0.2, 0.5, 1.0, 1.0, 0.7])
SIGMA = np.array([0.5, 0.1, 0.0, 0.0, 0.3, 1e-9])
read_only(ALPHA, SIGMA)


def state(t: int, gamma_eval: float) -> TaskState:
    """Return the state of task t in runs with all kinds of mixing rates and similarities."""
    return TaskState(t=t, m=5, S=10, A=2, gamma_eval=gamma_eval, alpha=ALPHA, sigma=SIGMA)


def accepts(schedule: GammaSchedule, gamma_eval: float) -> bool:
    """Return whether the schedule can be used with this gamma_eval."""
    try:
        schedule.check(gamma_eval)
    except ValueError:
        return False
    return True
