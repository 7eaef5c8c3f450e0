"""Dirichlet tasks for simulations."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pomrl.components import Truth


@dataclass(frozen=True)
class DirichletTasks:
    """One-action tasks with independent rows from Dir(concentration P_o).

    Attributes:
        concentration: Sum of the Dirichlet parameters.
        P_o: Mean of each row.
        m: Number of transitions from each row in each task.
    """

    concentration: float
    P_o: tuple[float, ...]
    m: int

    @property
    def S(self) -> int:
        return len(self.P_o)

    @property
    def pseudo_counts(self) -> Float[np.ndarray, " S"]:
        return self.concentration * np.array(self.P_o)

    def truth(self, n: int) -> Truth:
        """Return mean models, and variances over tasks, for n runs."""
        P_o = np.broadcast_to(self.P_o, (n, self.S, 1, self.S))
        return Truth(P_o, P_o * (1.0 - P_o) / (self.concentration + 1.0))
