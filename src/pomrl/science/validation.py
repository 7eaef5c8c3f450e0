"""Checks of experiments and of the output of components.

Arrays passed to components are read-only (`base.make_read_only`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Float

from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.data import Batch, Data, TaskModels
from pomrl.science.estimators.estimator import Estimate, Estimator
from pomrl.science.gamma_schedules import GammaSchedule, Hindsight, TaskState
from pomrl.science.mdp import check_gamma_eval
from pomrl.science.meta_batches import MetaBatch, Own
from pomrl.science.metrics.metric import Metric, MetricInput
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Generators, Stream, generator
from pomrl.science.solvers import input_checks
from pomrl.science.tasks.distribution import MeanModel, TaskDistribution, Tasks
from pomrl.science.tasks.random_chains import RandomChains
from pomrl.science.tasks.streams import Stationary

MAX_FLOAT = float(np.finfo(float).max)
Shape = tuple[int, ...]


class ComponentError(ValueError):
    """A violation of a component's contract."""


@dataclass(frozen=True)
class ComponentOutput:
    """Checks of the output of a component's method; failures are a ComponentError."""

    component: Any
    method: str
    context: str = ""
    """Task or run, as in ` in task 3`, appended to the method's name."""

    @property
    def name(self) -> str:
        kind = type(self.component)
        return f"{kind.__module__}.{kind.__qualname__}.{self.method}{self.context}"

    def check_type(self, expected: type, value: Any, field: str = "") -> None:
        if not isinstance(value, expected):
            self._refuse(field, expected.__name__, type(value).__name__)

    def check_array(self, value: Any, *shapes: Shape, field: str = "", dtype: Any = np.float64) -> None:
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            kind = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            self._refuse(field, f"an array of {np.dtype(dtype)}", kind)
        if value.shape not in shapes:
            allowed = " or ".join(str(list(shape)) for shape in dict.fromkeys(shapes))
            self._refuse(field, f"an array of shape {allowed}", str(list(value.shape)))

    def check_range(self, values: np.ndarray, low: float, high: float, field: str = "", label: str = "") -> None:
        """Raise a ComponentError for a value outside [low, high], or NaN."""
        if not (values.min() >= low and values.max() <= high):
            index = tuple(np.argwhere(~((values >= low) & (values <= high)))[0].tolist())
            entry = f"{label}{field}{list(index) if index else ''}"
            raise ComponentError(f"{self.name}: {entry} = {float(values[index])!r} is not {_range_label(low, high)}")

    def check_finite(self, values: np.ndarray, field: str = "") -> None:
        self.check_range(values, -MAX_FLOAT, MAX_FLOAT, field)

    def check_models(self, P: Any, shape: Shape, field: str = "") -> None:
        self.check_array(P, shape, field=field)
        if not P.min() >= 0.0:  # rows with sum 1 then have no entry above 1
            self.check_range(P, 0.0, 1.0, field)
        self.check_row_sums(P, field)

    def check_row_sums(self, P: Float[np.ndarray, "*n S A S"], field: str = "") -> None:
        total, tolerance = input_checks.row_sums(P)
        self.check_range(total, 1.0 - tolerance, 1.0 + tolerance, field, "the sum of the row ")

    def check_counts(self, counts: Any, shape: Shape, field: str = "") -> None:
        whole = isinstance(counts, np.ndarray) and counts.dtype.kind in "iu"
        self.check_array(counts, shape, field=field, dtype=counts.dtype if whole else np.int64)
        self.check_range(counts, 0.0, MAX_FLOAT, field)

    def _refuse(self, field: str, expected: str, actual: str) -> NoReturn:
        raise ComponentError(f"{self.name} must return {expected}{field and f' as {field}'}, got {actual}")


def _range_label(low: float, high: float) -> str:
    if high == MAX_FLOAT:
        return "finite" if low < 0.0 else f"finite and at least {low:g}"
    return f"{high:g}" if high - low < 1e-6 else f"between {low:g} and {high:g}"


def mean_models(problem: Problem, runs: Sequence[int]) -> list[Iterator[MeanModel]]:
    """Return an endless iterator of mean models, one per task, for each run.

    ValueError: sigma is impossible.
    """
    distribution, S, A = problem.task_distribution, problem.S, problem.A
    firsts = distribution.draw_means(problem.seed, runs, S, A, problem.sigma)
    for run, first in zip(runs, firsts, strict=True):
        _check_mean(first, S, A, ComponentOutput(distribution, "draw_mean", f" in run {run}"))
    if isinstance(problem.stream, Stationary) or not isinstance(distribution, RandomChains):
        return [repeat(first) for first in firsts]
    streams = list[Iterator[MeanModel]]()
    for run, first in zip(runs, firsts, strict=True):
        rng = generator(*distribution.mean_key(problem.seed, run), Stream.CHANGES)
        output = ComponentOutput(problem.stream, "means", f" in run {run}")
        streams.append(_changing_means(problem.stream.means(rng, first, distribution), first, output))
    return streams


def _changing_means(means: Iterator[MeanModel], first: MeanModel, output: ComponentOutput) -> Iterator[MeanModel]:
    last, (S, A) = first, first.varying.shape
    for mean in means:
        if mean is not last:
            _check_mean(mean, S, A, output)
            output.check_models(mean.P_o, mean.P_o.shape, "P_o")
            last = mean
        yield mean
    raise ComponentError(f"{output.name} must yield mean models without end")


def check_moments(
    distribution: TaskDistribution, means: Sequence[MeanModel]
) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A S"]]:
    """Return the checked mean models and variances of n runs."""
    P_o = np.stack([mean.P_o for mean in means])
    mean_output, output = ComponentOutput(distribution, "draw_mean"), ComponentOutput(distribution, "variance")
    mean_output.check_models(P_o, P_o.shape, "P_o")
    mean_output.check_finite(np.stack([mean.R for mean in means]), "R")
    variances = [distribution.variance(mean) for mean in means]
    for variance in variances:
        output.check_array(variance, P_o.shape[1:])
    variance = np.stack(variances)
    output.check_range(variance, 0.0, MAX_FLOAT)
    return P_o, variance


def draw_tasks(distribution: TaskDistribution, rngs: Generators, means: Sequence[MeanModel], tasks: int) -> Tasks:
    """Draw and check the next tasks of n runs."""
    draws, output = distribution.draw(rngs, means, tasks), ComponentOutput(distribution, "draw")
    output.check_type(Tasks, draws)
    shape = (tasks, len(means), *means[0].P_o.shape)
    output.check_models(draws.P, shape, "P")
    output.check_array(draws.R, shape[:-1], shape, field="R")
    output.check_finite(draws.R, "R")
    if draws.latent is not None:
        output.check_array(draws.latent, shape[:2], field="latent")
    return draws


def draw_batch(data: Data, rngs: Generators, P: TaskModels, m: int, batches: int) -> Batch:
    """Draw and check the batches of T tasks."""
    counts, output = data.draw(rngs, P, m, batches), ComponentOutput(data, "draw")
    output.check_counts(counts, (*P.shape[:2], batches, *P.shape[2:]))
    batch = Batch.of_counts(counts, m, equal=data.is_equal)
    if data.is_equal:  # numbers of transitions were taken from the first pair alone
        output.check_range(batch.visits, 1.0, MAX_FLOAT, label="visits (is_equal: of the first pair)")
        output.check_row_sums(batch.P_bar, "P_bar (is_equal: divided by the visits of the first pair)")
    return batch


def draw_meta_batches(meta_batch: MetaBatch, own: Batch, data: Data, rngs: Generators, P: TaskModels) -> Batch:
    """Draw and check the batches for the meta-learner."""
    batch, output = meta_batch.of_tasks(own, data, rngs, P), ComponentOutput(meta_batch, "of_tasks")
    output.check_type(Batch, batch)
    T, n, K, *model = own.counts.shape
    shape = (T, n if meta_batch.is_shared else n * K, *model)
    per_pair = shape[:-1], (*shape[:2], 1, 1)
    output.check_counts(batch.counts, shape, "counts")
    output.check_models(batch.P_bar, shape, "P_bar")
    output.check_array(batch.visits, *per_pair, field="visits")
    output.check_range(batch.visits, 0.0, MAX_FLOAT, "visits")
    output.check_array(batch.counted, *per_pair, field="counted", dtype=np.bool_)
    return batch


def check_estimate(estimator: Estimator[Any], t: int, estimate: Any, batch: Batch) -> None:
    """Check the prior h_t and the deviation, >= 0 or NaN everywhere."""
    output = ComponentOutput(estimator, "assess", f" in task {t}")
    output.check_type(Estimate, estimate)
    if not callable(estimate.h):
        output.check_models(estimate.h, batch.P_bar.shape, "h")
    output.check_array(estimate.deviation, *_per_pair(batch.P_bar.shape), field="deviation")
    if not np.isnan(estimate.deviation).all():
        output.check_range(estimate.deviation, 0.0, MAX_FLOAT, "deviation")


def check_trials(
    estimator: Estimator[Any], t: int, estimate: Estimate, priors: Sequence[Any], rates: Sequence[Any], shape: Shape
) -> None:
    """Check priors h_t and mixing rates alpha_t, of each trial or shared."""
    for h in priors if callable(estimate.h) else ():  # a shared prior was checked in `check_estimate`
        ComponentOutput(estimator, "estimate", f" in task {t}").check_models(h, shape)
    for alpha in rates:
        check_mixing_rate(estimator, t, alpha, shape)


def check_mixing_rate(estimator: Estimator[Any], t: int, alpha: Any, shape: Shape) -> None:
    """Check the shape and range [0, 1] of a mixing rate alpha_t."""
    output = ComponentOutput(estimator, "assess", f" in task {t}")
    output.check_array(alpha, *_per_pair(shape), field="alpha")
    output.check_range(alpha, 0.0, 1.0, "alpha")


def check_gammas(gamma_schedule: GammaSchedule, gammas: Any, state: TaskState) -> None:
    """Check the shape and range [0, gamma_eval] of discount factors."""
    output = ComponentOutput(gamma_schedule, "select", f" in task {state.t}")
    output.check_array(gammas, (len(state.alpha), gamma_schedule.gammas_per_task))
    output.check_range(gammas, 0.0, state.gamma_eval)


def ask_agent(agent: Agent[Any], task: TaskData, memory: Any) -> Decision:
    """Return the checked decision of an agent."""
    output = ComponentOutput(agent, "act", f" in task {task.t}")
    if agent.discounts and task.gammas.max() == 1.0:
        raise ValueError(f"{output.name} needs discount factors below 1, got 1; set gamma_eval below 1")
    policy, gamma = agent.act(task, memory)
    n, S, A = task.P_hat.shape[:3]
    G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
    steps = policy.shape[2:-1] if task.criterion.horizon and np.ndim(policy) == 4 else ()
    input_checks.check_policies(policy, (n, G, *steps, S), A, output.name)
    output.check_array(gamma, (n, G), field="gamma")
    output.check_range(gamma, 0.0, task.gamma_eval, "gamma")
    return Decision(policy, gamma)


def measure(metric: Metric, tasks: MetricInput) -> Float[np.ndarray, "M G"]:
    """Return the checked numbers of a metric."""
    values, output = metric.measure(tasks), ComponentOutput(metric, "measure")
    output.check_array(values, tasks.gamma.shape)
    output.check_finite(values)
    return values


def _per_pair(shape: Shape) -> list[Shape]:
    n, S, A, _ = shape
    return [(n, 1, 1), (n, S, 1), (n, 1, A), (n, S, A)]


def _check_mean(mean: Any, S: int, A: int, output: ComponentOutput) -> None:
    output.check_type(MeanModel, mean)
    output.check_array(mean.P_o, (S, A, S), field="P_o")
    output.check_array(mean.R, (S, A), (S, A, S), field="R")
    output.check_array(mean.varying, (S, A), field="varying", dtype=np.bool_)
    output.check_type(float, mean.deviation, "deviation")
    if not 0.0 <= mean.deviation <= MAX_FLOAT:
        output.check_range(np.array(mean.deviation), 0.0, MAX_FLOAT, "deviation")


def check_experiment(problem: Problem, method: Method, runs: Sequence[int]) -> None:
    """Raise a ValueError unless problem, method and runs fit together.

    The message gives key and value.
    """
    _check_criterion(problem, method)
    problem.task_distribution.check(problem.S, problem.A)
    problem.stream.check(problem.T, problem.task_distribution)
    problem.data.check(problem.m)
    problem.meta_batch.check(problem.data, problem.m)
    if problem.data.is_adaptive and problem.trials > 1:
        raise ValueError(f"trials must be 1 if a learner collects its data, got {problem.trials}")
    if problem.data.is_adaptive and problem.meta_batch != Own():
        name = type(problem.meta_batch).__name__
        raise ValueError(f"meta_batch must be own if a learner collects its data, got {name}; set meta_batch=own")
    if problem.data.is_adaptive and problem.reward_model != "known":
        raise ValueError(
            "reward_model must be known if a learner collects its data, "
            f"got {problem.reward_model}; set reward_model=known"
        )
    if problem.reward_low > problem.reward_high:
        raise ValueError(f"reward_low must be at most reward_high={problem.reward_high}, got {problem.reward_low}")
    method.estimator.check(problem.data.most_visits(problem.m))
    if method.estimator.needs_candidates and problem.task_distribution.candidates() is None:
        name, tasks = type(method.estimator).__name__, type(problem.task_distribution).__name__
        raise ValueError(f"estimator {name} needs a task_distribution of finitely many models, got {tasks}")
    method.gamma_schedule.check(problem.gamma_eval)
    if method.gamma_schedule.needs_similarity and not method.estimator.has_similarity:
        name = type(method.gamma_schedule).__name__
        raise ValueError(
            f"gamma_schedule {name} needs an estimator with a similarity, got {type(method.estimator).__name__} "
            "without one; set estimator=ada_pomrl"
        )
    if method.agent.chooses_gamma and isinstance(method.gamma_schedule, Hindsight):
        name = type(method.agent).__name__
        raise ValueError(
            f"gamma_schedule must not choose in hindsight (best_fixed, dynamic_best) for agent {name}, which chooses "
            "gamma itself; set gamma_schedule=grid"
        )
    for means in mean_models(problem, runs):
        next(means)


def _check_criterion(problem: Problem, method: Method) -> None:
    if problem.horizon is None and problem.gamma_eval != 1.0:
        check_gamma_eval(problem.gamma_eval)
    if problem.horizon is None and problem.gamma_eval == 1.0 and isinstance(problem.task_distribution, RandomChains):
        raise ValueError(
            "gamma_eval must be below 1 for random chains without a horizon, because they never end, got 1; "
            "set gamma_eval=0.99"
        )
    if problem.data.is_adaptive and problem.gamma_eval == 1.0:
        raise ValueError("gamma_eval must be below 1 if a learner collects its data, got 1; set gamma_eval=0.99")
    start = problem.criterion.start
    if start is not None and (len(start) != problem.S or not abs(sum(start) - 1.0) <= 1e-9 or min(start) < 0.0):
        raise ValueError(
            f"start must be a state from 0 to {problem.S - 1}, or {problem.S} probabilities with sum 1, "
            f"got {_as_written(problem.start)}"
        )
    if problem.start is not None and problem.loss == "max" and not method.is_measured:
        raise ValueError(f"start must be null with loss=max, got {_as_written(problem.start)}; set loss=mean")
    steps, horizon = method.planner.looks_ahead, problem.horizon
    if steps is not None and (horizon is None or steps > horizon):
        name = type(method.planner).__name__
        raise ValueError(f"horizon must be at least {steps}, the steps of planner {name}, got {_as_written(horizon)}")


def _as_written(value: int | Sequence[float] | None) -> str:
    """Return a value as YAML has it: null for None, and a list for a tuple."""
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else str(list(value))
