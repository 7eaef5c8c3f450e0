"""What computing costs: an estimate of the seconds that one process needs for runs of a problem.

Everything that depends on time uses this estimate: the table of a dry run, and into how many parts blocks are divided.
It depends on what is computed alone, not on the machine.

The constants were fitted to the times of one core, with the compiled engine, for 6 to 300 states, 1 to 100 discount
factors and 1 to 100 trials. The estimates are within a factor of about three there, and without the compiled engine.
Models with few transitions, such as Taxi's, take about a fifth of what is estimated.
"""

from pomrl.science.problem import Method, Problem
from pomrl.science.solvers.evaluation import ELIMINATED_STATES

PER_TASK, PER_ENTRY_OF_TASK = 2e-5, 1.5e-7
"""Seconds to draw a task and to learn from it: a constant, and those for each of the S * S * A entries of a model."""

PER_ENTRY_OF_TRIAL, PER_CUBE = 5e-8, 5e-9
"""Seconds to draw and estimate a model from the data of one trial, for each of its entries; and those to evaluate it,
divided by S cubed, for models of more than `ELIMINATED_STATES` states."""

PER_SQUARE_OF_SMALL = 1.4e-9
"""Seconds to plan a model with at most `ELIMINATED_STATES` states at one discount factor, divided by S squared."""

PER_SQUARE, PER_CUBE_OF_PLAN = 5e-9, 1e-10
"""Seconds to plan a larger model at one discount factor, divided by S squared and by S cubed; the two are added."""


PART = 1.0
"""Seconds that a part of a block takes at least: less is not worth the time of a further process."""


def seconds(problem: Problem, method: Method, runs: int) -> float:
    """Return an estimate of the time that one process needs to compute so many runs of a problem by a method."""
    S, entries = problem.S, problem.S**2 * problem.A
    of_task = PER_TASK + PER_ENTRY_OF_TASK * entries * method.estimator.relative_time
    of_trial = PER_ENTRY_OF_TRIAL * entries + (PER_CUBE * S**3 if S > ELIMINATED_STATES else 0.0)
    of_plan = PER_SQUARE_OF_SMALL * S**2 if S <= ELIMINATED_STATES else PER_SQUARE * S**2 + PER_CUBE_OF_PLAN * S**3
    plans_of_model = method.gamma_schedule.computed_schedule().gammas_per_task * method.agent.plans_per_gamma
    return runs * problem.T * (of_task + problem.trials * (of_trial + plans_of_model * of_plan))
