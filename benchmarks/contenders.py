"""Who is compared: ways to plan, and the ways to compute planning losses that go with them.

A contender has several variants where it is not clear which one is the fastest; the benchmark tries all of them and
takes the fastest. Where a contender cannot evaluate a given policy, this project does it, which favours the contender.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks import libraries, loops, vmapped
from pomrl.science.mdp import planning_loss
from pomrl.science.planners import PolicyIteration

Plan = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""A function of (P, R, gammas) that returns the policy of each model and gamma."""

Losses = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
"""A function of (P, R, V_star, policies, gamma) that returns the planning loss of each policy."""


def our_losses(P: np.ndarray, R: np.ndarray, V_star: np.ndarray, policies: np.ndarray, gamma: float) -> np.ndarray:
    """Compute the losses by this project."""
    return planning_loss(P, R, policies, gamma, V_star)


@dataclass(frozen=True)
class Contender:
    """A way to plan and evaluate, with the variants of its planning by name."""

    variants: dict[str, Plan]
    losses: Losses = our_losses


OURS = Contender({"": PolicyIteration().plan})

_NUMPY = Contender({"": loops.numpy_plan}, loops.numpy_losses)

_QUANTECON = Contender(
    {
        "operators": libraries.quantecon_operators,
        "policy iteration": partial(libraries.quantecon_started, method="policy_iteration"),
        "modified policy iteration": partial(libraries.quantecon_started, method="modified_policy_iteration"),
        "modified policy iteration, sparse": partial(
            libraries.quantecon_started, method="modified_policy_iteration", sparse=True
        ),
    },
    libraries.quantecon_losses,
)

_MDPSOLVER = Contender(
    {
        f"{algorithm}, {'sparse' if sparse else 'dense'}": partial(
            libraries.mdpsolver_started, algorithm=algorithm, update="standard", sparse=sparse
        )
        for algorithm in ("pi", "mpi", "vi")
        for sparse in (False, True)
    }
)

SMALL = {
    "numba, a scalar loop": Contender({"": loops.numba_plan}, loops.numba_losses),
    "JAX, vmap of linalg.solve": Contender({"": vmapped.by_lapack}),
    "JAX, vmap of an elimination": Contender({"": vmapped.by_elimination}),
    "NumPy, a careful loop": _NUMPY,
    "QuantEcon, as documented": Contender({"": libraries.quantecon_documented}, libraries.quantecon_losses),
    "QuantEcon, tuned": _QUANTECON,
    "mdpsolver, as documented": Contender({"": libraries.mdpsolver_documented}),
    "mdpsolver, tuned": _MDPSOLVER,
    "pymdptoolbox, as documented": Contender({"": libraries.pymdptoolbox_documented}),
    "pymdptoolbox, warm starts": Contender({"": libraries.pymdptoolbox_started}),
}
"""Contenders on small models."""

LARGE = {"NumPy, a careful loop": _NUMPY, "QuantEcon, tuned": _QUANTECON}
"""Contenders on large models."""
