"""Random chain MDPs and the planning loss."""

import numpy as np
from jaxtyping import Bool, Float, Int

from pomrl.evaluation import TIE_TOLERANCE, chain_value, check_gammas, check_models, policy_value, tie_tolerance
from pomrl.planners import GRID, LARGE, PolicyIteration, few_sweeps
from pomrl.relative_values import evaluate_policies

__all__ = ["check_models", "optimal_value", "planning_loss", "policy_value", "random_chain_mdp"]


def random_chain_mdp(
    rng: np.random.Generator, S: int, A: int, zeros: int
) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A"]]:
    """A random chain MDP (Sec. 5, Setting): transition model P and rewards R, uniform in [0, 1).

    For each pair (s, a), `zeros` states, chosen at random, have probability 0; the probabilities of the others are
    drawn uniformly in (0, 1] and normalised. Raises ValueError unless 0 <= zeros <= S - 1.
    """
    if not 0 <= zeros <= S - 1:
        raise ValueError(f"zeros={zeros}: of {S} states at least none and at most {S - 1} can have probability 0")
    weight = 1.0 - rng.random((S, A, S))
    rank = rng.random((S, A, S)).argsort(-1, kind="stable").argsort(-1, kind="stable")
    weight[rank < zeros] = 0.0
    return weight / weight.sum(-1, keepdims=True), rng.random((S, A))


def optimal_value(
    P: Float[np.ndarray, "M S A S"], R: Float[np.ndarray, "M S A"], gamma: float
) -> Float[np.ndarray, "M S"]:
    """V*, the value of an optimal policy at gamma."""
    policy = PolicyIteration().plan(P, R, np.array([gamma]))
    return policy_value(P, R, policy[:, 0], gamma)


def planning_loss(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policy: Int[np.ndarray, "M G S"],
    gamma_eval: float,
    V_star: Float[np.ndarray, "M S"] | None = None,
) -> Float[np.ndarray, "M G"]:
    """The planning loss max_s |V*(s) - V^pi(s)| at gamma_eval (Sec. 2), with both values exact.

    P and R are the true models, policy what was planned on the estimated ones. V_star is `optimal_value` where it is
    known already. The loss is at least 0, and exactly 0 for an optimal policy: what is below the tolerance of ties is
    rounding. Raises ValueError for bad models and for gamma_eval outside [0, 1).
    """
    check_models(P, R)
    check_gammas(np.array([gamma_eval]))
    if V_star is None:
        V_star = optimal_value(P, R, gamma_eval)
    V = _value_of_each(P, R, policy, gamma_eval)
    loss = np.abs(V_star[:, None] - V).max(-1)
    return np.where(loss <= tie_tolerance(R, np.array(gamma_eval))[:, None], 0.0, loss)


def _value_of_each(
    P: Float[np.ndarray, "M S A S"],
    R: Float[np.ndarray, "M S A"],
    policy: Int[np.ndarray, "M G S"],
    gamma: float,
) -> Float[np.ndarray, "M G S"]:
    """The values of G policies on each model. A policy that repeats the one before it is evaluated once."""
    new = np.ones(policy.shape[:2], bool)
    new[:, 1:] = (policy[:, 1:] != policy[:, :-1]).any(-1)
    if P.shape[1] >= LARGE:
        V = np.concatenate([_values_of_large(*model, gamma) for model in zip(P, R, policy, new, strict=True)])
    else:
        rows = np.nonzero(new)[0][:, None], np.arange(P.shape[1]), policy[new]
        V = chain_value(P[rows], R[rows], gamma)
    return V[np.cumsum(new) - 1].reshape(policy.shape)


def _values_of_large(
    P: Float[np.ndarray, "S A S"],
    R: Float[np.ndarray, "S A"],
    policy: Int[np.ndarray, "G S"],
    new: Bool[np.ndarray, " G"],
    gamma: float,
) -> Float[np.ndarray, "k S"]:
    """The values of the new policies of one large model: by products of matrices, which serve all policies at once.

    Policies that these do not solve in few sweeps, or that are few, are evaluated one by one.
    """
    policies = policy[new]
    V, unsolved = np.empty(policies.shape), np.arange(len(policies))
    if len(policies) >= GRID:
        sweeps = few_sweeps(*R.shape)
        V, unsolved = evaluate_policies(P, R, policies, gamma, TIE_TOLERANCE / 8, sweeps)
    for i in unsolved:
        V[i] = policy_value(P, R, policies[i], gamma)
    return V
