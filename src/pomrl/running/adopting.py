"""Carrying results of earlier code over to the present code, where a sample of blocks recomputes to the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from secrets import SystemRandom

from pomrl import store
from pomrl.configuration.parsing import Experiment
from pomrl.running.auditing import again
from pomrl.store import StoredBlock, StoredExperiment, StoreError, blocks, origins
from pomrl.store.provenance import decisive_versions


@dataclass(frozen=True)
class Sample:
    """Blocks of an experiment of earlier code, and whether the present code computes the same bytes."""

    recomputed: tuple[StoredBlock, ...] = ()
    failure: str = ""
    """Why nothing may be carried over; empty if all of them have the same bytes."""


def sampled(old: StoredExperiment, experiment: Experiment, number: int) -> Sample:
    """Recompute so many random blocks of an experiment by the present code.

    Args:
        old: The experiment, as earlier code computed it.
        experiment: The same experiment.
        number: How many blocks, or all if there are fewer.
    """
    said, listed = old.manifest(), old.blocks()
    if said is None or said.versions != decisive_versions():
        return Sample(failure="it was computed with other versions of packages")
    drawn = SystemRandom().sample(listed, min(number, len(listed)))
    try:
        differing = sum(not again(old, block, experiment)[1] for block in drawn)
    except StoreError as error:
        return Sample(failure=f"it cannot be recomputed ({error})")
    failure = f"{differing} of {len(drawn)} recomputed blocks have other bytes" if differing else ""
    return Sample(tuple(drawn), failure)


def lacking(old: StoredExperiment, experiment: Experiment) -> list[StoredBlock]:
    """Return the blocks of an experiment of earlier code of which the present code has computed no run."""
    missing, _ = store.missing(store.lookup(experiment), old.complete())
    return [block for block in old.blocks() if block.runs in missing]


def carry_over(old: StoredExperiment, experiment: Experiment, recomputed: Sequence[StoredBlock]) -> None:
    """Store the blocks that are lacking as those of the present code, with tags and notes, and record that.

    A block is recorded before it is stored, so that none passes for computed here if this process is killed.

    Args:
        old: The experiment, as earlier code computed it.
        experiment: The same experiment.
        recomputed: The blocks that the present code has recomputed with the same bytes.

    Raises:
        StoreError: A block is damaged.
    """
    wanted, new = lacking(old, experiment), store.open_experiment(experiment)
    for block in wanted:
        table = old.table_of(block)
        content = blocks.encode(table, new.signature, block.runs)
        digest = blocks.described(block.runs, content).sha256
        origins.record([digest], recomputed=block in recomputed, kind=origins.CARRIED)
        origins.inherit(block.sha256, digest)
        store.add_blocks(new, [(block.runs, table)])
    store.close_experiment(new, "complete", 0.0)
    said = old.manifest()
    labels = [{"tag": each} for each in said.tags] + [{"note": each} for each in said.notes] if said else []
    for words in labels:
        store.label(replace(experiment, request=replace(experiment.request, **{"tag": None, "note": None, **words})))
