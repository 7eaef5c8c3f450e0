"""The paper's bounds, as functions of the problem."""

import numpy as np
from jaxtyping import Float

Numbers = Float[np.ndarray, "..."] | float
"""A number or an array of them; functions of it are elementwise."""


def regret_constant(t: int, m: int, sigma: Numbers) -> Numbers:
    """C_t of Sec. 6.2, which scales the uncertainty term of the bound in task t.

    C_t = ((sigma + 1/sqrt(m)) / sqrt(t) + sigma^2 m / sqrt(m)) / (sigma^2 m + 1), with sigma a standard deviation.
    """
    sigma = np.asarray(sigma, float)
    x = sigma**2 * m
    return ((sigma + m**-0.5) / np.sqrt(t) + x * m**-0.5) / (x + 1.0)


def upper_bound_gamma(C: Numbers, variant: str = "corrected") -> Numbers:
    """gamma_tilde of Prop. 1: where U(gamma) = 1/(1 - gamma_eval) - 1/(1 - gamma) + C gamma/(1 - gamma)^2 is least.

    `corrected`: U' has the sign of C (1 + gamma) - (1 - gamma), so that the minimum is (1 - C)/(1 + C) for C < 1, and 0
    for C >= 1. `as_printed`: the proposition, which for C < 1/2 puts the minimum at 1.
    Raises ValueError for another variant.
    """
    if variant not in ("corrected", "as_printed"):
        raise ValueError(f"variant={variant!r}: it has to be 'corrected' or 'as_printed'")
    C = np.asarray(C, float)
    gamma = np.maximum((1.0 - C) / (1.0 + C), 0.0)
    return np.where(C < 0.5, 1.0, gamma) if variant == "as_printed" else gamma
