"""Dirichlet tasks whose rows all have the same mean, for simulations."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pomrl.components import Truth


@dataclass(frozen=True)
class DirichletTasks:
    """Tasks of one action whose rows are independent draws from Dir(concentration P_o), and how they are sampled.

    Attributes:
        concentration: Sum of the parameters of the Dirichlet distribution, above 0: tasks are alike where it is large.
        P_o: Mean of each row, a distribution over S states.
        m: Number of transitions that are sampled from each row in each task.
    """

    concentration: float
    P_o: tuple[float, ...]
    m: int

    @property
    def S(self) -> int:
        """The number of states."""
        return len(self.P_o)

    @property
    def pseudo_counts(self) -> Float[np.ndarray, " S"]:
        """The parameters of the Dirichlet distribution, one for each state."""
        return self.concentration * np.array(self.P_o)

    def truth(self, n: int) -> Truth:
        """Return the mean models and the variances over tasks, for n runs."""
        P_o = np.broadcast_to(self.P_o, (n, self.S, 1, self.S))
        return Truth(P_o, P_o * (1.0 - P_o) / (self.concentration + 1.0))
