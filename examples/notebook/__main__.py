"""Compute what the notebook computes, and print how it compares with what the notebook prints and draws."""

import argparse
import sys
from collections.abc import Sequence

from examples.notebook import agreement, stored
from examples.notebook.learners import ESTIMATORS
from examples.notebook.losses import losses_of_runs


def main(arguments: Sequence[str] | None = None) -> str | None:
    """Print the comparisons; return a complaint if a printed number is not reproduced."""
    parser = argparse.ArgumentParser(prog="python -m examples.notebook", description=__doc__)
    parser.add_argument("--workers", type=int, default=1, help="processes that compute runs (default: 1)")
    workers = parser.parse_args(arguments).workers
    similarity = losses_of_runs(stored.SIMILARITY_SEEDS, stored.CONCENTRATIONS[-1], ESTIMATORS, workers)
    schedules = losses_of_runs(stored.SCHEDULE_SEEDS, stored.CONCENTRATIONS[0], ("ada-POMRL",), workers)
    ours = agreement.computed(similarity, schedules)
    printed, figure_points = (
        agreement.compared(table, ours) for table in (stored.read("printed.csv"), stored.digitised())
    )
    curves = figure_points.groupby(["cell", "series"])[["size", "in_reading_errors"]].max()
    print(
        "What the notebook prints", printed[["cell", "series", "task", "value", "ours", "size"]].to_string(), sep="\n\n"
    )
    print("\nWhat the notebook draws, read off by eye: the largest differences", curves.to_string(), sep="\n\n")
    if wrong := (printed["in_reading_errors"] > 1).sum():
        return f"\n{wrong} of {len(printed)} printed numbers are not reproduced"
    print(f"\nAll {len(printed)} printed numbers are reproduced.")
    return None


if __name__ == "__main__":
    sys.exit(main())
