"""The problems of version 1 of the board; they never change."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pomrl_studies.board import icu_sepsis

VERSION = "board v1"
"""The name of this set of cells."""

SEED = 20261127
"""The seed of all draws."""

CONF = Path(__file__).parent / "conf"
"""The folder of options."""

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
)  # fmt: skip
"""The families of the sweep `beyond/families`."""

SPREADS = (0.05, 0.15)
"""The largest differences of the latents from their mean."""

SIGMAS = (0.01, 0.025, 0.047)
"""The similarities of the tasks of the paper's random chains."""

Group = Literal["families", "chains", "icu_sepsis"]
"""A group of cells."""


@dataclass(frozen=True)
class Cell:
    """A problem with its number of runs."""

    name: str
    group: Group
    runs: int
    settings: Mapping[str, Any]
    """Its settings by dotted keys, as for `pomrl.run`."""


def board_cells() -> tuple[Cell, ...]:
    """List the cells; without ICU-Sepsis unless the package `icu-sepsis` is installed."""
    return (*common_cells(), *([ICU_SEPSIS] if icu_sepsis.data_file() else []))


@cache
def common_cells() -> tuple[Cell, ...]:
    """List the cells for ranks and counts: all except ICU-Sepsis."""
    families = (
        Cell(f"{family} {spread:g}", "families", 100, {"task_distribution": family, "task_distribution.spread": spread})
        for family, spread in product(FAMILIES, SPREADS)
    )
    return (*families, *(Cell(f"chains {sigma:g}", "chains", 100, {"sigma": sigma}) for sigma in SIGMAS))


ICU_SEPSIS = Cell("icu_sepsis", "icu_sepsis", 10, {"task_distribution": "icu_sepsis", **icu_sepsis.SETTINGS})
"""The cell of a model estimated from real patients."""
