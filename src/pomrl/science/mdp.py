"""Random chain MDPs and the planning loss (Sec. 2, Sec. 5)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int, Shaped

from pomrl.science.planners import PolicyIteration
from pomrl.science.randomness import Generators
from pomrl.science.solvers import ModelStack, RewardStack, action_ties, finite_horizon, input_checks, undiscounted
from pomrl.science.solvers.evaluation import ELIMINATED_STATES, distinct_policy_values
from pomrl.science.solvers.evaluation import policy_value as policy_value
from pomrl.science.solvers.input_checks import check_models

Rewards = Float[np.ndarray, "..."]
"""Rewards R(s, a) of pairs, [..., S, A], or R(s, a, s') of transitions, [..., S, A, S]."""

LossNorm = Literal["max", "mean"]
"""Norm over states of a loss: the worst state, or the mean."""

LOSS_ERROR = 1e-6
"""Largest error of a planning loss up to `ACCURATE_GAMMA_EVAL`, for rewards in [0, 1]."""

ACCURATE_GAMMA_EVAL = 1.0 - sqrt(2.0 * action_ties.ROUNDING_SHARE / LOSS_ERROR)
"""The gamma_eval at which `loss_error` is `LOSS_ERROR`, 0.999."""

MAX_GAMMA_EVAL = 1.0 - sqrt(np.finfo(float).eps / LOSS_ERROR)
"""Largest gamma_eval of meaningful losses, about 0.999985: even without ties, rounding errors
eps / (1 - gamma_eval)^2 reach `LOSS_ERROR`, and `loss_error` is 0.0045.
"""


def loss_error(gamma_eval: float) -> float:
    """Return the largest error of a planning loss, for rewards in [0, 1].

    It is 1e-12 / (1 - gamma_eval)^2. An action may gain up to 1e-12 / (1 - gamma_eval) in each step and count as tied
    (`solvers.action_ties`). In an example with three states the error is 2e-13 / (1 - gamma_eval)^2.
    """
    return 2.0 * action_ties.ROUNDING_SHARE / (1.0 - gamma_eval) ** 2


def random_chain_mdp(
    rng: np.random.Generator, S: int, A: int, zeros: int
) -> tuple[Float[np.ndarray, "S A S"], Float[np.ndarray, "S A"]]:
    """Draw the transition probabilities and rewards of a random chain MDP (Sec. 5).

    In each row, `zeros` uniformly chosen states have probability 0. The others are uniform in (0, 1] and normalised.
    Rewards are uniform in [0, 1).

    Raises:
        ValueError: zeros is not between 0 and S - 1.
    """
    P, R = random_chain_mdps([rng], S, A, zeros)
    return P[0], R[0]


def random_chain_mdps(
    rngs: Generators, S: int, A: int, zeros: int
) -> tuple[Float[np.ndarray, "n S A S"], Float[np.ndarray, "n S A"]]:
    """Draw a random chain MDP from each generator; see `random_chain_mdp`."""
    if not 0 <= zeros <= S - 1:
        raise ValueError(f"zeros must be between 0 and S - 1 = {S - 1}, got {zeros}")
    size, n_numbers = S * A * S, (2 * S + 1) * S * A
    uniform = np.array([rng.random(n_numbers) for rng in rngs]).reshape(-1, n_numbers)
    order = uniform[:, size : 2 * size].reshape(-1, S, A, S)
    weight = 1.0 - uniform[:, :size].reshape(-1, S, A, S)
    np.put_along_axis(weight, order.argsort(-1, kind="stable")[..., :zeros], 0.0, -1)
    return weight / weight.sum(-1, keepdims=True), uniform[:, 2 * size :].reshape(-1, S, A)


def expected_rewards(R: Rewards, P: Float[np.ndarray, "*n S A S"]) -> Float[np.ndarray, "*n S A"]:
    """Return R(s, a) = Σ_s' P(s, a, s') R(s, a, s').

    Rewards of pairs, [..., S, A], are returned unchanged.
    """
    return R if R.ndim < P.ndim else (P * R).sum(-1)


def for_each_model(R: Rewards, P: Float[np.ndarray, "k S A S"]) -> Rewards:
    """Add an axis for the k models to shared rewards.

    Rewards [S, A] and [S, A, S] are shared, unless they can be [k, S, A]. Others are returned unchanged.
    """
    is_shared = R.shape in (P.shape[1:3], P.shape[1:]) and R.shape != P.shape[:3]
    return np.broadcast_to(R, (len(P), *R.shape)) if is_shared else R


def check_gamma_eval(gamma_eval: float) -> None:
    """Raise a ValueError unless gamma_eval is in [0, `MAX_GAMMA_EVAL`]."""
    if not 0.0 <= gamma_eval < 1.0:
        raise ValueError(f"gamma_eval must be in [0, 1), got {gamma_eval!r}")
    if gamma_eval > MAX_GAMMA_EVAL:
        raise ValueError(
            f"gamma_eval must be at most {MAX_GAMMA_EVAL:.8f}, got {gamma_eval!r}: rounding errors of losses would "
            f"reach {loss_error(gamma_eval):.1g}"
        )


@dataclass(frozen=True)
class Criterion:
    """The criterion of losses: discount factor, norm, horizon and start."""

    gamma_eval: float
    """Discount factor of values; 1 is allowed with a horizon, or for proper policies (`solvers.undiscounted`)."""
    norm: LossNorm = "max"
    """Loss of the worst state, as in the paper, or the mean over states."""
    horizon: int | None = None
    """Number of steps after which a task ends; None: never."""
    start: tuple[float, ...] | None = None
    """Probability of each first state, a weight in means; None: uniform."""

    def optimal_value(self, P: ModelStack, R: RewardStack) -> Float[np.ndarray, "M S"]:
        gamma = np.array([self.gamma_eval])
        if self.horizon is not None:
            return finite_horizon.plan(P, R, np.tile(gamma, (len(P), 1)), self.horizon)[1][:, 0]
        if self.gamma_eval < 1.0 and R.shape[1] <= ELIMINATED_STATES:  # both ways have the same bits
            check_models(P, R)
            return PolicyIteration().plan_and_evaluate(P, R, gamma)[1][0, :, 0]
        policy = PolicyIteration().plan(P, R, gamma)
        if self.gamma_eval == 1.0:
            return undiscounted.policy_values(P, R, policy)
        return policy_value(P, R, policy[:, 0], self.gamma_eval)

    def distinct_values(
        self, P: ModelStack, R: RewardStack, policies: Shaped[np.ndarray, "..."] | Sequence[Any]
    ) -> tuple[Float[np.ndarray, "k S"], Int[np.ndarray, " k"], Int[np.ndarray, "M G"]]:
        """Evaluate policies; return the output of `solvers.evaluation.distinct_policy_values`."""
        if self.horizon is None and self.gamma_eval < 1.0:
            return distinct_policy_values(P, R, policies, self.gamma_eval)
        S, A = R.shape[1:]
        actions = input_checks.policies(policies, S, A)
        if actions.ndim not in (3, 3 + (self.horizon is not None)) or len(actions) != len(R):
            shapes = "[M, G, S]" if self.horizon is None else "[M, G, S] or [M, G, h, S]"
            raise ValueError(f"policy must be {shapes} with M = {len(R)}, got {list(actions.shape)}")
        M, G = actions.shape[:2]
        model, index = np.repeat(np.arange(M), G), np.arange(M * G).reshape(M, G)
        if self.horizon is None:
            return undiscounted.policy_values(P, R, actions), model, index
        V = finite_horizon.policy_values(P, R, actions, self.gamma_eval, self.horizon).reshape(M * G, S)
        return V, model, index

    def planning_loss(
        self,
        P: ModelStack,
        R: RewardStack,
        policy: Shaped[np.ndarray, "..."] | Sequence[Any],
        V_star: Float[np.ndarray, "M S"] | None = None,
    ) -> Float[np.ndarray, "M G"]:
        V_star = self.optimal_value(P, R) if V_star is None else V_star
        V, model, index = self.distinct_values(P, R, policy)
        size = self.distinct_values(P, np.abs(R), policy)[0] if action_ties.have_both_signs(R) else np.abs(V)
        losses = action_ties.differences(V_star[model], V, size)
        # faster with the long axis last
        loss = losses.T.copy().max(0) if self.norm == "max" else self.mean(losses)
        return loss[index]

    def mean(self, values: Float[np.ndarray, "*n S"]) -> Float[np.ndarray, "*n"]:
        """Return the mean over first states, weighted by `start`."""
        return values.mean(-1) if self.start is None else (values * np.array(self.start)).sum(-1)


def optimal_value(
    P: Shaped[np.ndarray, "M S A S"] | Sequence[Any], R: Shaped[np.ndarray, "M S A"] | Sequence[Any], gamma: float
) -> Float[np.ndarray, "M S"]:
    """Return the exact optimal values V* of M MDPs.

    Raises:
        ValueError: P and R are not models, or gamma is not in [0, 1].
        NeverEndsError: gamma is 1, and a state has no undiscounted value.
    """
    return Criterion(gamma).optimal_value(input_checks.float64(P, "P"), input_checks.float64(R, "R"))


def planning_loss(
    P: Shaped[np.ndarray, "M S A S"] | Sequence[Any],
    R: Shaped[np.ndarray, "M S A"] | Sequence[Any],
    policy: Shaped[np.ndarray, "M G S"] | Sequence[Any],
    gamma_eval: float,
    V_star: Shaped[np.ndarray, "M S"] | Sequence[Any] | None = None,
    norm: LossNorm = "max",
) -> Float[np.ndarray, "M G"]:
    """Return the planning losses of policies on the true models (Sec. 2).

    The loss is max_s |V*(s) - V^π(s)|, or the mean over states (`norm`), in discounted reward. Differences within
    rounding errors (`solvers.action_ties`) are 0, so an optimal policy loses exactly 0. `V_star` is the result of
    `optimal_value(P, R, gamma_eval)`, if known.

    Raises:
        ValueError: P and R are not models, gamma_eval is not in [0, 1], or `policy` or `V_star` does not fit P.
        NeverEndsError: gamma_eval is 1, and a policy never ends from some state.
    """
    P, R = input_checks.float64(P, "P"), input_checks.float64(R, "R")
    check_models(P, R)
    gamma_eval = input_checks.float64(gamma_eval, "gamma_eval").item()
    if not 0.0 <= gamma_eval <= 1.0:
        raise ValueError(f"gamma_eval must be between 0 and 1, got {gamma_eval}")
    if V_star is not None and (V_star := input_checks.float64(V_star, "V_star")).shape != R.shape[:2]:
        raise ValueError(f"V_star must be [M, S] = {list(R.shape[:2])}, got {list(V_star.shape)}")
    return Criterion(gamma_eval, norm).planning_loss(P, R, policy, V_star)
