"""The power of the promised number of runs: how often so many runs, drawn from a pool of stored ones, show a claim."""

from dataclasses import dataclass

import numpy as np

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim
from pomrl.judging.verdict import Evidence, Verdict
from pomrl.results.intervals import CONFIDENCE, Interval

DRAWS = 100
"""The number of samples that are drawn from the pool."""

LEAST = 1000
"""The least number of runs in the pool, unless the first analysis at precision has fewer."""

POOL = 5
"""The least number of runs in the pool, in multiples of the number that is drawn."""


@dataclass(frozen=True)
class Chance:
    """Power of the promised sample size for one claim that is judged by itself, at 95 %."""

    shown: Interval
    """The share of samples in which the claim holds."""
    refuted: Interval
    """The share of samples in which it does not hold; in the others it stays undecided."""


def pool_of(basis: Basis, claim: Claim) -> int | None:
    """Return the number of runs that samples of the promised number of runs are drawn from; None for no power.

    There is none for claims that are judged at the promised number of runs and not at precision, and none where that
    number is large: the first verdict at precision then says as much, and the pool would cost far more than the claims.
    """
    promised, least = basis.promised(claim), min((LEAST, *basis.analyses))
    return None if claim.is_judged_once or promised >= least else max(least, POOL * promised)


def chance(basis: Basis, id: str) -> Chance | None:
    """Return how often the promised number of runs decides the claim with this id; None if no pool is stored.

    Each sample consists of different runs of the pool, and two samples share runs. The intervals (Wilson's) are for the
    number of samples; they do not say how far the pool itself is from all runs there could be.
    """
    (claim,) = (claim for claim in basis.claims if claim.id == id)
    promised, pool = basis.promised(claim), pool_of(basis, claim)
    if pool is None or basis.stored(claim) < pool:
        return None
    reader, rng = Reader(), np.random.default_rng(0)
    verdicts: list[Verdict] = []
    for _ in range(DRAWS):
        runs = rng.choice(pool, promised, replace=False)
        verdicts.append(Evidence(reader.parts_of_sample(basis, claim, pool, runs)).verdict)
    return Chance(*(wilson(verdicts.count(of), DRAWS) for of in (Verdict.HOLDS, Verdict.DOES_NOT_HOLD)))


def wilson(count: int, number: int) -> Interval:
    """Return a share of independent cases with Wilson's interval."""
    from scipy.stats import binomtest  # here, because it takes a second to load

    interval = binomtest(count, number).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(count / number, float(interval.low), float(interval.high))
