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
    losses, series = agreement.printed_losses(similarity), agreement.printed_series(similarity)
    curves = agreement.drawn_curves(similarity, schedules).groupby(["cell", "series"])
    print("What the notebook prints", losses.to_string(), series.to_string(), sep="\n\n")
    print("\nWhat the notebook draws, read off by eye: the largest differences\n")
    print(curves[["size", "in_reading_errors"]].max().to_string())
    wrong, printed = agreement.disagreements(losses, series), len(losses) + len(series)
    if wrong:
        return f"\n{wrong} of {printed} printed numbers are not reproduced"
    print(f"\nAll {printed} printed numbers are reproduced: gamma* exactly, the others to {agreement.PRECISION:g}.")
    return None


if __name__ == "__main__":
    sys.exit(main())
