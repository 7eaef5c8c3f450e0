"""The simulations that figures and claims read. They are computed and stored once, as tables."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pomrl.theory.coverage import model_error_coverage
from pomrl.theory.learned_mixing import learned_mixing_rates
from pomrl.theory.related_tasks import related_tasks
from pomrl.theory.squared_error import mixing_rates_and_errors, squared_error_against_alpha


@dataclass(frozen=True)
class Simulation:
    """A table that is simulated: the function that returns it, and the function's arguments.

    Attributes:
        name: Name by which figures and claims ask for the table.
        function: Function of keyword arguments; the same arguments give the same table.
        arguments: Arguments that are not the function's defaults, as JSON can hold them or frozen dataclasses.
    """

    name: str
    function: Callable[..., "pd.DataFrame"]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """All arguments by name, the function's defaults included."""
        bound = inspect.signature(self.function).bind(**self.arguments)
        bound.apply_defaults()
        return dict(bound.arguments)

    def table(self) -> "pd.DataFrame":
        """Compute the table, which takes up to a few seconds."""
        return self.function(**self.arguments)


SIMULATIONS = {
    simulation.name: simulation
    for simulation in (
        Simulation("model_error_coverage", model_error_coverage, {"sequences": 2000, "delta": 0.05}),
        Simulation(
            "squared_error_against_alpha", squared_error_against_alpha, {"alphas": np.linspace(0.0, 1.0, 21).tolist()}
        ),
        Simulation("mixing_rates_and_errors", mixing_rates_and_errors),
        Simulation("related_tasks", related_tasks),
        Simulation("learned_mixing_rates", learned_mixing_rates),
    )
}
"""All simulations, by name."""
