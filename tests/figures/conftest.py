from collections.abc import Mapping

import pandas as pd
import pytest
from tests.figures.synthetic import make_sweeps

from pomrl.figures import FIGURES
from pomrl.figures.parts.drawing import Drawing
from pomrl.results.stored_sweeps import StoredSweep, StoredSweeps
from pomrl.theory.simulations import SIMULATIONS


@pytest.fixture(scope="session")
def sweeps() -> StoredSweeps:
    """All sweeps, with random losses, and all simulations. Tests must not change their tables."""
    simulated = {name: StoredSweep(simulation.table(), [], None, None) for name, simulation in SIMULATIONS.items()}
    return make_sweeps() | simulated


@pytest.fixture(scope="session")
def tables(sweeps: StoredSweeps) -> Mapping[str, pd.DataFrame]:
    """The table of each sweep and each simulation of the fixture `sweeps`, by name."""
    return {name: sweep.table for name, sweep in sweeps.items()}


@pytest.fixture(scope="session")
def drawings(sweeps: StoredSweeps) -> Mapping[str, Drawing]:
    """All figures, drawn from the tables of the fixture `sweeps`."""
    return {name: figure.draw(sweeps) for name, figure in FIGURES.items()}
