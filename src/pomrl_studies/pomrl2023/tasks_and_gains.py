"""Tasks, numbers of runs and gains shared by claims."""

from typing import Any

from pomrl.study import LossPerRun, SweepResults

FIRST_TASKS = range(2, 6)
"""The "first tasks" in claims: 2 to 5."""

LAST_TASKS = range(11, 16)
"""The "last tasks" in claims: 11 to 15."""

MANY_RUNS = {"printed": 16_000, "repaired": 16_000, "computed": 8000}
SOME_RUNS = {"printed": 8000, "repaired": 8000, "computed": 2000}
"""The numbers of runs for claims about small differences, by variant; fixed in advance with another seed."""


def gain(sweep: SweepResults, **settings: Any) -> LossPerRun:
    """Return the regret without meta-learning less the regret of ada-POMRL."""
    without, ada = (sweep.at(**settings, estimator=name).regret for name in ("without_meta", "ada_pomrl"))
    return without - ada
