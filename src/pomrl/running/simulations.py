"""Simulations are computed and stored here, before a figure or a claim reads them."""

from collections.abc import Callable, Iterable

from pomrl.execution.parallel import one_thread
from pomrl.store.simulations import Simulation


def store_simulations(simulations: Iterable[Simulation], announce: Callable[[str], None]) -> None:
    """Compute and store the simulations that are not stored, or whose tables are damaged.

    Args:
        simulations: The simulations that are needed; each is computed in this process, in up to a few seconds.
        announce: Function that takes a line for people before each computation.

    Raises:
        OSError: A table cannot be stored.
    """
    for simulation in (simulation for simulation in simulations if not simulation.is_stored):
        announce(f"simulating {simulation.name.replace('_', ' ')}")
        with one_thread():
            simulation.save(simulation.function(**simulation.arguments))
