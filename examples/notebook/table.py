"""Write `notebook_loss.csv`, which is a page of the paper's study: mean losses under the definitions of the notebook.

    pomrl run experiment=notebook_similarity runs=200
    python -m examples.notebook.table

The losses are of runs of the library. The table has a row for each concentration, estimator, task and gamma, with the
number of runs, the mean over them of the loss (which is itself a mean over 100 trials), and its standard error. Numbers
have six digits.
"""

import sys

import numpy as np
import pandas as pd
from examples.notebook.library import KEY, losses, read

from pomrl.commands.errors import one_line_errors
from pomrl.configuration.sources import STUDIES
from pomrl.store import files

PATH = STUDIES / "pomrl" / "pages" / "notebook_loss.csv"

RUNS = 200
"""The least number of runs in the table."""


def table(similarity: pd.DataFrame) -> pd.DataFrame:
    """Return the table of the losses of the sweep `notebook_similarity`, with the columns of the file."""
    of_setting = losses(similarity).groupby(KEY)["loss"].agg(["count", "mean", "std"]).reset_index()
    rows = of_setting.rename(columns={"count": "runs", "std": "se"}).assign(
        se=lambda rows: rows["se"] / np.sqrt(rows["runs"])
    )
    return rows.sort_values(KEY, ascending=[False, True, True, True], ignore_index=True)


def text(rows: pd.DataFrame) -> str:
    """Return a table as the content of the file."""
    return rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")


@one_line_errors(LookupError)
def main() -> None:
    """Write the file, and print its path."""
    files.write(PATH, text(table(read("notebook_similarity", RUNS).table)).encode())
    print(PATH)


if __name__ == "__main__":
    sys.exit(main())
