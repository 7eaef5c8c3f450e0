"""The tables of this package: what the notebook shows, and what this package computed for its runs.

| file | what |
| --- | --- |
| `printed.csv` | what the notebook prints: least losses with gamma* (cells 44, 45, 55), and mixing rates (48 and 50) |
| `per_run.csv` | all losses of two runs: all estimators, tasks and discount factors |
| `ada_pomrl.parquet` | all losses of ada-POMRL in the 200 runs of the figures, from which the printed numbers follow |
| `gamma_eval.parquet` | the losses at gamma = 0.99 of all estimators at all three concentrations, in 100 runs |

The first has data of the notebook, and the last three were made by `losses.losses_of_runs`. The curves of the
notebook's figures, read off by eye with the error of reading, are those that the study of the paper has.
"""

from pathlib import Path

import pandas as pd
from examples.notebook.learners import ESTIMATORS
from examples.notebook.losses import losses_of_runs

FOLDER = Path(__file__).parent

STUDY = FOLDER.parents[1] / "src" / "pomrl_studies" / "pomrl2023"
"""The folder of the paper's study."""

CONCENTRATIONS = (1.5, 1.5 / 2, 1.5 / 4)
"""The factors c of the notebook's Dirichlet parameters, from the most similar tasks to the least similar ones."""

SIMILARITY_SEEDS = range(88, 188)
"""The seeds of the runs of cells 43 to 45, 55 and 61, whose concentration is 1.5/4."""

SCHEDULE_SEEDS = range(786, 886)
"""The seeds of the runs of cells 47 to 50, whose concentration is 1.5.

The notebook does not name them. Of all windows of 100 consecutive seeds from 88 to 900, this one fits the figures, and
no other does.
"""


def read(name: str | Path) -> pd.DataFrame:
    """Return a table that is stored beside this package, with every digit of its numbers."""
    path = FOLDER / name
    # of the engines that read CSV files, this one loses no digit with any version of pandas
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, engine="pyarrow")


def digitised() -> pd.DataFrame:
    """Return the points of the curves of the notebook's figures; a value is missing where it could not be read off."""
    return read(STUDY / "digitised.csv")


def per_run() -> pd.DataFrame:
    """Compute the losses of two runs: the first of cells 43 to 45, and the first of cells 47 to 50."""
    first = (SIMILARITY_SEEDS[:1], CONCENTRATIONS[-1]), (SCHEDULE_SEEDS[:1], CONCENTRATIONS[0])
    return pd.concat([losses_of_runs(seeds, c, ESTIMATORS) for seeds, c in first], ignore_index=True)
