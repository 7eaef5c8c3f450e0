"""Recomputing stored blocks: digests show damage, and this shows numbers that are wrong."""

from pomrl.configuration.parsing import Experiment
from pomrl.execution.parallel import one_thread
from pomrl.running.work import Failure, Part, compute_part
from pomrl.store import StoredBlock, StoredExperiment, StoreError, signature


def is_recomputed(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> bool:
    """Return whether the present code gives the file of a block again, to the byte.

    Raises:
        StoreError: The settings have another signature under the present code, or the computation failed.
    """
    if signature(experiment) != stored.signature:
        raise StoreError("its settings have another signature under the present code")
    part = Part(experiment.problem, {stored.signature: experiment.method}, block.runs, block.runs)
    with one_thread():
        outcome = compute_part(part, experiment.execution.runs_at_a_time)[stored.signature]
    if isinstance(outcome, Failure):
        raise StoreError(outcome.reason)
    return StoredBlock.of(block.runs, outcome) == block
