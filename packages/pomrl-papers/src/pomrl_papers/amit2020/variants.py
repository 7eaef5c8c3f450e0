"""Variants for some experiments only."""

from collections.abc import Sequence

from pomrl.study import VariantJob, variant


@variant()
def improved(job: VariantJob) -> Sequence[str]:
    """LSTD improves its policy ten times on the same data, instead of once."""
    return [*job.overrides, "agent.improvements=10"] if job.options["agent"] == "lstd" else job.overrides
