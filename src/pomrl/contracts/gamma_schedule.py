"""What every schedule of discount factors has to keep to."""

import numpy as np

from pomrl.contracts.component import (
    ComponentContract,
    assert_experiment_runs,
    assert_same,
    method,
    problem,
    read_only,
)
from pomrl.gamma_schedules import GammaSchedule

GAMMA_EVALS = (0.3, 0.9, 0.99)


class GammaScheduleContract(ComponentContract):
    """For subclasses with a fixture `component`: a schedule that goes with a gamma_eval of 0.9."""

    def test_an_experiment_runs(self, component: GammaSchedule) -> None:
        assert_experiment_runs(problem(), method(gamma_schedule=component.computed()))

    def test_gammas_lie_between_zero_and_gamma_eval(self, component: GammaSchedule) -> None:
        for gamma_eval in GAMMA_EVALS:
            if goes_with(component, gamma_eval):
                for t in (1, 2, 15, 1000):
                    gamma = selected(component, t, gamma_eval)
                    assert gamma.shape == (len(ALPHA), component.gammas_per_task)
                    assert ((gamma >= 0) & (gamma <= gamma_eval)).all()

    def test_runs_do_not_influence_one_another(self, component: GammaSchedule) -> None:
        together = selected(component, 3, 0.9)
        for run in range(len(ALPHA)):
            one = slice(run, run + 1)
            assert_same(component.select(5, ALPHA[one], SIGMA[one], 3, 10, 2, 0.9), together[one])

    def test_it_keeps_nothing_from_one_task_to_the_next(self, component: GammaSchedule) -> None:
        first = selected(component, 2, 0.9)
        selected(component, 7, 0.9)
        assert_same(selected(component, 2, 0.9), first)


ALPHA = np.array([0.0, 0.2, 0.5, 1.0, 1.0, 0.7])
SIGMA = np.array([0.5, 0.1, 0.0, 0.0, 0.3, 1e-9])
read_only(ALPHA, SIGMA)


def selected(schedule: GammaSchedule, t: int, gamma_eval: float) -> np.ndarray:
    """The discount factors of task t in runs with all kinds of mixing rates and similarities."""
    return schedule.select(5, ALPHA, SIGMA, t, 10, 2, gamma_eval)


def goes_with(schedule: GammaSchedule, gamma_eval: float) -> bool:
    """Whether the schedule does not refuse this gamma_eval."""
    try:
        schedule.check(gamma_eval)
    except ValueError:
        return False
    return True
