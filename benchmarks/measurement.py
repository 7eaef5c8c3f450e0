"""Honest timing: results are checked first, then contenders take turns with us; ratios are taken within turns."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from benchmarks.contenders import OURS, Contender, Plan
from benchmarks.problems import GAMMA_EVAL, Models
from pomrl.science.solvers.evaluation import policy_value

VALUE_TOLERANCE = 1e-9
"""Largest difference in value between our policies and another's, each at its own discount factor."""


@dataclass(frozen=True)
class Measured:
    """CPU time for one plan with its evaluation, in microseconds, ours and another's, in each round."""

    variant: str
    """The contender's fastest variant, which is the one that is measured."""
    ours: Float[np.ndarray, " rounds"]
    other: Float[np.ndarray, " rounds"]

    @property
    def ratios(self) -> tuple[float, float, float]:
        """How many times longer the other takes: the smallest, the median and the largest ratio over rounds."""
        ratio = self.other / self.ours
        return float(ratio.min()), float(np.median(ratio)), float(ratio.max())


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of the work, in all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(contender: Contender, models: Models, gammas: Float[np.ndarray, " G"], few: int, rounds: int) -> Measured:
    """Plan and evaluate all models by ours and the first few by the other, both at all gammas, in turns."""
    some = models.first(few)
    variant = _fastest(contender, models.first(max(1, few // 10)), gammas)
    plan = contender.variants[variant]
    check_equal(plan, some, gammas)
    plan_and_evaluate(contender, plan, some, gammas)  # compiled before it is timed
    ours, other = [], []
    for _ in range(rounds):
        ours.append(seconds(lambda: plan_and_evaluate(OURS, OURS.variants[""], models, gammas)) / len(models.P))
        other.append(seconds(lambda: plan_and_evaluate(contender, plan, some, gammas)) / few)
    return Measured(variant, 1e6 * np.array(ours) / len(gammas), 1e6 * np.array(other) / len(gammas))


def plan_and_evaluate(
    contender: Contender, plan: Plan, models: Models, gammas: Float[np.ndarray, " G"]
) -> Float[np.ndarray, "M G"]:
    """Return the planning losses of the policies that are planned on the estimates."""
    policies = plan(models.P_hat, models.R, gammas)
    return contender.losses(models.P, models.R, models.V_star, policies, GAMMA_EVAL)


def _fastest(contender: Contender, models: Models, gammas: Float[np.ndarray, " G"]) -> str:
    """Return the variant that plans fastest, in the second of two calls if the first one may have compiled."""
    if len(contender.variants) == 1:
        return next(iter(contender.variants))
    one = models.first(1)
    times = {}
    for name, plan in contender.variants.items():
        plan(one.P_hat, one.R, gammas[:2])
        times[name] = seconds(lambda plan=plan: plan(models.P_hat, models.R, gammas))
    return min(times, key=times.__getitem__)


def check_equal(plan: Plan, models: Models, gammas: Float[np.ndarray, " G"]) -> None:
    """Raise ArithmeticError unless the other's policies are worth as much as ours, on the models they were planned on.

    Losses are compared nowhere else: they follow from the policies.
    """
    values = [_policy_values(models, by(models.P_hat, models.R, gammas), gammas) for by in (OURS.variants[""], plan)]
    difference = np.abs(values[0] - values[1]).max()
    if difference > VALUE_TOLERANCE:
        raise ArithmeticError(f"{plan} and we differ by {difference:.2g} in value")


def _policy_values(models: Models, policy: np.ndarray, gammas: np.ndarray) -> Float[np.ndarray, "G M S"]:
    """Return the values of the policies on the estimated models, each at its gamma."""
    return np.stack(
        [policy_value(models.P_hat, models.R, policy[:, g], gamma) for g, gamma in enumerate(gammas.tolist())]
    )
