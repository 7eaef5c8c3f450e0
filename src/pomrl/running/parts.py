"""Divide missing runs into parts, each computed by one process.

Methods of one problem share a part, and draw models, tasks and batches once. A part is a block, or less if blocks are
expensive and fewer than the processes. The files are the same either way.
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
    """Runs of one problem and the methods for them; it can be pickled."""

    problem: Problem
    methods: Mapping[str, Method]
    """The methods, by the signatures of their experiments."""
    block: range
    """The runs that are stored together."""
    runs: range
    """Those of them that are computed together."""

    @cached_property
    def seconds(self) -> float:
        """Estimated seconds in one process; infinite for components of users."""
        if any(is_foreign(self.problem, method) for method in self.methods.values()):
            return inf
        return sum(estimate_seconds(self.problem, method, len(self.runs)) for method in self.methods.values())


def is_foreign(problem: Problem, method: Method) -> bool:
    """Return whether a component is not of this distribution."""
    parts = components(problem, method).values()
    return not all(is_ours(type(component).__module__) for component in parts)


def divide(planned: Sequence[PlannedExperiment]) -> list[BlockPart]:
    """Divide the missing runs of experiments into parts, the most expensive first."""
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
    """Divide a block into at most `most` equal parts of at least `PART_SECONDS`."""
    number = max(1, int(min(most, block.seconds / PART_SECONDS, len(block.runs))))
    edges = [len(block.runs) * i // number for i in range(number + 1)]
    return [replace(block, runs=block.runs[start:stop]) for start, stop in pairwise(edges)]
