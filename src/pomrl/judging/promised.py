"""Claims at the promised numbers of runs: verdicts on each by itself, and the power of so many runs.

A claim of k parts is judged by k intervals that hold simultaneously, each with an error of 5 % / k (Bonferroni): so the
verdicts on all parts that are listed beneath it can be relied on together. Refuting a claim needs the factor k,
because each part is a way to refute it; confirming it does not, because all parts have to hold. No allowance is made
for the number of claims: that is what verdicts at precision are for (`pomrl.judging.precision`), which are the answer,
while verdicts at the paper's numbers of runs are a detail.

The power of the promised number of runs is how often so many runs, drawn from a pool of stored ones, show a claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim
from pomrl.judging.precision import together
from pomrl.judging.verdict import Part, Verdict
from pomrl.results.intervals import CONFIDENCE, ERROR_RATE, Interval

DRAWS = 100
"""The number of samples that are drawn from the pool, unless the first `FEW` of them agree."""

FEW = 20
"""After so many samples of which none, or each, shows the claim, no further one is drawn."""

LEAST = 1000
"""The least number of runs in the pool, unless the first analysis at precision has fewer."""

POOL = 5
"""The least number of runs in the pool, in multiples of the number that is drawn."""


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


def pool_of(basis: Basis, claim: Claim) -> int | None:
    """Return the number of runs that samples of the promised number of runs are drawn from; None for no power.

    There is none for claims that are judged at the promised number of runs and not at precision, and none where that
    number is large: the first verdict at precision then says as much, and the pool would cost far more than the claims.
    """
    promised, least = basis.promised(claim), min((LEAST, *basis.analyses))
    return None if claim.is_judged_once or promised >= least else max(least, POOL * promised)


def power(basis: Basis, id: str) -> Interval | None:
    """Return how often the promised number of runs shows that a claim holds; None if no pool is stored.

    Each sample consists of different runs of the pool, and two samples share runs. The interval (Wilson's) is for the
    number of samples; it does not say how far the pool itself is from all runs there could be.
    """
    (claim,) = (claim for claim in basis.claims if claim.id == id)
    pool = pool_of(basis, claim)
    if pool is None or basis.stored(claim) < pool:
        return None
    reader, rng, shown, drawn = Reader(), np.random.default_rng(0), 0, 0
    while drawn < (FEW if shown in (0, drawn) else DRAWS):
        drawn += 1
        runs = rng.choice(pool, basis.promised(claim), replace=False)
        parts = reader.parts_of_sample(basis, claim, pool, runs)
        shown += all(part.verdict(ERROR_RATE / len(parts)) is Verdict.HOLDS for part in parts)
    from scipy.stats import binomtest  # here, because it takes a second to load

    return Interval(shown / drawn, *binomtest(shown, drawn).proportion_ci(CONFIDENCE, method="wilson"))
