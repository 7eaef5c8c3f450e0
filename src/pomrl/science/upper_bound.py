"""The upper bound U(γ) on the planning loss that the schedule of Sec. 6.2 minimises, and its minimum (Prop. 1).

All functions are elementwise, and their arguments broadcast.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float, Num

Numbers = Num[np.ndarray, "..."] | float | int
"""A number or an array of numbers, as argument of an elementwise function."""

Values = Float[np.ndarray, "..."] | float
"""The value or the array of values of an elementwise function."""


Formula = Literal["text", "notebook"]
"""The formula of C_t: that of Sec. 6.2, or that of the authors' notebook, whose second term is constant."""

Minimum = Literal["corrected", "as_printed"]
"""The minimum of U(γ): the right one, or that of Proposition 1."""


def regret_constant(t: Numbers, m: Numbers, deviation: Numbers, formula: Formula = "text") -> Values:
    """Return C_t of Sec. 6.2, the factor of the uncertainty in the bound of task t.

        C_t = ((σ + 1/√m) / √t + σ² m / √m) / (σ² m + 1)    with the standard deviation σ

    In the authors' notebook, σ² m + 1 stands for σ² m in the second term, which is then 1/√m whatever σ is.

    Args:
        t: Number of the task, from 1.
        m: Number of transitions sampled for each pair (s, a) in each task.
        deviation: Standard deviation of the tasks.
        formula: That of the text or that of the notebook.
    """
    deviation, root = np.asarray(deviation, float), np.sqrt(np.asarray(m, float))
    x = deviation**2 * m
    of_models = x if formula == "text" else x + 1.0
    return ((deviation + 1.0 / root) / np.sqrt(t) + of_models / root) / (x + 1.0)


def upper_bound_gamma(C: Numbers, minimum: Minimum = "corrected") -> Values:
    """Return γ̃ of Prop. 1, the minimiser of U(γ) on [0, 1) (see `regret_upper_bound`).

    U' has the sign of C (1 + γ) - (1 - γ), so that the minimum is at (1 - C) / (1 + C) for C < 1, and at 0 otherwise.

    Args:
        C: Factor of the uncertainty, at least 0 (`regret_constant`).
        minimum: `corrected` for that minimum, or `as_printed` for the proposition, which puts it at 1 for C < 1/2.
    """
    C = np.asarray(C, float)
    gamma = np.maximum((1.0 - C) / (1.0 + C), 0.0)
    return np.where(C < 0.5, 1.0, gamma) if minimum == "as_printed" else gamma


def regret_upper_bound(gamma: Numbers, C: Numbers, gamma_eval: Numbers) -> Values:
    """Return the bound U(γ) of Sec. 6.2 on the planning loss, a sum of discounted rewards.

        U(γ) = 1/(1 - γ_eval) - 1/(1 - γ) + C γ/(1 - γ)²

    The first two terms bound the bias of planning with γ in place of γ_eval, the last one the effect of the uncertainty
    about the model. U is below 1/(1 - γ_eval), which no loss exceeds, exactly for γ < 1/(1 + C).

    Raises:
        ValueError: Unless 0 <= gamma <= gamma_eval < 1; for a larger gamma the bias has no such bound.
    """
    gamma, gamma_eval = np.asarray(gamma, float), np.asarray(gamma_eval, float)
    if not np.all((gamma >= 0) & (gamma <= gamma_eval) & (gamma_eval < 1)):
        raise ValueError(f"gamma={gamma}, gamma_eval={gamma_eval}: they have to be 0 <= gamma <= gamma_eval < 1")
    return 1.0 / (1.0 - gamma_eval) - 1.0 / (1.0 - gamma) + C * gamma / (1.0 - gamma) ** 2
