"""Variants for some experiments only."""

from collections.abc import Sequence

from pomrl.study import VariantJob, variant


@variant()
def geometric(job: VariantJob) -> Sequence[str]:
    """Uneven data have geometric numbers of transitions."""
    return [*job.overrides, "data.numbers=geometric"] if job.options["data"] == "unequal" else job.overrides
