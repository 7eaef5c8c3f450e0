"""Missing runs are divided into parts, each of which one process computes.

A part is runs of one problem by one or more methods, for which models, tasks and batches are drawn once: a whole block,
or less where blocks are dear and fewer than the processes. The files are the same either way.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, inf

from pomrl.configuration.importing import is_ours
from pomrl.running.plan import PART_SECONDS, PlannedExperiment, estimate_seconds
from pomrl.science.problem import Method, Problem, components


@dataclass(frozen=True)
class BlockPart:
    """Runs of one problem, and the methods for them. It may travel to another machine."""

    problem: Problem
    methods: Mapping[str, Method]
    """The methods, by the signatures of their experiments."""
    block: range
    """The runs that are stored together."""
    runs: range
    """Those of them that are computed together."""

    @cached_property
    def seconds(self) -> float:
        """An estimate of the time of one process; infinite for components of a user's own."""
        if any(is_foreign(self.problem, method) for method in self.methods.values()):
            return inf
        return sum(estimate_seconds(self.problem, method, len(self.runs)) for method in self.methods.values())


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether a component of an experiment is not of this distribution."""
    parts = components(problem, method).values()
    return not all(is_ours(type(component).__module__) for component in parts)


def divide(planned: Sequence[PlannedExperiment]) -> list[BlockPart]:
    """Divide what experiments lack into parts, the dearest first; methods at one problem are in the same part."""
    methods: defaultdict[tuple[Problem, range], dict[str, Method]] = defaultdict(dict)
    for lacking in planned:
        for block in lacking.missing:
            methods[lacking.experiment.problem, block][lacking.stored.signature] = lacking.experiment.method
    blocks = [BlockPart(problem, of_block, block, block) for (problem, block), of_block in methods.items()]
    if not blocks:
        return []
    at_once = planned[0].experiment.execution.at_once(sum(block.seconds for block in blocks))
    parts = [part for block in blocks for part in _divide(block, ceil(at_once / len(blocks)))]
    return sorted(parts, key=lambda part: part.seconds, reverse=True)


def _divide(block: BlockPart, most: int) -> list[BlockPart]:
    """Return a block in parts of about as many runs; each part takes a while."""
    number = max(1, int(min(most, block.seconds / PART_SECONDS, len(block.runs))))
    edges = [len(block.runs) * i // number for i in range(number + 1)]
    return [replace(block, runs=block.runs[start:stop]) for start, stop in pairwise(edges)]
