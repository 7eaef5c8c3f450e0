"""The estimated models of the tasks of a log: arrays, or sparse matrices where states are very many."""

import numpy as np
from jaxtyping import Float

from pomrl_logs.departures import Estimate, estimate_models
from pomrl_logs.logs import Log
from pomrl_logs.sparse_departures import estimate_sparse_models
from pomrl_logs.structure import Structure


def is_sparse(log: Log, structure: Structure | None) -> bool:
    """Return whether models are estimated as sparse matrices, without the prior that all tasks give."""
    return log.is_large and log.known is None and structure is None


def estimate_tasks(
    log: Log, structure: Structure | None = None, of_ends: Float[np.ndarray, " S"] | None = None
) -> Estimate:
    """Return the models of the tasks of a log; see `estimate_models`."""
    if is_sparse(log, structure):
        return estimate_sparse_models(log, log.worst_ends if of_ends is None else of_ends)
    return estimate_models(log, structure, of_ends)
