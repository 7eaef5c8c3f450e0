"""Tasks, numbers of runs and gains shared by claims."""

from typing import Any

from pomrl.study import LossPerRun, Revision, SweepResults, Verdict

FIRST_TASKS = range(2, 6)
"""The "first tasks" in claims: 2 to 5."""

LAST_TASKS = range(11, 16)
"""The "last tasks" in claims: 11 to 15."""

NOT_COMPUTED = ("computed",)
"""The reading without verdicts on experiments that the authors' notebook does not contain."""

ABSENT = {
    "computed": "The notebook does not contain this experiment; it is computed with the notebook's other definitions."
}
"""The note on claims of experiments that only some definitions of the notebook concern."""

ONE_SIDED_REVISION = Revision(
    "2026-11-28",
    "A loss that rises does not refute 'does not improve': only a fall by 10 % does. The rule was chosen after a look "
    "at these numbers",
    {"printed": Verdict.DOES_NOT_HOLD, "repaired": Verdict.UNDECIDED, "computed": Verdict.UNDECIDED},
)

FEWER_VISITS = {
    "computed": "Reason: m trajectories of 10 steps visit a pair 2.5 times on average, where the text has m = 5 "
    "transitions from each (shown by setting only `data=trajectories`, `data.length=10` in the repaired experiments)."
}
"""The note on the best discount factor of the first task."""

MANY_RUNS = {"printed": 16_000, "repaired": 16_000, "computed": 8000}
"""The numbers of runs for claims about small differences, by variant.

All numbers of runs were fixed on three pilots with the seeds 20261122, 20261128 and 20261129: for each claim and
variant, the number that the pilots needed to decide, with a margin. Where this is too expensive, the claim stays open
and its reason names the number.
"""

ILLUSTRATION_RUNS = {"printed": 32_000, "repaired": 32_000, "computed": 2000}
"""The numbers of runs for claims about all panels of Figure 2, by variant."""

FIRST_TASK_RUNS = {"printed": 150_000, "repaired": 150_000, "computed": 40_000}
"""The numbers of runs for claims about the best discount factor of the first task, by variant."""


def gain(sweep: SweepResults, **settings: Any) -> LossPerRun:
    """Return the regret without meta-learning less the regret of ada-POMRL."""
    without, ada = (sweep.at(**settings, estimator=name).regret for name in ("without_meta", "ada_pomrl"))
    return without - ada
