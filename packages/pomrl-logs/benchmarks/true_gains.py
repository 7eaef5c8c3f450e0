"""What decisions truly gain over the policy that made a log, and what the advice has to beat."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from logs_with_truth import GAMMA_EVAL, LogWithTruth, best_policies

from pomrl.science.solvers.evaluation import action_values, chain_value
from pomrl_logs.logs import Log

KEEP = -1
"""What stands in the place of an action where the decisions of the log are kept."""

STEPS = 20
"""Steps of policy iteration, more than any of these models needs."""


def true_gains(
    truth: LogWithTruth, policies: Int[np.ndarray, "K S"], kept_pairs: Bool[np.ndarray, "K S A"] | None = None
) -> Float[np.ndarray, " K"]:
    """Return what policies truly gain over the policy of the log at gamma_eval, for each task.

    Gains are means over the states in which its episodes start.

    Args:
        truth: The log.
        policies: The action in each state; `KEEP` where the decisions of the log are kept.
        kept_pairs: The pairs that stay as likely as in the log; the policy has what is left. By default those in the
            states that are kept.
    """
    kept_pairs = np.repeat(policies[..., None] == KEEP, truth.P.shape[2], -1) if kept_pairs is None else kept_pairs
    log_policy = np.where(kept_pairs, truth.behaviours, 0.0)
    changed = (1.0 - log_policy.sum(-1, keepdims=True)) * np.eye(truth.P.shape[2])[policies]
    return _values(truth, log_policy, changed) - _values(truth, truth.behaviours, np.zeros_like(truth.P[..., 0]))


def _values(
    truth: LogWithTruth, log_policy: Float[np.ndarray, "B K S A"], changed: Float[np.ndarray, "*B K S A"]
) -> Float[np.ndarray, " K"]:
    """Return the values of tasks with these probabilities of what is done as in the log, and of what is not."""
    terms = (log_policy, truth.P_in_log), (changed, truth.P)
    P = sum(np.einsum("...sa,...sat->...st", chance, model) for chance, model in terms)
    R = sum((chance * (model * truth.R).sum(-1)).sum(-1) for chance, model in terms)
    return (truth.log.starts * chain_value(np.asarray(P), np.asarray(R), GAMMA_EVAL)).sum(-1).mean(0)


@dataclass(frozen=True)
class Cautious:
    """Plans at gamma_eval that leave the policy of the log only for actions that were tried often."""

    least: int
    """The number of transitions from which on a pair may be planned."""
    all_tasks: bool = False
    """Whether the transitions of all tasks count, and the model is the posterior mean, or those of the task alone."""
    is_spibb: bool = False
    """Whether rare actions stay as likely as in the log (Π_b-SPIBB, Laroche et al. 2019), or are never taken where
    another one may be planned."""

    def policies(self, log: Log) -> tuple[Int[np.ndarray, "K S"], Bool[np.ndarray, "K S A"]]:
        """Return the policies, and the pairs that are kept as in the log, whose policy is estimated by frequencies."""
        own = log.counts.sum(-1)
        rare = (own.sum(0, keepdims=True) if self.all_tasks else own) < self.least
        kept_pairs = np.broadcast_to(rare if self.is_spibb else rare.all(-1, keepdims=True), own.shape)
        P = self._models(log)
        R = np.stack([log.rewards.mean(task, model) for task, model in enumerate(P)])
        behaviour = own / np.maximum(own.sum(-1, keepdims=True), 1)
        log_policy = pi = np.where(kept_pairs, behaviour, 0.0)
        policies = np.zeros(own.shape[:2], int)
        for _ in range(STEPS):
            V = chain_value((pi[..., None] * P).sum(-2), (pi * R).sum(-1), GAMMA_EVAL)
            Q = action_values(P, R, V[:, None], np.full((len(V), 1), GAMMA_EVAL))[:, 0]
            policies = np.where(rare, -np.inf, Q).argmax(-1)
            pi = log_policy + (1.0 - log_policy.sum(-1, keepdims=True)) * np.eye(own.shape[2])[policies]
        return policies, kept_pairs

    def _models(self, log: Log) -> Float[np.ndarray, "K S A S"]:
        if self.all_tasks:
            return np.stack([log.new_task(counts).mean for counts in log.counts])
        return log.counts / np.maximum(log.counts.sum(-1, keepdims=True), 1)


OTHERS = {
    "SPIBB 10": Cautious(10, is_spibb=True),
    "SPIBB 30": Cautious(30, is_spibb=True),
    "SPIBB 30, all tasks": Cautious(30, all_tasks=True, is_spibb=True),
    "tried 10": Cautious(10),
    "tried 30": Cautious(30),
    "tried 30, all tasks": Cautious(30, all_tasks=True),
    "posterior": Cautious(1, all_tasks=True),
    "frequencies": Cautious(1),
}
"""What the advice has to beat, apart from keeping to the log, which gains nothing."""


def gains_of_others(truth: LogWithTruth) -> dict[str, float]:
    """Return the true gains of the best policies, and of what the advice has to beat."""
    gains = {"possible": true_gains(truth, best_policies(truth.P, truth.R))}
    gains |= {name: true_gains(truth, *other.policies(truth.log)) for name, other in OTHERS.items()}
    return {name: float(task_gains.mean()) for name, task_gains in gains.items()}
