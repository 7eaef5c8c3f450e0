"""Honest timing: results are checked first, then contenders take turns with us; ratios are taken within turns."""

import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from threadpoolctl import threadpool_limits

from benchmarks import libraries, loops
from benchmarks.problems import GAMMA_EVAL, Models, Plan, draw, grid
from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration
from pomrl.science.solvers.evaluation import policy_value

VALUE_TOLERANCE = 1e-9
"""Largest difference in value between our policies and another's, each at its own discount factor."""

ROUNDS = 7


class Contender(NamedTuple):
    """A way to plan."""

    plan: Plan
    n_models: int
    """How many of 1,500 models it plans: a way that plans one model after the other needs few to be timed."""


OURS = Contender(PolicyIteration().plan, 1500)

SMALL = {
    "numba, a scalar loop": Contender(loops.numba_plan, 1500),
    "JAX, an unrolled elimination": Contender(loops.jax_plan, 1500),
    "NumPy, an optimised loop": Contender(loops.numpy_plan, 60),
    "QuantEcon, its operators": Contender(libraries.quantecon_operators, 20),
    "mdpsolver": Contender(libraries.mdpsolver_plan, 20),
    "pymdptoolbox": Contender(libraries.pymdptoolbox_plan, 5),
}
"""Contenders on small models."""

LARGE = {
    "NumPy, an optimised loop": SMALL["NumPy, an optimised loop"],
    "QuantEcon, its operators": SMALL["QuantEcon, its operators"],
    "QuantEcon, modified": Contender(libraries.quantecon_modified, 20),
}
"""Contenders on large models."""

LARGE_MODELS = {100: (4, 5), 300: (2, 3), 1000: (1, 3)}
"""For each number of states: models and rounds."""


def ratios() -> pd.DataFrame:
    """Compare all contenders with us: the median, smallest and largest ratio over rounds."""
    models, gammas = draw(OURS.n_models, 10, 2), grid(21)
    rows = [compare(name, contender, models, gammas, contender.n_models, ROUNDS) for name, contender in SMALL.items()]
    for S, (count, rounds) in LARGE_MODELS.items():
        models, gammas = draw(count, S, 2), grid(100)
        rows += [compare(name, contender, models, gammas, count, rounds) for name, contender in LARGE.items()]
    return pd.DataFrame(rows)


def compare(
    name: str, contender: Contender, models: Models, gammas: Float[np.ndarray, " G"], n_models: int, rounds: int
) -> dict[str, object]:
    """Plan and evaluate all models by ours and the first n_models by the other, both at all gammas, in turns."""
    some = models.first(n_models)
    check_equal(name, contender, some, gammas)
    plan_and_evaluate(contender, some, gammas)  # compiled before it is timed
    ours, theirs = np.empty(rounds), np.empty(rounds)
    for i in range(rounds):
        ours[i] = microseconds(OURS, models, gammas)
        theirs[i] = microseconds(contender, some, gammas)
    ratio = theirs / ours
    return {
        "S": models.R.shape[1],
        "gammas": len(gammas),
        "beside": name,
        "ours [us]": round(np.median(ours), 3),
        "theirs [us]": round(np.median(theirs), 2),
        "ratio": round(np.median(ratio), 1),
        "lowest": round(ratio.min(), 1),
        "highest": round(ratio.max(), 1),
    }


def microseconds(contender: Contender, models: Models, gammas: Float[np.ndarray, " G"]) -> float:
    """Return the CPU time of one plan with its evaluation, in all threads."""
    with threadpool_limits(limits=1):
        start = time.process_time()
        plan_and_evaluate(contender, models, gammas)
        return 1e6 * (time.process_time() - start) / (len(models.P) * len(gammas))


def plan_and_evaluate(
    contender: Contender, models: Models, gammas: Float[np.ndarray, " G"]
) -> Float[np.ndarray, "M G"]:
    """Return the planning losses of the policies that are planned on the estimates.

    This project computes them for everybody, which favours the contenders.
    """
    policies = contender.plan(models.P_hat, models.R, gammas)
    return planning_loss(models.P, models.R, policies, GAMMA_EVAL, models.V_star)


def check_equal(name: str, contender: Contender, models: Models, gammas: Float[np.ndarray, " G"]) -> None:
    """Raise ArithmeticError unless the other's policies are worth as much as ours, on the models they were planned on.

    Losses are compared nowhere else: they follow from the policies.
    """
    ours, theirs = (planner.plan(models.P_hat, models.R, gammas) for planner in (OURS, contender))
    for g, gamma in enumerate(gammas.tolist()):
        values = [policy_value(models.P_hat, models.R, policies[:, g], gamma) for policies in (ours, theirs)]
        difference = np.abs(values[0] - values[1]).max()
        if difference > VALUE_TOLERANCE:
            raise ArithmeticError(f"{name} and we differ by {difference:.2g} in value at gamma = {gamma:g}")
