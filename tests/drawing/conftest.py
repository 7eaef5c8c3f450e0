from collections.abc import Mapping

import pandas as pd
import pytest
from tests.support.shipped import FIGURES
from tests.support.synthetic import AXES, Lazy, make_sweep

from pomrl.drawing.series import Drawing
from pomrl.results.sweep_results import StoredSweeps, SweepResults


@pytest.fixture(scope="session")
def sweeps(simulations: dict[str, pd.DataFrame]) -> StoredSweeps:
    """All sweeps, with random losses, and all simulations. Tests must not change their tables."""

    def make(name: str) -> SweepResults | pd.DataFrame:
        return make_sweep(name) if name in AXES else simulations[name]

    return Lazy([*AXES, *simulations], make)


@pytest.fixture(scope="session")
def tables(sweeps: StoredSweeps, simulations: dict[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """The table of each sweep and each simulation of the fixture `sweeps`, by name."""
    return Lazy(sweeps, lambda name: sweeps[name].table if name in AXES else simulations[name])


@pytest.fixture(scope="session")
def drawings(sweeps: StoredSweeps) -> Mapping[str, Drawing]:
    """All figures, each drawn from the tables of the fixture `sweeps` when a test first asks for it."""
    return Lazy(FIGURES, lambda name: FIGURES[name].draw(sweeps))
