"""What computing costs: an estimate of the seconds that one process needs for runs of a problem.

Everything that depends on time uses this estimate: the table of a dry run, how blocks are grouped, how long a block may
take, and the budget within which claims are decided. It depends on what is computed alone, not on the machine, so that
nothing that is decided by it differs between machines.

The constants were fitted to the times of one core, with the compiled engine, for 6 to 300 states and 1 to 100 discount
factors. The estimates are within a factor of about three there, and without the compiled engine.
"""

from collections.abc import Sequence

from pomrl.experiment import Method, Problem
from pomrl.solvers.elimination import SMALL

PER_MODEL, PER_ENTRY, PER_CUBE = 2e-5, 2e-7, 5e-9
"""Seconds to draw, estimate and evaluate a model of a task: a constant, those for each of the S * S * A entries of the
model, and those for S cubed. The three are added."""

PER_SQUARE_OF_SMALL = 1.4e-9
"""Seconds to plan a model with at most `SMALL` states at one discount factor, divided by S squared."""

PER_SQUARE, PER_CUBE_OF_PLAN = 5e-9, 1e-10
"""Seconds to plan a larger model at one discount factor, divided by S squared and by S cubed; the two are added."""


def seconds(problem: Problem, methods: Sequence[Method], runs: int) -> float:
    """Return an estimate of the time that one process needs to compute so many runs of a problem by each method."""
    models = runs * problem.T * problem.trials
    return sum(models * (_of_model(problem.S, problem.A) + _gammas(each) * _of_plan(problem.S)) for each in methods)


def plans(problem: Problem, methods: Sequence[Method], runs: int) -> int:
    """Return how many pairs of a model and a discount factor are planned for so many runs of a problem."""
    return runs * problem.T * problem.trials * sum(map(_gammas, methods))


def _gammas(method: Method) -> int:
    return method.gamma_schedule.computed().gammas_per_task


def _of_model(S: int, A: int) -> float:
    return PER_MODEL + PER_ENTRY * S * S * A + PER_CUBE * S**3


def _of_plan(S: int) -> float:
    return PER_SQUARE_OF_SMALL * S**2 if S <= SMALL else PER_SQUARE * S**2 + PER_CUBE_OF_PLAN * S**3
