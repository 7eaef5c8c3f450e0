"""What to plan the tasks of a log with, by what the log says: one recommendation, and what it rests on.

The models and rewards of tasks are drawn from what the log leaves open of them. In each draw the plans that are
compared lose something against the best policy, and that is what the report is about.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from pomrl.checks import check_memory
from pomrl.models_and_logs.drawn_losses import drawn_losses
from pomrl.models_and_logs.logs import Log, some_of
from pomrl.models_and_logs.models import ascending
from pomrl.models_and_logs.recommendations import PLANS, Improvement, Recommendation, interval, recommended
from pomrl.models_and_logs.structure import DECLARED, Evidence, LearnedRows, Structure, weigh
from pomrl.science.data import Batch
from pomrl.science.mdp import check_gamma_eval
from pomrl.science.planners import PolicyIteration

GAMMAS = tuple(round(0.05 * i, 2) for i in range(20))
"""The discount factors that are compared by default, as far as they are below gamma_eval, which is added."""

COPIES_OF_DRAWS = 4
"""How often the draws of a model are held together, with what is computed of them."""

FEW_TASKS = 5
"""With fewer tasks a learned prior says little of the next one."""

FEW_TRANSITIONS = 0.5
"""If more than this share of the pairs of a task has no transition, the report says so."""


@dataclass(frozen=True, eq=False)
class HorizonReport:
    """What to plan the tasks of a log with, and what each discount factor is expected to lose on average over them."""

    recommendation: Recommendation
    improvement: Improvement
    """What the recommended policies gain over the policy that made the log."""
    table: "pd.DataFrame"
    """A row for each discount factor, with columns gamma; loss, lower and upper (what plans on the prior should lose
    against the best policy, at gamma_eval, and the 95 % interval); and loss_of_frequencies, lower_of_frequencies and
    upper_of_frequencies (the same of plans on the data of each task alone)."""
    tasks: "pd.DataFrame"
    """A row for each task, with columns task, transitions, pairs (the share of pairs that it has tried), and loss,
    lower and upper of the recommended policy."""
    actions: "pd.DataFrame"
    """The recommended policies by name: a row for each state of each task, with columns task, state and action. States
    that no task has left have none."""
    gamma_eval: float
    evidence: Evidence
    """Whether rows of the tasks' models are independent of each other, or what else."""
    plans: Int[np.ndarray, "K 2 G S"]
    """The plans that are compared: of each task, on the prior and on frequencies, at each discount factor."""
    warnings: list[str]
    """When not to trust the numbers, a line each."""

    @property
    def words(self) -> list[str]:
        """The recommendation, what it is worth, what it rests on and the warnings as sentences."""
        losses = (
            "A loss is what a policy earns less than the best one over the whole future, in units of rewards, where a "
            f"reward one step later counts γ_eval = {self.gamma_eval:g} times as much; it is a mean over tasks and "
            f"states. Where no episode ends, about {1 - self.gamma_eval:.2g} of it is lost in each step. Brackets hold "
            "95 % intervals."
        )
        return [self.recommendation.words, self.improvement.words, losses, self.evidence.words, *self.warnings]

    @property
    def losses(self) -> "pd.DataFrame":
        """The table as text."""
        said = self.table.map("{:.3g}".format)
        columns = {"data of all tasks": "", "data of each task alone": "_of_frequencies"}
        shown = {
            name: said[f"loss{of}"] + " (" + said[f"lower{of}"] + " to " + said[f"upper{of}"] + ")"
            for name, of in columns.items()
        }
        return pd.DataFrame({"discount factor": self.table["gamma"].map("{:g}".format), **shown})


def horizon_report(
    log: Log,
    gamma_eval: float = 0.99,
    gammas: Sequence[float] | None = None,
    *,
    structure: Structure | None = None,
    samples: int = 200,
    seed: int = 0,
    advance: Callable[[int, int, str], None] = lambda *_: None,
) -> HorizonReport:
    """Recommend what to plan the tasks of a log with, by what their transitions and rewards say.

    Losses are means over states, in the units of rewards, at gamma_eval.

    Args:
        log: The transitions and rewards.
        gamma_eval: The discount factor that policies are judged at; it is always among those compared.
        gammas: The other discount factors to plan with, each at most gamma_eval; by default those of `GAMMAS` that are.
        structure: What the models of tasks have in common, if that is known (`pomrl.Structure`). It is used
            unless tasks that were held out refute it.
        samples: The number of models that are drawn for each task.
        seed: The seed of these draws.
        advance: It is called with how many tasks are done, of how many, and with what.

    Raises:
        ValueError: A discount factor is above gamma_eval or not in [0, 1), the structure does not fit the log, or the
            samples would take too much memory.
    """
    K, S, A, _ = log.counts.shape
    check_memory(COPIES_OF_DRAWS * 8 * samples * S * A * S, f"{samples} draws of a model of {S} states")
    grid = _grid(gamma_eval, gammas)
    rng = np.random.default_rng(seed)
    some = some_of(K)
    rows, evidence = weigh(log.counts[some], structure, rng)
    theta = log.rewards.draw(rng, samples)
    plans = np.stack([_plans(log, rows, task, grid) for task in range(K)])
    drawn = []
    for number, task in enumerate(some.tolist()):
        advance(number, len(some), "judged")
        drawn.append(drawn_losses(log, rows, task, plans[task], gamma_eval, (rng, theta, samples)))
    losses, optimal, behaved = (np.stack(each) for each in zip(*drawn, strict=True))
    advice = recommended(losses.mean(0), grid, plans)
    of_tasks = losses[:, list(PLANS).index(advice.plan_on), np.searchsorted(grid, advice.gamma)]
    return HorizonReport(
        advice,
        Improvement((optimal - of_tasks - behaved).mean(0)),
        _table(grid, losses.mean(0)),
        _of_tasks(log, some, of_tasks),
        _actions(log, advice.policies),
        gamma_eval,
        evidence,
        plans,
        _warnings(log, evidence),
    )


def _grid(gamma_eval: float, gammas: Any) -> Float[np.ndarray, " G"]:
    """Return the discount factors to compare, ascending; gamma_eval is the last one."""
    check_gamma_eval(gamma_eval)
    grid = ascending([gamma for gamma in GAMMAS if gamma <= gamma_eval] if gammas is None else gammas)
    if grid[-1] > gamma_eval:
        raise ValueError(f"gamma = {grid[-1]:g} is above gamma_eval = {gamma_eval:g}; it has to be at most that")
    return np.unique([*grid, gamma_eval])


def _plans(log: Log, rows: LearnedRows, task: int, grid: Float[np.ndarray, " G"]) -> Int[np.ndarray, "2 G S"]:
    """Return the plans of a task on the prior and on frequencies at each discount factor."""
    counts = log.counts[task]
    P = np.stack([rows.mean(counts), Batch.of_counts(counts[None], 1).P_bar[0]])
    R = np.stack([log.rewards.mean(task, each) for each in P])
    return PolicyIteration().plan(*log.playable(P, R, float(grid[-1])), grid)


def _table(grid: Float[np.ndarray, " G"], losses: Float[np.ndarray, "2 G n"]) -> "pd.DataFrame":
    columns: dict[str, Any] = {"gamma": grid}
    for name, of_plans in zip(("", "_of_frequencies"), losses, strict=True):
        lower, upper = interval(of_plans)
        columns |= {f"loss{name}": of_plans.mean(-1), f"lower{name}": lower, f"upper{name}": upper}
    return pd.DataFrame(columns)


def _of_tasks(log: Log, some: Int[np.ndarray, " k"], losses: Float[np.ndarray, "k n"]) -> "pd.DataFrame":
    lower, upper = interval(losses)
    counts = log.counts[some]
    tried = (counts.sum(-1) > 0)[:, log.seen].mean(-1)
    columns = {"task": [log.tasks[task] for task in some], "transitions": counts.sum((1, 2, 3)), "pairs": tried}
    return pd.DataFrame({**columns, "loss": losses.mean(-1), "lower": lower, "upper": upper})


def _actions(log: Log, policies: Int[np.ndarray, "K S"]) -> "pd.DataFrame":
    left = np.flatnonzero(log.seen.any(1))  # in a state that is never left every action is as good
    named = [
        (task, log.states[s], log.actions[policy[s]])
        for task, policy in zip(log.tasks, policies, strict=True)
        for s in left
    ]
    return pd.DataFrame(named, columns=["task", "state", "action"], dtype=object)


def _warnings(log: Log, evidence: Evidence) -> list[str]:
    """Return a sentence on each reason not to trust a report."""
    lines = []
    if log.rewards.differ:
        lines.append("Rewards differ from task to task by more than chance: each task is planned with its own.")
    if log.rewards.skewed:
        lines.append("A few transitions pay very differently from all others: with noise, losses may be overstated.")
    if len(log.tasks) < FEW_TASKS:
        tasks = "one task" if len(log.tasks) == 1 else f"{len(log.tasks)} tasks"
        lines.append(f"The prior comes from {tasks}, fewer than {FEW_TASKS}: trust neither it nor the intervals.")
    empty = float((log.counts.sum(-1) == 0)[:, log.seen].mean())
    if empty > FEW_TRANSITIONS:
        lines.append(f"The prior decides: {100 * empty:.0f} % of the pairs of a task have no transition of its own.")
    if evidence.winner != DECLARED:
        lines.append(
            "The intervals may be too narrow: in trials, those without a declared structure held the true loss in "
            "about 8 of 10 logs. Declare the structure of your tasks if you know it (pomrl.Structure)."
        )
    return lines
