"""Honest timing: results are checked first, then competitors take turns with us; ratios are taken within turns."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from benchmarks.competitors import Plan, ours
from benchmarks.problems import GAMMA_EVAL, Models
from pomrl.mdp import planning_loss
from pomrl.solvers.evaluation import policy_value

VALUE_TOLERANCE = 1e-6
"""Largest scaled difference in value between our policies and another's; MDPSolver stops at a tolerance."""


@dataclass(frozen=True)
class Measured:
    """Time for one plan, in microseconds, ours and another's, in each round."""

    ours: Float[np.ndarray, " rounds"]
    other: Float[np.ndarray, " rounds"]

    @property
    def ratios(self) -> tuple[float, float, float]:
        """How many times longer the other takes: the smallest, the median and the largest ratio over rounds."""
        ratio = self.other / self.ours
        return float(ratio.min()), float(np.median(ratio)), float(ratio.max())


def seconds(work: Callable[[], object]) -> float:
    """How long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def plan_and_evaluate(plan: Plan, models: Models, gammas: Float[np.ndarray, " G"]) -> Float[np.ndarray, "M G"]:
    """The planning losses of the policies that are planned on the estimates; evaluation is the same for everyone."""
    return planning_loss(models.P, models.R, plan(models.P_hat, models.R, gammas), GAMMA_EVAL, models.V_star)


def compare(
    plan: Plan,
    models: Models,
    gammas: Float[np.ndarray, " G"],
    few: int,
    sparse: Float[np.ndarray, " g"],
    rounds: int,
) -> Measured:
    """Ours on all models and gammas, the other on `few` models and the `sparse` gammas: it treats each by itself."""
    check_equal(plan, models.first(few), sparse)
    ours_seconds, other_seconds = [], []
    for _ in range(rounds):
        ours_seconds.append(seconds(lambda: plan_and_evaluate(ours, models, gammas)) / (len(models.P) * len(gammas)))
        other_seconds.append(seconds(lambda: plan_and_evaluate(plan, models.first(few), sparse)) / (few * len(sparse)))
    return Measured(1e6 * np.array(ours_seconds), 1e6 * np.array(other_seconds))


def check_equal(plan: Plan, models: Models, gammas: Float[np.ndarray, " G"]) -> None:
    """ArithmeticError unless the other's policies are worth as much as ours, on the models they were planned on."""
    values = [policy_values(models, by(models.P_hat, models.R, gammas), gammas) for by in (ours, plan)]
    scaled = (1.0 - gammas)[:, None] * np.abs(values[0] - values[1])
    if scaled.max() > VALUE_TOLERANCE:
        raise ArithmeticError(f"{plan.__name__} and we differ by {scaled.max():.2g} in scaled value")


def policy_values(models: Models, policy: np.ndarray, gammas: np.ndarray) -> Float[np.ndarray, "M G S"]:
    """The values of the policies on the estimated models, each at its gamma."""
    return policy_value(models.P_hat[:, None], models.R[:, None], policy, np.broadcast_to(gammas, policy.shape[:2]))
