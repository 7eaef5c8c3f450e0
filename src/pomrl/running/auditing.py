"""Recomputing stored blocks: digests show damage, and this shows numbers that are wrong."""

import pandas as pd

from pomrl.configuration.parsing import Experiment
from pomrl.running.blocks import Block, MethodOfBlock, compute
from pomrl.store import StoredBlock, StoredExperiment, StoreError, signature
from pomrl.store.block_files import encode


def is_recomputed(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> bool:
    """Return whether the present code gives the file of a block again, to the byte.

    Raises:
        StoreError: The settings have another signature under the present code, or the computation failed.
    """
    if signature(experiment) != stored.signature:
        raise StoreError("its settings have another signature under the present code")
    method = MethodOfBlock(experiment.method, stored)
    (table,) = compute(Block(experiment.problem, block.runs, (method,)), experiment.execution.runs_at_a_time)
    if not isinstance(table, pd.DataFrame):
        raise StoreError(table.reason if table else "nothing was computed")
    return StoredBlock.of(block.runs, encode(table, stored.signature, block.runs)) == block
