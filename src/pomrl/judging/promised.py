"""Claims at the promised numbers of runs: a verdict on each by itself.

A claim of k parts is judged by k intervals that hold simultaneously, each with an error of 5 % / k (Bonferroni): so the
verdicts on all parts that are listed beneath it can be relied on together. Refuting a claim needs the factor k,
because each part is a way to refute it; confirming it does not, because all parts have to hold. No allowance is made
for the number of claims: that is what verdicts at precision are for (`pomrl.judging.precision`), which are the answer,
while verdicts at the paper's numbers of runs are a detail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.precision import together
from pomrl.judging.verdict import Part, Verdict
from pomrl.results.intervals import ERROR_RATE


@dataclass(frozen=True)
class AtPromised:
    """A claim at the promised number of runs, judged by itself."""

    parts: tuple[Part, ...]
    """Its parts, as estimated from as many of these runs as there are."""
    promised: int
    """The number of runs that the claim's sweeps ask for; of a simulation the number of its sequences."""

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) behind the part that has fewest."""
        return min(part.estimate.runs for part in self.parts)


def by_itself(parts: Sequence[Part]) -> Verdict:
    """Return the verdict that simultaneous 95 % intervals of all parts of a claim show."""
    return together([part.verdict(ERROR_RATE / len(parts)) for part in parts])


def at_promised_runs(basis: Basis, reader: Reader, at_once: Mapping[str, tuple[Part, ...]]) -> dict[str, AtPromised]:
    """Judge the claims of which runs are stored, on the promised number of runs or as many of them as there are.

    Args:
        basis: What the claims about sweeps are judged on.
        reader: Reads the losses.
        at_once: The parts of exact claims and of those about simulations, by the claim's id.

    Returns:
        Each claim by its id.
    """
    found = {
        claim.id: AtPromised(reader.parts(basis, claim, runs), basis.promised(claim))
        for claim in basis.claims
        if (runs := min(basis.promised(claim), basis.stored(claim)))
    }
    return found | {id: AtPromised(parts, min(part.estimate.runs for part in parts)) for id, parts in at_once.items()}
