"""Simulations are computed and stored here, before a figure or a claim reads them."""

# threadpoolctl comes without types.
# pyright: reportMissingTypeStubs=false

from collections.abc import Callable, Iterable

import pandas as pd
from threadpoolctl import threadpool_limits

from pomrl.store import stored_simulations as stored
from pomrl.theory.simulations import Simulation


def compute_missing(simulations: Iterable[Simulation], report: Callable[[str], None] | None = None) -> list[str]:
    """Compute and store the simulations that are not stored, or whose tables are damaged.

    BLAS gets one thread, as for blocks of runs: its number of threads can change bits, and small products take longer
    with several.

    Args:
        simulations: The simulations that are needed; each is computed in this process, in up to a few seconds.
        report: Function that takes a line for people before each computation.

    Returns:
        The names of the simulations that were computed.

    Raises:
        OSError: A table cannot be stored.
    """
    missing = [simulation for simulation in simulations if stored.fault(simulation)]
    for simulation in missing:
        if report:
            report(f"simulating {simulation.name.replace('_', ' ')}")
        stored.save(simulation, simulated(simulation))
    return [simulation.name for simulation in missing]


def simulated(simulation: Simulation) -> "pd.DataFrame":
    """Compute the table of a simulation with one thread of BLAS."""
    with threadpool_limits(limits=1, user_api="blas"):
        return simulation.table()
