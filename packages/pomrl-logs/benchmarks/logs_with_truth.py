"""Logs of eight tasks with what is true of them: models, rewards, and the policies that made them.

A log has episodes of 10 to 30 steps from random states. Most behaviours are good and uneven, because whoever has a log
has a policy that works. `families_of_tasks` says what a family is.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from families_after_the_freeze import AFTER_THE_FREEZE
from families_after_the_limit import AFTER_THE_LIMIT
from families_after_the_rule import AFTER_THE_RULE
from families_of_tasks import Family, Tasks, latent_family
from further_problems import Promotions, Triage, TwoMachines
from jaxtyping import Float, Int

from pomrl.planning import PolicyIteration
from pomrl.science.mdp import random_chain_mdp
from pomrl.science.solvers.evaluation import policy_value
from pomrl_logs.logs import Log
from pomrl_logs.safe_improvement import Structure
from pomrl_studies.beyond.families.cliff_walking import CliffWalking
from pomrl_studies.beyond.families.forest import Forest
from pomrl_studies.beyond.families.frozen_lake import FrozenLake
from pomrl_studies.beyond.families.garnet import Garnet
from pomrl_studies.beyond.families.inventory import Inventory
from pomrl_studies.beyond.families.machine_replacement import MachineReplacement
from pomrl_studies.beyond.families.queue import Queue
from pomrl_studies.beyond.families.river_swim import RiverSwim

TASKS, GAMMA_EVAL = 8, 0.95
SHORTEST, LONGEST = 10, 30
"""Steps of an episode."""

NOISE = 0.25
"""The standard deviation of the noise of rewards, in units of that of the rewards in the log."""

SHARES_OF_UNIFORM = {"best_05": 0.05, "best_10": 0.1, "best_30": 0.3, "hidden": 0.1, "uniform": 1.0}
"""The behaviours that take the best action of the task, except for a share of steps with an action at random."""

LUCK = 0.3
"""The share of steps in which the hidden behaviour sees two next states, and gets the better one."""

CHAIN_STATES, CHAIN_ACTIONS, CHAIN_CONCENTRATION = 10, 3, 20.0


def chains(rng: np.random.Generator, tasks: int) -> Tasks:
    """Draw random chains, the paper's tasks: rows are independent, and new in each log."""
    P_o, R = random_chain_mdp(rng, CHAIN_STATES, CHAIN_ACTIONS, CHAIN_STATES // 2)
    gammas = rng.standard_gamma(np.repeat(CHAIN_CONCENTRATION * P_o[None], tasks, 0))
    return gammas / gammas.sum(-1, keepdims=True), np.broadcast_to(R[..., None], gammas.shape), None


THE_TWELVE: dict[str, Family] = {
    "chains": chains,
    "river_swim": latent_family(RiverSwim(centre=0.2, spread=0.15)),
    "inventory": latent_family(Inventory(centre=0.3, spread=0.15)),
    "queue": latent_family(Queue(centre=0.4, spread=0.15)),
    "machine_replacement": latent_family(MachineReplacement(centre=0.25, spread=0.15)),
    "forest": latent_family(Forest(centre=0.2, spread=0.15)),
    "garnet": latent_family(Garnet(centre=0.5, spread=0.15)),
    "frozen_lake": latent_family(FrozenLake(centre=0.4, spread=0.15)),
    "cliff_walking": latent_family(CliffWalking(centre=0.2, spread=0.15)),
    "two_machines": latent_family(TwoMachines(centre=0.3, spread=0.15)),
    "promotions": latent_family(Promotions(centre=0.4, spread=0.3)),
    "triage": latent_family(Triage(centre=0.25, spread=0.15)),
}
"""Those on which the method was made. The last three are no families of the project."""

THE_SIX: dict[str, Family] = {
    **{name: latent_family(kind(centre=centre, spread=0.15)) for name, (kind, centre) in AFTER_THE_RULE.items()},
    **{name: latent_family(family) for name, family in AFTER_THE_LIMIT.items()},
}
"""Those that were tried after unseen losses were counted."""

FAMILIES = THE_TWELVE | AFTER_THE_FREEZE | THE_SIX


@dataclass(frozen=True)
class Cell:
    """Logs of one kind."""

    family: str
    behaviour: str
    """One of `SHARES_OF_UNIFORM`; or "rule_of_thumb", the best policy of the mean task; "two_halves", the best policy
    in half of the episodes, and random actions; "never_taken", the best policy without one of the actions. Each has a
    share 0.1 of random actions."""
    transitions: int
    """Those of all tasks together."""
    knows: str
    """Whether the report knows the "rewards", or these and the "structure" of the models, or observes rewards with
    "noise"."""


@dataclass(frozen=True, eq=False)
class LogWithTruth:
    """A log, and what is true of its tasks."""

    log: Log
    steps: pd.DataFrame
    """The transitions by task, episode and step, with columns task, episode, state, action, reward, next_state."""
    P: Float[np.ndarray, "K S A S"]
    R: Float[np.ndarray, "K S A S"]
    behaviours: Float[np.ndarray, "B K S A"]
    """The policies that made the log, each an equal share of its episodes."""
    P_in_log: Float[np.ndarray, "K S A S"]
    """The models that the log shows: P, unless the behaviour looks at something that the state leaves out."""
    structure: Structure | None


def draw_log(cell: Cell, rng: np.random.Generator) -> LogWithTruth:
    """Draw the tasks and the log of a cell."""
    P, R, structure = FAMILIES[cell.family](rng, TASKS)
    behaviours = _behaviours(cell.behaviour, P, R, rng)
    P_in_log = _with_luck(P, R) if cell.behaviour == "hidden" else P
    steps = _steps(P_in_log, R, behaviours, cell.transitions // TASKS, rng)
    if cell.knows == "noise":
        steps["reward"] += NOISE * steps["reward"].std() * rng.standard_normal(len(steps))
    log = _log(steps, P.shape)
    return LogWithTruth(
        log if cell.knows == "noise" else log.with_rewards(R), steps, P, R, behaviours, P_in_log,
        structure if cell.knows == "structure" else None,
    )  # fmt: skip


def best_policies(P: Float[np.ndarray, "K S A S"], R: Float[np.ndarray, "K S A S"]) -> Int[np.ndarray, "K S"]:
    """Return the best policy of each model at gamma_eval."""
    return PolicyIteration().plan(P, (P * R).sum(-1), np.array([GAMMA_EVAL]))[:, 0]


def _behaviours(
    name: str, P: Float[np.ndarray, "K S A S"], R: Float[np.ndarray, "K S A S"], rng: np.random.Generator
) -> Float[np.ndarray, "B K S A"]:
    """Return the policies that make a log, as probabilities of actions."""
    A = P.shape[2]
    actions = np.delete(np.arange(A), rng.integers(A)) if name == "never_taken" else np.arange(A)
    if name == "rule_of_thumb":
        best = np.repeat(best_policies(P.mean(0, keepdims=True), R.mean(0, keepdims=True)), len(P), 0)
    else:
        best = actions[best_policies(P[:, :, actions], R[:, :, actions])]
    uniform = np.isin(np.arange(A), actions) / len(actions)
    shares = [0.1, 1.0] if name == "two_halves" else [SHARES_OF_UNIFORM.get(name, 0.1)]
    return np.stack([(1.0 - share) * np.eye(A)[best] + share * uniform for share in shares])


def _with_luck(P: Float[np.ndarray, "K S A S"], R: Float[np.ndarray, "K S A S"]) -> Float[np.ndarray, "K S A S"]:
    """Return models in which a share of steps leads to the better one of two next states."""
    V = policy_value(P, (P * R).sum(-1), best_policies(P, R), GAMMA_EVAL)
    order = (R + GAMMA_EVAL * V[:, None, None]).argsort(-1)
    at_most = np.take_along_axis(P, order, -1).cumsum(-1)  # the probability of this next state or a worse one
    better = np.empty_like(P)
    np.put_along_axis(better, order, np.diff(at_most**2, prepend=0.0), -1)
    return (1.0 - LUCK) * P + LUCK * better


def _steps(
    P: Float[np.ndarray, "K S A S"],
    R: Float[np.ndarray, "K S A S"],
    behaviours: Float[np.ndarray, "B K S A"],
    transitions: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Draw so many transitions of each task, in episodes of which the last one may be cut off."""
    K, S = P.shape[:2]
    episodes = -(-transitions // SHORTEST)
    task, episode = np.indices((K, episodes))
    behaviour = rng.permuted(episode % len(behaviours), axis=1)
    states, actions = np.empty((2, K, episodes, LONGEST + 1), int)
    states[..., 0] = rng.integers(S, size=(K, episodes))
    for step in range(LONGEST):
        state = states[..., step]
        action = _choices(behaviours[behaviour, task, state], rng)
        actions[..., step], states[..., step + 1] = action, _choices(P[task, state, action], rng)
    lasts = np.arange(LONGEST) < rng.integers(SHORTEST, LONGEST + 1, size=(K, episodes, 1))
    mask = lasts & (lasts.reshape(K, -1).cumsum(1).reshape(lasts.shape) <= transitions)
    k, e, _ = np.nonzero(mask)
    s, a, following = states[..., :-1][mask], actions[..., :-1][mask], states[..., 1:][mask]
    columns = {"task": k, "episode": e, "state": s, "action": a, "reward": R[k, s, a, following]}
    return pd.DataFrame({**columns, "next_state": following})


def _choices(probabilities: Float[np.ndarray, "*n m"], rng: np.random.Generator) -> Int[np.ndarray, "*n"]:
    below = probabilities.cumsum(-1)
    return (rng.random((*below.shape[:-1], 1)) * below[..., -1:] >= below).sum(-1)


def _log(steps: pd.DataFrame, shape: tuple[int, ...]) -> Log:
    """Return the log of transitions, with all states and actions."""
    cell = np.ravel_multi_index([steps[name] for name in ("task", "state", "action", "next_state")], shape)
    episode = (steps["task"] * len(steps) + steps["episode"]).to_numpy()
    tasks, states, actions = (tuple(range(size)) for size in shape[:3])
    return Log(cell, steps["reward"].to_numpy(float), episode, tasks, states, actions)
