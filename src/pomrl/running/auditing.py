"""Recomputing a random sample of what is stored: digests show damage, and this shows numbers that are wrong."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from secrets import SystemRandom

import numpy as np
import pandas as pd

from pomrl.configuration.composed import ConfigError
from pomrl.configuration.parsing import Experiment
from pomrl.execution import Failure
from pomrl.execution.parallel import one_by_one
from pomrl.running.blocks import Block, MethodOfBlock, compute
from pomrl.running.missing_simulations import simulated
from pomrl.running.sweeps import seconds_of
from pomrl.store import StoredBlock, StoredExperiment, StoreError, blocks, origins, signature, stored_simulations
from pomrl.store.provenance import decisive_versions, provenance
from pomrl.store.stored_simulations import TABLE, StoredSimulation
from pomrl.theory.simulations import SIMULATIONS

TOLERANCE = 1e-9
"""How far two numbers may be apart that are equal, relative to the larger one and at least to 1."""

MOST_FLIPPED = 1e-3
"""The largest share of rows in which elsewhere computed ties may have been broken otherwise."""


SECONDS_OF_SIMULATION = 3.0
"""About how long a simulation takes."""


@dataclass(frozen=True)
class Sampled:
    """A block of an experiment, or a simulation, that was drawn to be recomputed."""

    stored: StoredExperiment | StoredSimulation
    block: StoredBlock | None = None
    """The block; None for a simulation."""

    @property
    def name(self) -> str:
        """The path of its file in the folder of outputs."""
        if isinstance(self.stored, StoredSimulation):
            return f"simulations/{self.stored.sidecar.parent.name}/{TABLE}"
        return f"runs/{self.stored.signature}/{self.block.name if self.block else ''}"


@dataclass(frozen=True)
class Found:
    """What recomputing something showed."""

    name: str
    digest: str
    """The digest of the stored file."""
    same_bytes: bool = False
    rows: int = 0
    """The number of rows that were compared."""
    differing: int = 0
    """The number of rows with a number that is not equal within `TOLERANCE`."""
    same_environment: bool = False
    """Whether it was computed with the same packages on the same platform."""
    failure: str = ""
    """Why it could not be recomputed; empty if it was."""

    @property
    def is_equal(self) -> bool:
        """The stored numbers are equal if they are those that the code gives here.

        A tie that rounding breaks otherwise changes a policy. In another environment, some rows may therefore differ.
        """
        allowed = 0.0 if self.same_environment else MOST_FLIPPED * self.rows
        return not self.failure and (self.same_bytes or self.differing <= allowed)


def sample(stored: Sequence[StoredExperiment], share: float, number: int | None) -> tuple[list[Sampled], int]:
    """Draw blocks of these experiments and simulations, each with the same chance, which nobody can foresee.

    Args:
        stored: The experiments.
        share: The share that is drawn, rounded up.
        number: How many are drawn instead; None for the share.

    Returns:
        What was drawn, and the number of all that could have been.
    """
    everything = [Sampled(each, block) for each in stored for block in each.blocks()]
    everything += [Sampled(each) for each in stored_simulations.all_simulations() if each.is_made]
    wanted = int(np.ceil(share * len(everything))) if number is None else number
    return SystemRandom().sample(everything, min(wanted, len(everything))), len(everything)


def seconds(drawn: Sequence[Sampled], parsed: Callable[[StoredExperiment], Experiment]) -> float:
    """Estimate how long it takes on one core to recompute what was drawn, as far as it can be recomputed."""
    total = 0.0
    for each in drawn:
        if isinstance(each.stored, StoredExperiment) and each.block:
            with suppress(StoreError, ConfigError):
                total += seconds_of(parsed(each.stored), len(each.block.runs))
        else:
            total += SECONDS_OF_SIMULATION
    return total


def audited(drawn: Sequence[Sampled], parsed: Callable[[StoredExperiment], Experiment]) -> Iterator[Found]:
    """Recompute what was drawn, yield what that showed, and record what is equal and was not computed here.

    Args:
        drawn: The blocks and simulations.
        parsed: A function that makes the configuration of a stored experiment, and raises a StoreError or a ConfigError
            where that is not possible.
    """
    for found in one_by_one(_recomputed, drawn, [parsed] * len(drawn)):
        if found.is_equal:
            origins.confirm(found.digest)
        yield found


def _recomputed(drawn: Sampled, parsed: Callable[[StoredExperiment], Experiment]) -> Found:
    try:
        if isinstance(drawn.stored, StoredSimulation):
            return _of_simulation(drawn.name, drawn.stored)
        assert drawn.block is not None
        return _of_block(drawn.name, drawn.stored, drawn.block, parsed(drawn.stored))
    except Exception as error:  # whatever what is stored makes go wrong is reported, and the others are recomputed
        return Found(drawn.name, "", failure=" ".join(str(error).split()))


def _of_block(name: str, stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> Found:
    if signature(experiment) != stored.signature:
        raise StoreError("its settings have another signature under the present code")
    before, (table, is_same) = stored.table_of(block), again(stored, block, experiment)
    said = stored.manifest()
    alike = bool(said) and said.versions == decisive_versions() and said.provenance.platform == provenance().platform
    differing = 0 if is_same else rows_that_differ(before, table)
    return Found(name, block.sha256, is_same, len(before), differing, same_environment=alike)


def again(stored: StoredExperiment, block: StoredBlock, experiment: Experiment) -> "tuple[pd.DataFrame, bool]":
    """Compute the runs of a block by the present code; return their table, and whether it has the same bytes.

    Raises:
        StoreError: The computation failed.
    """
    method = MethodOfBlock(experiment.method, stored, replace=False)
    (table,) = compute(Block(experiment.problem, block.runs, (method,)), experiment.execution.runs_at_a_time)
    if not isinstance(table, pd.DataFrame):
        raise StoreError(table.reason if isinstance(table, Failure) else "nothing was computed")
    content = blocks.encode(table, stored.signature, block.runs)
    return table, blocks.described(block.runs, content) == block


def _of_simulation(name: str, stored: StoredSimulation) -> Found:
    signatures = {stored_simulations.signature(each): each for each in SIMULATIONS.values()}
    simulation = signatures.get(stored.sidecar.parent.name)
    if simulation is None:
        raise StoreError("it is no simulation of this version")
    before, table = stored_simulations.load(simulation), simulated(simulation)
    content = stored_simulations.encode(table)
    digest = stored_simulations.digest(simulation)
    is_same = hashlib.sha256(content).hexdigest() == digest
    differing = 0 if is_same else rows_that_differ(before, table)
    return Found(name, digest, is_same, len(before), differing)


def rows_that_differ(a: "pd.DataFrame", b: "pd.DataFrame") -> int:
    """Return the number of rows in which the numbers of two tables are not equal; all, if they have other columns."""
    if list(a) != list(b) or len(a) != len(b):
        return max(len(a), len(b))
    differs = np.zeros(len(a), dtype=bool)
    for name in a:
        x, y = a[name].to_numpy(), b[name].to_numpy()
        if x.dtype.kind in "fiu" and y.dtype.kind in "fiu":
            close = np.isclose(x, y, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        else:
            close = x == y
        differs |= ~np.asarray(close, dtype=bool)
    return int(differs.sum())


def chance_to_find(share: float, recomputed: int) -> float:
    """Return the probability that one of so many random blocks is among a share of all that is forged."""
    return float(1.0 - (1.0 - share) ** recomputed)
