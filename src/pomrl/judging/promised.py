"""Claims at the promised numbers of runs: verdicts on all of them together, and the power of so many runs.

Of a claim of k parts, `p_hold` is k times the largest of its parts' p-values, and `p_refute` is k times the smallest
(Bonferroni). Refuting a claim needs the factor k, because each part is a way to refute it. Confirming a claim by itself
does not, because all parts have to hold (an intersection-union test). The factor is used in both directions all the
same: then a claim is judged by k intervals that hold simultaneously, the same ones in both directions, so that the
verdicts on all parts that are listed beneath a claim can be relied on together.

The verdict on a claim by itself allows for an error of 5 %: it is what the simultaneous 95 % intervals of its parts
show. With Holm's correction the p-value of a claim is 2 min(p_hold, p_refute). These are adjusted by Holm's method over
all claims that are computed, and where the adjusted p-value is at most 0.05 the smaller of p_hold and p_refute decides
the direction. So the probability of any false verdict, of either kind, is at most 5 % over all claims, as far as the
p-values are right. With 100 losses as heavy-tailed as here, p-values as small as Holm's method needs occur 3 to 7 times
too often in refutations, and too seldom in confirmations. This is one reason why the answer is given at precision
(`pomrl.judging.precision`), and verdicts at the paper's numbers of runs are a detail.

The power of the promised number of runs is how often so many runs, drawn from a pool of stored ones, show a claim.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.claim import Claim
from pomrl.judging.verdict import Comparison, Part, Verdict, verdict_of
from pomrl.results.intervals import CONFIDENCE, ERROR_RATE, Interval

DRAWS = 100
"""The number of samples that are drawn from the pool."""

LEAST = 1000
"""The least number of runs in the pool, unless the first analysis at precision has fewer."""

POOL = 5
"""The least number of runs in the pool, in multiples of the number that is drawn."""


@dataclass(frozen=True)
class Evidence:
    """What all parts of a claim say together at one number of runs."""

    parts: tuple[Part, ...]

    @property
    def p_hold(self) -> float:
        """The p-value of the hypothesis that a part does not hold, with the factor of simultaneous intervals."""
        return min(1.0, len(self.parts) * max(part.p_hold for part in self.parts))

    @property
    def p_refute(self) -> float:
        """The p-value of the hypothesis that all parts hold, with the factor of simultaneous intervals."""
        return min(1.0, len(self.parts) * min(part.p_refute for part in self.parts))

    @property
    def p(self) -> float:
        """The two-sided p-value, which Holm's method adjusts."""
        return min(1.0, 2.0 * min(self.p_hold, self.p_refute))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the claim by itself, without Holm's correction."""
        return verdict_of(self.p_hold, self.p_refute, ERROR_RATE)

    @property
    def runs(self) -> int:
        """The number of runs (of a simulation: of sequences) behind the part that has fewest."""
        return min(part.estimate.runs for part in self.parts)


@dataclass(frozen=True)
class AtPromised:
    """A claim at the promised number of runs, judged together with others."""

    evidence: Evidence
    """What as many of these runs say as there are."""
    promised: int
    """The number of runs that the claim's sweeps ask for; of a simulation the number of its sequences."""
    p_adjusted: float
    """The claim's p-value as adjusted by Holm's method."""

    @property
    def verdict(self) -> Verdict:
        """The verdict with Holm's correction."""
        if self.p_adjusted > ERROR_RATE:
            return Verdict.UNDECIDED
        return Verdict.HOLDS if self.evidence.p_hold < self.evidence.p_refute else Verdict.DOES_NOT_HOLD

    def compared(self, *, together: bool) -> tuple[Comparison, ...]:
        """Return the parts with their 95 % intervals, which hold for all of them together or for each by itself."""
        parts = self.evidence.parts
        return tuple(Comparison.of(part, ERROR_RATE / (len(parts) if together else 1)) for part in parts)


def at_promised_runs(basis: Basis, reader: Reader, at_once: Mapping[str, tuple[Part, ...]]) -> dict[str, AtPromised]:
    """Judge the claims of which runs are stored, on the promised number of runs or as many of them as there are.

    Args:
        basis: What the claims about sweeps are judged on.
        reader: Reads the losses.
        at_once: The parts of exact claims and of those about simulations, by the claim's id.

    Returns:
        Each claim by its id.
    """
    found: dict[str, tuple[Evidence, int]] = {}
    for claim in basis.claims:
        promised = basis.promised(claim)
        if runs := min(promised, basis.stored(claim)):
            found[claim.id] = Evidence(reader.parts(basis, claim, runs)), promised
    found |= {id: (Evidence(parts), Evidence(parts).runs) for id, parts in at_once.items()}
    return judged_together(found)


def judged_together(evidence: Mapping[str, tuple[Evidence, int]]) -> dict[str, AtPromised]:
    """Judge claims together, each given by its id with its evidence and the number of runs that was promised."""
    adjusted = holm([of_claim.p for of_claim, _ in evidence.values()])
    return {id: AtPromised(*of, p) for (id, of), p in zip(evidence.items(), adjusted, strict=True)}


def holm(p: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values: Holm's method rejects at a level where the adjusted p-value is at most that."""
    order = np.argsort(p, kind="stable")
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * np.asarray(p, float)[order]))
    return adjusted.tolist()


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
    reader, rng, shown = Reader(), np.random.default_rng(0), 0
    for _ in range(DRAWS):
        runs = rng.choice(pool, basis.promised(claim), replace=False)
        shown += Evidence(reader.parts_of_sample(basis, claim, pool, runs)).verdict is Verdict.HOLDS
    from scipy.stats import binomtest  # here, because it takes a second to load

    return Interval(shown / DRAWS, *binomtest(shown, DRAWS).proportion_ci(CONFIDENCE, method="wilson"))
