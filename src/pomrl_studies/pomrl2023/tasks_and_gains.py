"""What claims of the paper and the ledger compare: the first and the last tasks, and the gain of meta-learning."""

from typing import Any

from pomrl.study import LossPerRun, SweepResults

FIRST = range(2, 6)
"""The tasks that the claims call the first ones: 2 to 5."""

LAST = range(11, 16)
"""The tasks that the claims call the last ones: 11 to 15."""

MANY_RUNS = {"printed": 16_000, "repaired": 16_000, "computed": 8000}
SOME_RUNS = {"printed": 8000, "repaired": 8000, "computed": 2000}
"""Numbers of runs for claims on small differences, by the variant; fixed on another seed than that of the results."""


def gain(sweep: SweepResults, **settings: Any) -> LossPerRun:
    """Return the gain at these settings: the regret without meta-learning less that of ada-POMRL."""
    without, ada = (sweep.at(**settings, estimator=name).regret for name in ("without_meta", "ada_pomrl"))
    return without - ada
