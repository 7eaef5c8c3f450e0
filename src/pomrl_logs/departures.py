"""Plans that depart from the decisions of a log only where the transitions of a task support that.

In the estimated model of a task there is one more action, which keeps to the decisions of the log: it takes the actions
with the probabilities that they have there. A plan may choose another action in a state only if the task itself has
tried that action there often enough (its *support*), as in safe policy improvement with baseline bootstrapping (SPIBB;
Laroche, Trichelair and Tachet des Combes, 2019). How often is enough is not decided here (`gains`).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers.evaluation import chain_value
from pomrl_logs.logs import Log
from pomrl_logs.structure import Structure

KEEP = -1
"""The entry of a policy in a state in which the decisions of the log are kept."""

Policies = Int[np.ndarray, "K S"]
"""The action of each task in each state, or `KEEP`."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated models of the tasks of a log; action 0 keeps to the decisions of the log, and 1 + a is the action a."""

    P: Float[np.ndarray, "K S B S"]
    R: Float[np.ndarray, "K S B"]
    visits: Int[np.ndarray, "K S A"]
    """How often each task has tried each action."""

    def plans(self, support: int, gammas: Float[np.ndarray, " G"]) -> Int[np.ndarray, "G K S"]:
        """Return the best policies at each discount factor among the supported actions; none supported: `KEEP`.

        The decisions of the log are no choice where an action is supported: what they are worth depends on actions
        that were tried too seldom. An action that the task has always taken is as good as any other. Were it not, plans
        would depart where the log happens to have many other actions, and the gain of that would be overstated.
        """
        supported = self.visits >= support
        open_ = np.concatenate([~supported.any(-1, keepdims=True), supported], -1)
        low, high = min(float(self.R.min()), 0.0), max(float(self.R.max()), 0.0)
        R = np.where(open_, self.R, low - (high - low + 1.0) / (1.0 - gammas[-1]))
        return PolicyIteration().plan(self.P, R, gammas).swapaxes(0, 1) + KEEP

    def chain(self, policies: Policies) -> tuple[Float[np.ndarray, "K S S"], Float[np.ndarray, "K S"]]:
        """Return the transitions and rewards of the tasks under these policies."""
        at = (policies - KEEP)[..., None]
        P = np.take_along_axis(self.P, at[..., None], 2)[:, :, 0]
        return P, np.take_along_axis(self.R, at, 2)[..., 0]

    def values(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the value of these policies in each state."""
        return chain_value(*self.chain(policies), gamma)

    def action_values(self, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S A"]:
        """Return the value of each action if these values follow."""
        return self.R[..., 1:] + gamma * (self.P[:, :, 1:] @ V[:, None, :, None])[..., 0]

    def occupancy(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return the discounted number of visits to each state, from a first state that is any with the same chance."""
        P, _ = self.chain(policies)
        S = P.shape[-1]
        return chain_value(P.swapaxes(1, 2), np.full((len(P), S), 1.0 / S), gamma)

    def backup(self, policies: Policies, V: Float[np.ndarray, "K S"], gamma: float) -> Float[np.ndarray, "K S"]:
        """Return what one step of these policies is worth in each state if these values follow."""
        P, R = self.chain(policies)
        return R + gamma * (P @ V[..., None])[..., 0]

    def gains(self, policies: Policies, gamma: float) -> Float[np.ndarray, "K S"]:
        """Return what the departure of each task in each state adds to its value, a mean over first states.

        These are the terms of the performance difference lemma (Kakade and Langford, 2002): the advantage of what is
        done over the decisions of the log, in each visit to the state.
        """
        kept = self.values(np.full_like(policies, KEEP), gamma)
        advantage = self.backup(policies, kept, gamma) - kept
        return np.where(policies != KEEP, self.occupancy(policies, gamma) * advantage, 0.0)


def estimate_models(
    log: Log, structure: Structure | None = None, of_ends: Float[np.ndarray, " S"] | None = None
) -> Estimate:
    """Return the models of the tasks of a log: posterior means under the prior that all tasks give, or a structure.

    The probabilities of actions are those of the task, with one more transition, which is shared out as in all tasks.

    Args:
        log: The transitions and rewards.
        structure: What the models of tasks have in common, if that is known.
        of_ends: What each state pays in each step if it is an end; by default `Log.worst_ends`.
    """
    of_ends = log.worst_ends if of_ends is None else of_ends
    P = log.models if structure is None else structure.means(log.counts)
    R = np.stack([log.rewards.mean(task, model) for task, model in enumerate(P)])
    P, R = log.playable(P, R, of_ends)
    visits = log.visits
    pooled = visits.sum(0) / np.maximum(visits.sum((0, 2)), 1)[:, None]
    chance = (visits + pooled) / (visits.sum(-1, keepdims=True) + 1.0)
    kept = np.einsum("ksa,ksat->kst", chance, P, optimize=True)
    kept[:, ~log.left] = P[:, ~log.left, 0]
    of_kept = np.where(log.left, (chance * R).sum(-1), of_ends)
    P = np.concatenate([kept[:, :, None], P], 2)
    return Estimate(P, np.concatenate([of_kept[..., None], R], -1), visits)
