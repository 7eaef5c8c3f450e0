"""Say how long ./reproduce.sh takes on this machine, before anything is installed: python -m MODULE TIMES.

The published run (`pages/times.csv` of a study) scales with its cores, and with the speed of a loop. Only the stage
`sweeps` is divided among cores.
"""

import csv
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

LOOP_LENGTH, LOOPS = 200_000, 9

MARGIN = 1.25
"""The largest expected ratio of a time to its estimate, and of an estimate to its time."""


def usable_cores() -> int:
    """Return the number of cores of this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def loop_seconds() -> float:
    """Return the smallest CPU time of a loop in pure Python."""
    return min(_time_loop() for _ in range(LOOPS))


def _time_loop() -> float:
    start = process_time()
    sum(i * i for i in range(LOOP_LENGTH))
    return process_time() - start


def expected_seconds(times: Sequence[dict[str, str]], cores: int, loop: float) -> float:
    """Estimate the seconds of all stages from the rows of a published run."""
    published = {row["stage"]: float(row["seconds"]) for row in times}
    published["sweeps"] *= int(times[0]["cores"]) / cores
    return sum(published.values()) * loop / float(times[0]["loop_seconds"])


def describe(times: Sequence[dict[str, str]], cores: int, loop: float) -> str:
    """Describe the published and the expected time, as in `expect 5 to 8 minutes`."""
    total, expected = sum(float(row["seconds"]) for row in times), expected_seconds(times, cores, loop)
    shortest, longest = math.floor(expected / MARGIN / 60), math.ceil(expected * MARGIN / 60)
    return (
        f"The published run took {total / 60:.0f} minutes on {times[0]['cores']} cores. Here, on {cores}, expect "
        f"{max(1, shortest)} to {max(2, longest)} minutes, after the packages are installed."
    )


if __name__ == "__main__":
    rows = list(csv.DictReader(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()))
    print(describe(rows, usable_cores(), loop_seconds()), file=sys.stderr)
