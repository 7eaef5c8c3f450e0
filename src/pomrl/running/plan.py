"""Find what the store lacks of experiments, and estimate the time to compute it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil

from pomrl import store
from pomrl.configuration.composed import ConfigError, number_of
from pomrl.configuration.parsing import Experiment
from pomrl.science.problem import Method, Problem
from pomrl.science.solvers.evaluation import ELIMINATED_STATES
from pomrl.science.validation import check_experiment
from pomrl.store import StoredExperiment

MAX_CHECKED_OF_PROBLEM, MAX_CHECKED = 50, 2000
"""The most runs, of a problem and about of all, whose mean models are checked before any run is computed."""

MAX_SECONDS = 3600.0
"""A request that takes longer is computed only with `yes=true`."""

PART_SECONDS = 1.0
"""A part of a block takes at least so long: less is not worth the time of a further process."""

PER_TASK, PER_ENTRY_OF_TASK = 2e-5, 1.5e-7
"""Seconds to draw a task and to learn from it: a constant, and those for each of the S * S * A entries of a model."""

PER_ENTRY_OF_TRIAL, PER_CUBE = 5e-8, 5e-9
"""Seconds to draw and estimate a model from one trial, per entry; to evaluate a large one, per S cubed."""

PER_SQUARE_OF_SMALL, PER_SQUARE, PER_CUBE_OF_PLAN = 1.4e-9, 5e-9, 1e-10
"""Seconds to plan a small model at one discount factor, per S squared; a large one, per S squared and per S cubed."""


@dataclass(frozen=True)
class PlannedExperiment:
    """A requested experiment, its place in the store and its missing runs."""

    experiment: Experiment
    stored: StoredExperiment
    missing: list[range]
    """The missing runs, divided as they are stored."""
    faults: list[str]
    """A line for each damaged file."""

    @property
    def runs_missing(self) -> int:
        """The number of missing runs."""
        return sum(map(len, self.missing))

    @property
    def seconds(self) -> float:
        """Estimated seconds in one process."""
        return estimate_seconds(self.experiment.problem, self.experiment.method, self.runs_missing)


def plan(experiments: Sequence[Experiment]) -> list[PlannedExperiment]:
    """Look up the missing runs of experiments and check that they can be computed.

    The first missing runs of each problem are checked. A later run without the requested sigma fails its method.

    Raises:
        ConfigError: An experiment cannot be computed.
    """
    planned = [_look_up(experiment) for experiment in experiments]
    checked: dict[Problem, set[int]] = defaultdict(set)
    most = min(MAX_CHECKED_OF_PROBLEM, ceil(MAX_CHECKED / max(1, len({job.experiment.problem for job in planned}))))
    for job in planned:
        problem = job.experiment.problem
        runs = set(islice(chain.from_iterable(job.missing), most)) - checked[problem]
        try:
            check_experiment(problem, job.experiment.method, sorted(runs))
        except ValueError as error:
            raise ConfigError(str(error)) from error
        checked[problem] |= runs
    return planned


def _look_up(experiment: Experiment) -> PlannedExperiment:
    stored, runs = store.lookup(experiment), experiment.request.runs
    if experiment.request.force:
        n_runs = max(runs, stored.contiguous(), stored.promised())
        return PlannedExperiment(experiment, stored, store.divide_into_blocks(n_runs), [])
    return PlannedExperiment(experiment, stored, *store.find_missing(stored, runs))


def estimate_seconds(problem: Problem, method: Method, runs: int) -> float:
    """Estimate the seconds of one process for runs of a problem by a method.

    The constants were fitted to one core with the compiled engine, within a factor of about 3, for 6 to 300 states and
    1 to 100 discount factors and trials. Sparse models, such as Taxi's, take about a fifth.
    """
    S, entries = problem.S, problem.S**2 * problem.A
    of_task = PER_TASK + PER_ENTRY_OF_TASK * entries * method.estimator.relative_time
    of_trial = PER_ENTRY_OF_TRIAL * entries + (PER_CUBE * S**3 if S > ELIMINATED_STATES else 0.0)
    of_plan = PER_SQUARE_OF_SMALL * S**2 if S <= ELIMINATED_STATES else PER_SQUARE * S**2 + PER_CUBE_OF_PLAN * S**3
    plans_of_model = method.gamma_schedule.computed_schedule().gammas_per_task * method.agent.plans_per_gamma
    return runs * problem.T * (of_task + problem.trials * (of_trial + plans_of_model * of_plan))


def find_unfinished(planned: Sequence[PlannedExperiment]) -> list[PlannedExperiment]:
    """Return each experiment with missing runs or damaged files once, with the most runs."""
    by_runs = sorted(planned, key=lambda job: job.experiment.request.runs)
    lacking = {job.stored.signature: job for job in by_runs if job.missing or job.faults}
    return list(lacking.values())


@dataclass(frozen=True)
class WorkEstimate:
    """The work of a request, within a factor of about 3."""

    experiments: int
    runs: int
    """Runs to compute, summed over experiments."""
    seconds: float
    """Time in one process."""
    workers: int
    """Processes that compute it."""

    def __str__(self) -> str:
        time = f"about {_duration(self.seconds / self.workers)} on {number_of(self.workers, 'worker')}"
        return f"{number_of(self.experiments, 'experiment')}, {number_of(self.runs, 'run')} to compute; {time}"


def estimate(planned: Sequence[PlannedExperiment], times: int = 1) -> WorkEstimate:
    """Estimate the work of experiments under the first one's execution; shared work counts once.

    Args:
        planned: The experiments.
        times: The number of such sweeps.
    """
    lacking = [job for job in find_unfinished(planned) if job.missing]
    runs = times * sum(job.runs_missing for job in lacking)
    seconds = times * sum((job.seconds for job in lacking), 0.0)
    parts = times * sum(len(job.missing) for job in lacking)
    most = planned[0].experiment.execution.at_once(seconds) if planned else 1
    workers = min(most, max(parts, int(seconds / PART_SECONDS)), runs)
    return WorkEstimate(times * len(planned), runs, seconds, max(1, workers))


def check_time_limit(work: WorkEstimate) -> None:
    """Raise a ConfigError if the work takes longer than `MAX_SECONDS`."""
    if work.seconds / work.workers > MAX_SECONDS:
        raise ConfigError(f"{work}; what takes more than an hour is computed with yes=true")


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.1f} seconds"
