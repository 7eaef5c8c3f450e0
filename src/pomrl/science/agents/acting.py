"""The loop in which agents act: what a method makes of one task after the other (`science.experiment`)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np
from jaxtyping import Float, Int

from pomrl.checks import make_read_only
from pomrl.science.agents.agent import Agent, Decision, TaskData
from pomrl.science.algorithm import PlanningInput, pomrl
from pomrl.science.checked import Returned
from pomrl.science.data import Batch, Batches, Counts
from pomrl.science.drawn_tasks import DrawnTask, share
from pomrl.science.exploration import Belief, Collecting
from pomrl.science.mdp import Rewards
from pomrl.science.planners import check_policies
from pomrl.science.problem import Method, Problem
from pomrl.science.randomness import Generators, Stream, generator


class Played(NamedTuple):
    """What a method has made of a task, in each of K trials of each of n runs."""

    given: PlanningInput
    """What is estimated, with the discount factors of the schedule."""
    policy: Int[np.ndarray, "nK G *S"]
    gamma: Float[np.ndarray, "nK G"]
    """The discount factor of each policy."""
    R_hat: Rewards
    """The rewards that are planned with."""
    counts: Counts


def _refuse_belief(_: Batch) -> Belief:
    raise ValueError("an agent that `plans_only` cannot ask for beliefs")


@dataclass
class Asked:
    """The batches of a task; the loop of Algorithm 1 asks for them as for those of an `Exploration`.

    What it believes after any batch is kept for agents that may ask; it takes much memory.
    """

    given: Batches | Collecting
    keeps_beliefs: bool
    batches: Batches = field(init=False)
    believe: Callable[[Batch], Belief] = _refuse_belief

    def collect(self, believe: Callable[[Batch], Belief]) -> Batches:
        self.believe = believe if self.keeps_beliefs else _refuse_belief
        self.batches = self.given if isinstance(self.given, Batches) else self.given.collect(believe)
        return self.batches


def estimates(problem: Problem, method: Method, tasks: Iterator[DrawnTask]) -> Iterator[PlanningInput]:
    """Run the algorithm with a method on the batches of the drawn tasks, once for each memory."""
    memories = 1 if problem.meta_batch.is_shared else problem.trials
    told, learned_from = share(tasks, 2)
    truths = (task.truth.repeat(memories) for task in told)
    batches = (task.batches for task in learned_from)
    return pomrl(batches, problem.m, truths, method.estimator, method.gamma_schedule, problem.gamma_eval)


def play(
    problem: Problem, method: Method, tasks: Iterator[DrawnTask], runs: Sequence[int], at_a_time: int
) -> Iterator[Played]:
    """Yield what a method makes of each task; an agent that `plans_only` is asked of several at a time."""
    agent, memories = method.agent, 1 if problem.meta_batch.is_shared else problem.trials
    keys = [(run, Stream.AGENTS, index) for run in runs for index in range(memories)]
    rngs = [generator(problem.seed, *key) for key in keys if not agent.plans_only]
    memory = agent.initial_memory(len(keys), problem.S, problem.A)
    asked = (task._replace(batches=Asked(task.batches, not agent.plans_only)) for task in tasks)
    asking, seen = share(asked, 2)
    known = enumerate(zip(estimates(problem, method, asking), seen, strict=True), start=1)
    while together := list(islice(known, at_a_time if agent.plans_only else 1)):
        trials = [_trials(t, problem, method, given, task, rngs) for t, (given, task) in together]
        decisions = _act(agent, [trial for of_task in trials for trial in of_task], memory)
        for (_, (given, task)), of_task in zip(together, trials, strict=True):
            policies, gammas = zip(*islice(decisions, len(of_task)), strict=True)
            policy, gamma = (np.stack(parts, axis=1) for parts in (policies, gammas))
            given_to = cast(Asked, task.batches)
            batches = given_to.batches
            of_trials = policy.reshape(-1, *policy.shape[2:]), gamma.reshape(-1, gamma.shape[-1])
            yield Played(given, *of_trials, task.R_hat, batches.own.counts)
            memory = agent.learn(memory, batches.meta, of_task[0].R)


def _trials(
    t: int, problem: Problem, method: Method, given: PlanningInput, task: DrawnTask, rngs: Generators
) -> list[TaskData]:
    """Return the data of each trial that shares the memory; for an agent that `plans_only`, trials are further runs."""
    asked = cast(Asked, task.batches)
    own, P_hat, gamma, R = asked.batches.own, given.P_hat, given.gamma, task.R_hat
    n, K = own.P_bar.shape[:2]
    if method.agent.plans_only:
        own, P_hat = own.reshape(n * K, 1), P_hat.reshape(n * K, 1, *P_hat.shape[2:])
        gamma = np.repeat(gamma, K, axis=0)
        n, K = n * K, 1
    R = R.reshape(n, K, *R.shape[1:])
    make_read_only(P_hat, gamma, R)
    return [
        TaskData(
            t,
            problem.criterion,
            Batch(own.counts[:, k], own.P_bar[:, k], own.visits[:, k], own.counted[:, k], own.m),
            R[:, k],
            P_hat[:, k],
            gamma,
            method.planner,
            asked.believe,
            rngs,
        )
        for k in range(K)
    ]


def _act(agent: Agent[Any], tasks: Sequence[TaskData], memory: Any) -> Iterator[Decision]:
    """Yield what an agent decides, which is refused unless there are policies and discount factors in range."""
    decisions = agent.act_together(tasks, memory)
    for task in tasks:
        where = Returned(agent, "act", f" in task {task.t}")
        if agent.discounts and task.gammas.max() == 1.0:
            raise ValueError(f"{where.name}: set the discount factors of gamma_schedule below 1, because it discounts")
        policy, gamma = next(decisions)
        n, S, A = task.P_hat.shape[:3]
        G = 1 if agent.chooses_gamma else task.gammas.shape[-1]
        steps = policy.shape[2:-1] if task.criterion.horizon and np.ndim(policy) == 4 else ()
        check_policies(policy, (n, G, *steps, S), A, where.name)
        where.array(gamma, (n, G), part="gamma")
        where.between(gamma, 0.0, task.gamma_eval, "gamma")
        yield Decision(policy, gamma)
