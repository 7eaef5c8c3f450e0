"""Who is compared: ways to plan, and the ways to compute planning losses that go with them.

Where a contender cannot evaluate a given policy, this project does it, which favours the contender.
"""

from typing import NamedTuple

import numpy as np

from benchmarks import libraries, loops, vmapped
from benchmarks.problems import Losses, Plan, losses_by
from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration


def our_losses(P: np.ndarray, R: np.ndarray, V_star: np.ndarray, policies: np.ndarray, gamma: float) -> np.ndarray:
    """Compute the losses by this project."""
    return planning_loss(P, R, policies, gamma, V_star)


class Contender(NamedTuple):
    """A way to plan and evaluate."""

    plan: Plan
    few: int
    """How many of 1,500 models it plans: a way that plans one model after the other needs few to be timed."""
    losses: Losses = our_losses


OURS = Contender(PolicyIteration().plan, 1500)

BY_QUANTECON = losses_by(libraries.quantecon_values)

SMALL = {
    "numba, a scalar loop": Contender(loops.numba_plan, 1500, loops.numba_losses),
    "JAX, vmap of linalg.solve": Contender(vmapped.by_lapack, 1500),
    "JAX, vmap of an elimination": Contender(vmapped.by_elimination, 1500),
    "NumPy, a careful loop": Contender(loops.numpy_plan, 60, losses_by(loops.numpy_values)),
    "QuantEcon, as documented": Contender(libraries.quantecon_documented, 20, BY_QUANTECON),
    "QuantEcon, its operators": Contender(libraries.quantecon_operators, 20, BY_QUANTECON),
    "mdpsolver, as documented": Contender(libraries.mdpsolver_documented, 20),
    "mdpsolver, warm starts": Contender(libraries.mdpsolver_started, 20),
    "pymdptoolbox, as documented": Contender(libraries.pymdptoolbox_documented, 5),
    "pymdptoolbox, warm starts": Contender(libraries.pymdptoolbox_started, 5),
}
"""Contenders on small models."""

LARGE = {
    "NumPy, a careful loop": SMALL["NumPy, a careful loop"],
    "QuantEcon, its operators": SMALL["QuantEcon, its operators"],
    "QuantEcon, modified": Contender(libraries.quantecon_modified, 20, BY_QUANTECON),
}
"""Contenders on large models."""
