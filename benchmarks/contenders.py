"""Who is compared: ways to plan."""

from typing import NamedTuple

from benchmarks import libraries, loops, vmapped
from benchmarks.problems import Plan
from pomrl.science.planners import PolicyIteration


class Contender(NamedTuple):
    """A way to plan."""

    plan: Plan
    few: int
    """How many of 1,500 models it plans: a way that plans one model after the other needs few to be timed."""


OURS = Contender(PolicyIteration().plan, 1500)

SMALL = {
    "numba, a scalar loop": Contender(loops.numba_plan, 1500),
    "JAX, vmap of linalg.solve": Contender(vmapped.by_lapack, 1500),
    "JAX, vmap of an elimination": Contender(vmapped.by_elimination, 1500),
    "NumPy, a careful loop": Contender(loops.numpy_plan, 60),
    "QuantEcon, as documented": Contender(libraries.quantecon_documented, 20),
    "QuantEcon, its operators": Contender(libraries.quantecon_operators, 20),
    "mdpsolver, as documented": Contender(libraries.mdpsolver_documented, 20),
    "mdpsolver, warm starts": Contender(libraries.mdpsolver_started, 20),
    "pymdptoolbox, as documented": Contender(libraries.pymdptoolbox_documented, 5),
    "pymdptoolbox, warm starts": Contender(libraries.pymdptoolbox_started, 5),
}
"""Contenders on small models."""

LARGE = {
    "NumPy, a careful loop": SMALL["NumPy, a careful loop"],
    "QuantEcon, its operators": SMALL["QuantEcon, its operators"],
    "QuantEcon, modified": Contender(libraries.quantecon_modified, 20),
}
"""Contenders on large models."""
