"""Compute what the notebook computes, and say how it compares with what the notebook prints and draws."""

import argparse
import sys
from collections.abc import Sequence

from examples.notebook import agreement, stored
from examples.notebook.learners import ESTIMATORS
from examples.notebook.losses import losses_of_runs


def main(arguments: Sequence[str] | None = None) -> str | None:
    """Compute and compare, or write the stored tables; return a complaint if a printed number is not reproduced."""
    parser = argparse.ArgumentParser(prog="python -m examples.notebook", description=__doc__)
    parser.add_argument("--workers", type=int, default=1, help="processes that compute runs (default: 1)")
    parser.add_argument(
        "--store", action="store_true", help="write the stored tables of losses anew instead of comparing anything"
    )
    chosen = parser.parse_args(arguments)
    if chosen.store:
        stored.write_all(chosen.workers)
        return None
    return compare(chosen.workers)


def compare(workers: int) -> str | None:
    """Compute the runs of the notebook's figures and print how they compare; return a complaint or None."""
    similarity = losses_of_runs(stored.SIMILARITY_SEEDS, stored.CONCENTRATIONS[-1], ESTIMATORS, workers)
    losses, series = agreement.printed_losses(similarity), agreement.printed_series(similarity)
    print("What the notebook prints")
    print(*agreement.printed_lines(losses, series), sep="\n", flush=True)
    schedules = losses_of_runs(stored.SCHEDULE_SEEDS, stored.CONCENTRATIONS[0], ("ada-POMRL",), workers)
    print("\nWhat the notebook draws, read off by eye")
    print(*agreement.drawn_lines(agreement.drawn_curves(similarity, schedules)), sep="\n")
    wrong = agreement.disagreements(losses, series)
    if wrong:
        return f"\n{wrong} of {len(losses) + len(series)} printed numbers are not reproduced"
    print(f"\nAll {len(losses) + len(series)} printed numbers are reproduced: gamma* exactly, the others to 1e-12.")
    return None


if __name__ == "__main__":
    sys.exit(main())
