"""The problems of the board; those of a version never change."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import product, starmap
from pathlib import Path
from typing import Any, Literal

from pomrl_studies.board import icu_sepsis

VERSION = 2
"""The version of the board: cells with `since` at most this number."""

SEED = 20261127
"""The seed of all draws."""

CONF = Path(__file__).parent / "conf"
"""The folder of options."""

FAMILIES = (
    "river_swim", "inventory", "queue", "machine_replacement", "forest", "garnet", "frozen_lake", "frozen_lake_8x8",
    "cliff_walking",
)  # fmt: skip
"""The families of the sweep `beyond/families`."""

GYMNASIUM = ("frozen_lake", "frozen_lake_8x8", "cliff_walking")
"""The families that read models from Gymnasium."""

SPREADS = (0.05, 0.15)
"""The largest differences of the latents from their mean."""

SIGMAS = (0.01, 0.025, 0.047)
"""The similarities of the tasks of the paper's random chains."""

NEW_FAMILIES: Mapping[str, tuple[str, tuple[float, float]]] = {
    "maintenance": ("spread", (0.05, 0.15)),
    "promotions": ("spread", (0.05, 0.2)),
    "triage": ("spread", (0.05, 0.15)),
    "tariffs": ("prices_differ", (True, False)),
    "workshop": ("spread", SPREADS),
    "fishery": ("spread", SPREADS),
    "garnet_rows": ("spread", SPREADS),
    "icy_grid": ("spread", SPREADS),
}
"""The families of version 2, each with the key and the values of its two cells."""

ROWS = ("garnet_rows", "icy_grid")
"""The families without finitely many models."""

Group = Literal["families", "rows", "chains", "icu_sepsis"]
"""A group of cells; `rows` are families with infinitely many models."""


@dataclass(frozen=True)
class Cell:
    """A problem with its number of runs."""

    name: str
    group: Group
    runs: int
    settings: Mapping[str, Any]
    """Its settings by dotted keys, as for `pomrl.run`."""
    extra: str = ""
    """The extra of the package with its model, as in `pip install 'pomrl[families]'`."""
    since: int = 1
    """The version of the board that added it."""

    @property
    def family(self) -> str:
        """The family of its tasks; `chains` for the paper's."""
        return str(self.settings.get("task_distribution", "chains"))

    @property
    def is_installed(self) -> bool:
        """Return whether the package with its model is installed."""
        if self.extra == "icu-sepsis":
            return icu_sepsis.data_file() is not None
        return not self.extra or find_spec("gymnasium") is not None


def board_cells(version: int = VERSION) -> tuple[Cell, ...]:
    """List the cells with installed packages."""
    return tuple(cell for cell in all_cells(version) if cell.is_installed)


def all_cells(version: int = VERSION) -> tuple[Cell, ...]:
    """List the cells of a version, with ICU-Sepsis last.

    Raises:
        ValueError: There is no such version.
    """
    if version not in range(1, VERSION + 1):
        raise ValueError(f"version must be 1 to {VERSION}, got {version}")
    return tuple(cell for cell in (*common_cells(), ICU_SEPSIS) if cell.since <= version)


@cache
def common_cells() -> tuple[Cell, ...]:
    """List the cells for ranks and counts: all except ICU-Sepsis."""
    return (
        *starmap(_family_cell, product(FAMILIES, SPREADS)),
        *(Cell(f"chains {sigma:g}", "chains", 100, {"sigma": sigma}) for sigma in SIGMAS),
        *(_new_cell(family, key, value) for family, (key, values) in NEW_FAMILIES.items() for value in values),
    )


def _family_cell(family: str, spread: float) -> Cell:
    settings = {"task_distribution": family, "task_distribution.spread": spread}
    return Cell(f"{family} {spread:g}", "families", 100, settings, "families" if family in GYMNASIUM else "")


def _new_cell(family: str, key: str, value: float) -> Cell:
    name = f"{family} {value:g}" if key == "spread" else f"{family} {'own' if value else 'shared'} prices"
    settings = {"task_distribution": family, f"task_distribution.{key}": value}
    return Cell(name, "rows" if family in ROWS else "families", 100, settings, since=2)


ICU_SEPSIS = Cell(
    "icu_sepsis", "icu_sepsis", 10, {"task_distribution": "icu_sepsis", **icu_sepsis.SETTINGS}, "icu-sepsis"
)
"""The cell of a model estimated from real patients."""
