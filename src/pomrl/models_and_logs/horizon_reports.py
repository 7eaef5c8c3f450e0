"""The horizon to plan with, by what a log says: a report that compares discount factors.

They are compared by what is lost in expectation under the posterior of each task's model, and by cross-validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl.models_and_logs.logs import Log, Posterior
from pomrl.models_and_logs.models import ascending
from pomrl.science.data import Batch
from pomrl.science.gamma_star import minimising
from pomrl.science.mdp import check_gamma_eval, planning_loss
from pomrl.science.planners import PolicyIteration

GAMMAS = tuple(round(0.05 * i, 2) for i in range(20))
"""The discount factors that are compared by default, as far as they are below gamma_eval, which is added."""

FEW_TASKS = 5
"""With fewer tasks a learned prior says little of the next one."""

FEW_TRANSITIONS = 0.5
"""If more than this share of the pairs of a task has no transition, the report says so."""

SPLITS = 10
"""The number of times that the transitions of each task are halved for cross-validation."""

Prior = Literal["learned", "uniform"]
"""The prior of a posterior: learned from the tasks of the log, or one transition to each state from each pair."""


LOSSES = {"posterior mean": "loss", "frequencies": "loss_of_frequencies", "cross-validation": "cross_validation"}
"""The ways to judge a discount factor, and the columns of the report's table that have the losses by them."""


@dataclass(frozen=True, eq=False)
class HorizonReport:
    """What each discount factor is expected to lose, on average over the tasks of a log."""

    table: pd.DataFrame
    """A row for each discount factor, with these columns, where losses are against the best policy, at gamma_eval:

    gamma; loss, lower and upper (the expectation under the posterior and its 95 % interval, for plans on the posterior
    mean); loss_of_frequencies and its lower and upper (the same for plans on the frequencies of each task alone);
    cross_validation and its standard error over tasks (plans on one half of a task's transitions, judged on the
    frequencies of the other half).
    """
    gamma_eval: float
    prior: str
    """The prior in words."""
    warnings: list[str]
    """When not to trust the numbers, a line each."""

    @property
    def best(self) -> dict[str, float]:
        """The discount factor with the smallest loss, by each way to judge it (`pomrl.science.gamma_star`)."""
        return {name: _best(self.table, column) for name, column in LOSSES.items()}

    @property
    def words(self) -> list[str]:
        """The result, the prior and the warnings as sentences."""
        best = [f"by {name} γ = {gamma:g}" for name, gamma in self.best.items()]
        return [f"Smallest loss at γ_eval = {self.gamma_eval:g}: {', '.join(best)}.", self.prior, *self.warnings]


def horizon_report(
    log: Log,
    gamma_eval: float = 0.99,
    gammas: Sequence[float] | None = None,
    *,
    prior: Prior = "learned",
    samples: int = 200,
    seed: int = 0,
) -> HorizonReport:
    """Compare discount factors to plan with, by what the transitions of a log say of the loss at gamma_eval.

    It is a diagnostic under a prior that is named, and no default: where rows of models are tied to each other, or the
    prior is wrong, the expectation is wrong too. Losses are means over states, in the units of rewards.

    Args:
        log: The transitions.
        gamma_eval: The discount factor that policies are judged at; it is always among those compared.
        gammas: The other discount factors to plan with, each at most gamma_eval; by default those of `GAMMAS` that are.
        prior: Whether the posterior's prior is learned from the log, or uniform.
        samples: The number of models that are drawn from the posterior of each task.
        seed: The seed of these draws and of the halves of cross-validation.

    Raises:
        TypeError: The log is none.
        ValueError: A discount factor is above gamma_eval or not in [0, 1), the prior is another word, or there are too
            few samples.
    """
    if not isinstance(log, Log):
        raise TypeError(f"a horizon report takes a log as pomrl.from_log returns it, and not a {type(log).__name__}")
    if prior not in get_args(Prior):
        raise ValueError(f"prior={prior!r}: it has to be one of {', '.join(get_args(Prior))}")
    check_gamma_eval(gamma_eval)
    grid = _grid(gamma_eval, gammas)
    if samples < 2:
        raise ValueError(f"samples = {samples}: an interval needs at least 2")
    rng = np.random.default_rng(seed)
    base = log.prior.alpha if prior == "learned" else np.ones(log.counts.shape[1:])
    losses = np.zeros((2, samples, len(grid)))
    validated = []
    for counts in log.counts:
        posterior = Posterior(base + counts, log.states, log.actions)
        losses += _posterior_losses(log, posterior, counts, grid, rng, samples)
        validated.append(_validated(log, counts, grid, rng))
    losses /= len(log.tasks)
    table = _table(grid, losses, np.array(validated))
    return HorizonReport(table, gamma_eval, _prior_in_words(log, prior), _warnings(log, table))


def _grid(gamma_eval: float, gammas: Any) -> Float[np.ndarray, " G"]:
    """Return the discount factors to compare, ascending; gamma_eval is the last one."""
    grid = ascending([gamma for gamma in GAMMAS if gamma <= gamma_eval] if gammas is None else gammas)
    if grid[-1] > gamma_eval:
        raise ValueError(f"gamma = {grid[-1]:g} is above gamma_eval = {gamma_eval:g}; it has to be at most that")
    return np.unique([*grid, gamma_eval])


def _posterior_losses(
    log: Log,
    posterior: Posterior,
    counts: Int[np.ndarray, "S A S"],
    grid: Float[np.ndarray, " G"],
    rng: np.random.Generator,
    samples: int,
) -> Float[np.ndarray, "2 n G"]:
    """Return the losses of plans on the posterior mean, and on the frequencies, in models from the posterior."""
    truth, rewards = log.playable(posterior.sample(rng, samples), grid[-1])
    frequencies = Batch.of_counts(counts[None], 1).P_bar[0]
    found = []
    for P_hat in (posterior.mean, frequencies):
        policies = _policies(log, P_hat, grid)
        found.append(planning_loss(truth, rewards, np.repeat(policies, samples, 0), float(grid[-1]), norm="mean"))
    return np.stack(found)


def _policies(log: Log, P_hat: Float[np.ndarray, "S A S"], grid: Float[np.ndarray, " G"]) -> Int[np.ndarray, "1 G S"]:
    P, R = log.playable(P_hat[None], float(grid[-1]))
    return PolicyIteration().plan(P, R, grid)


def _validated(
    log: Log, counts: Int[np.ndarray, "S A S"], grid: Float[np.ndarray, " G"], rng: np.random.Generator
) -> Float[np.ndarray, " G"]:
    """Return the losses of plans on one half of a task's transitions, in the frequencies of the other half."""
    losses = np.zeros(len(grid))
    for _ in range(SPLITS):
        half = rng.binomial(counts, 0.5)
        one, other = (Batch.of_counts(part[None], 1).P_bar for part in (half, counts - half))
        truth, rewards = log.playable(other, float(grid[-1]))
        losses += planning_loss(truth, rewards, _policies(log, one[0], grid), float(grid[-1]), norm="mean")[0]
    return losses / SPLITS


def _table(
    grid: Float[np.ndarray, " G"], losses: Float[np.ndarray, "2 n G"], validated: Float[np.ndarray, "K G"]
) -> pd.DataFrame:
    columns: dict[str, Any] = {"gamma": grid}
    for name, of_plans in zip(("", "_of_frequencies"), losses, strict=True):
        lower, upper = np.quantile(of_plans, [0.025, 0.975], axis=0)
        columns |= {f"loss{name}": of_plans.mean(0), f"lower{name}": lower, f"upper{name}": upper}
    spread = validated.std(0, ddof=1) / np.sqrt(len(validated)) if len(validated) > 1 else np.full(len(grid), np.nan)
    return pd.DataFrame(columns | {"cross_validation": validated.mean(0), "standard_error": spread})


def _best(table: pd.DataFrame, column: str) -> float:
    return float(minimising(table["gamma"].to_numpy(float), table[column].to_numpy(float)))


def _prior_in_words(log: Log, prior: Prior) -> str:
    if prior == "uniform":
        return "The prior is uniform: one transition from each pair to each state, whatever other tasks show."
    return (
        f"The prior is learned from {_tasks(log)}: in each pair a Dirichlet distribution around their mean, "
        f"worth {log.concentration:.1f} transitions, with independent rows."
    )


def _tasks(log: Log) -> str:
    return "one task" if len(log.tasks) == 1 else f"{len(log.tasks)} tasks"


def _warnings(log: Log, table: pd.DataFrame) -> list[str]:
    """Return a sentence on each reason not to trust a report."""
    lines = []
    if len(log.tasks) < FEW_TASKS:
        lines.append(f"Do not trust the prior: it comes from {_tasks(log)}, fewer than {FEW_TASKS}.")
    empty = float((log.counts.sum(-1) == 0)[:, log.seen].mean())
    if empty > FEW_TRANSITIONS:
        lines.append(f"The prior decides: {100 * empty:.0f} % of the pairs of a task have no transition of its own.")
    by_posterior, by_halves = (_best(table, column) for column in ("loss", "cross_validation"))
    if abs(by_posterior - by_halves) > 0.1:
        lines.append(
            f"The posterior and cross-validation disagree (γ = {by_posterior:g} and {by_halves:g}): the prior may be "
            "wrong, or halves of the data are too few."
        )
    if table["lower"].iloc[-1] <= table["loss"].min():
        lines.append(f"No γ is better than {table['gamma'].iloc[-1]:g} beyond the uncertainty of the posterior.")
    return lines
