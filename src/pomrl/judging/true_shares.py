"""The share of environments in which a claim is true, estimated so that the noise of the estimates is removed.

What is said of one environment may be true of it and not of others. Each of many environments has its own estimate with
a standard error. A share of environments whose *estimate* agrees with the claim, or whose runs *show* it, mixes the
environments with the noise. Here the distribution of the
*true* numbers over environments is estimated instead, by nonparametric maximum likelihood (Kiefer and Wolfowitz 1956,
"Consistency of the maximum likelihood estimator in the presence of infinitely many incidental parameters", Ann. Math.
Statist. 27), on a grid, by the EM algorithm. The share is the probability that it gives to the range that is claimed.
The interval is a percentile bootstrap over environments, extended to that of Clopper and Pearson for a share of so many
environments without noise: where all environments agree, the bootstrap has no width.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pomrl.judging.basis import Basis, Reader
from pomrl.judging.verdict import Part
from pomrl.results.intervals import CONFIDENCE, Interval
from pomrl.results.statistics import bootstrap_weights, percentile

POINTS = 80
"""The number of points of the grid on which the distribution over environments lies."""

ITERATIONS = 100
"""The number of iterations of the EM algorithm, from the uniform distribution on."""

RESAMPLES = 200
"""The number of resamples of the environments that the interval comes from."""


def parts_in(basis: Basis) -> dict[str, tuple[Part, ...]]:
    """Return the parts of each claim in one environment, whose runs are all stored, by the claim's id."""
    reader = Reader()
    return {claim.id: reader.parts(basis, claim, basis.promised(claim)) for claim in basis.claims}


def true_share(evidence: Sequence[Sequence[Part]]) -> Interval:
    """Return the share of environments in which a claim is true, given its parts in each environment.

    Of a claim of several parts, it is the share for the part that is true in the fewest environments, and so at least
    that of the claim.
    """
    by_part = [_share_of_part(of_part) for of_part in zip(*evidence, strict=True)]
    return min(by_part, key=lambda share: share.estimate)


def _share_of_part(parts: Sequence[Part]) -> Interval:
    values = np.array([part.estimate.value for part in parts])
    errors = np.array([part.estimate.standard_error for part in parts])
    known = np.isfinite(values) & np.isfinite(errors)
    return share_within(values[known], errors[known], parts[0].above, parts[0].below)


def share_within(
    values: Float[np.ndarray, " n"], errors: Float[np.ndarray, " n"], above: float, below: float
) -> Interval:
    """Return the share of environments whose true number lies strictly between two thresholds.

    Environments in which the number is exactly a threshold are left out: there no loss depends on what is compared.

    Args:
        values: The estimate in each environment.
        errors: Its standard error; 0 where the number is known.
        above: The lower threshold, or minus infinity.
        below: The upper threshold, or infinity.
    """
    exactly = (errors == 0.0) & ((values == above) | (values == below))
    values, errors = values[~exactly], errors[~exactly]
    noisy = errors > 0.0
    inside = ((values > above) & (values < below)).astype(float)
    weights = np.concatenate(
        [np.full((1, len(values)), 1.0 / len(values)), bootstrap_weights(len(values), RESAMPLES, 0)]
    )
    shares = weights[:, ~noisy] @ inside[~noisy]
    if noisy.any():
        shares = shares + _mass_within(values[noisy], errors[noisy], weights[:, noisy], above, below)
    found = percentile(shares[0], shares[1:])
    if not len(values):
        return found
    agreeing = int(np.clip(round(len(values) * found.estimate), 0, len(values)))
    from scipy.stats import binomtest  # here, because it takes a second to load

    exact = binomtest(agreeing, len(values)).proportion_ci(CONFIDENCE)
    return Interval(found.estimate, min(found.lower, float(exact.low)), max(found.upper, float(exact.high)))


def _mass_within(
    values: Float[np.ndarray, " n"],
    errors: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, "B n"],
    above: float,
    below: float,
) -> Float[np.ndarray, " B"]:
    """Return the weight of the noisy environments that the estimated distribution puts between the thresholds."""
    around = (values + errors * np.linspace(-1.0, 1.0, 21)[:, None]).ravel()
    points = np.quantile(around, np.linspace(0.0, 1.0, POINTS))
    likelihood = np.exp(-0.5 * ((values[:, None] - points) / errors[:, None]) ** 2) + 1e-300
    total = weights.sum(1, keepdims=True)
    mass = np.full((len(weights), POINTS), 1.0 / POINTS)
    for _ in range(ITERATIONS):
        mass *= (weights / np.maximum(total, 1e-12) / (mass @ likelihood.T)) @ likelihood
    return total[:, 0] * mass[:, (points > above) & (points < below)].sum(1)
